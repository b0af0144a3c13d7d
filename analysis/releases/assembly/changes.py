"""What changed since the previous release, from what each release kept of itself."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict
from datetime import date
from typing import Any

import numpy as np

from accounts.models import Annotator
from analysis.models import Release
from analysis.releases.contents import CampaignFacts, Changes, PastRelease, ReleaseParameters
from analysis.releases.key_sets import Bits, unpacked, without
from annotation.answers.inclusion import reason_of
from annotation.models import Campaign
from generation.models import Image

DELETED = "deleted"
OTHER = "other"
_AT_ONCE = 500

FIRST = Changes(None, 0, {}, 0, {}, 0, {}, {}, {}, (), {})


def since(
    previous: Release,
    *,
    using: str,
    annotations: Bits,
    annotators: Bits,
    images: Bits,
    parameters: ReleaseParameters,
    campaigns: Sequence[CampaignFacts],
    rows: Mapping[str, int],
) -> Changes:
    """Compare what is released now with what `previous` held."""
    before = [unpacked(bytes(kept)) for kept in (previous.annotations, previous.annotators, previous.images)]
    removed, why_gone = _removed(previous, without(before[0], annotations.flags), using)
    gone = without(before[1], annotators.flags)
    there = _existing(Annotator, gone, using)
    annotators_gone = Counter(why_gone.get(key, OTHER) if key in there else DELETED for key in gone.tolist())
    facts = previous.facts
    known = facts["guidelines"]
    then = previous.parameters
    now = parameters.as_json()
    lost_images = without(before[2], images.flags)
    left = len(_existing(Image, lost_images, using))
    images_removed = {"retracted": left, DELETED: len(lost_images) - left}
    return Changes(
        previous=previous.version,
        annotators_new=len(without(annotators.flags, before[1])),
        annotators_gone=dict(sorted(annotators_gone.items())),
        annotations_added=len(without(annotations.flags, before[0])),
        annotations_removed=dict(sorted(removed.items())),
        images_added=len(without(images.flags, before[2])),
        images_removed={why: number for why, number in images_removed.items() if number},
        parameters={name: (then.get(name), now[name]) for name in now if then.get(name) != now[name]},
        guidelines_new={
            one.slug: new
            for one in campaigns
            if (new := tuple(g.version for g in one.guidelines if g.version not in known.get(one.slug, [])))
        },
        campaigns_new=tuple(one.slug for one in campaigns if one.slug not in known),
        rows={name: (facts["rows"].get(name, 0), number) for name, number in rows.items()},
    )


def _removed(previous: Release, keys: np.ndarray, using: str) -> tuple[Counter[str], dict[int, str]]:
    """Why annotations do not count any more, and the commonest reason of each annotator."""
    reasons, by_annotator = Counter[str](), dict[int, Counter[str]]()
    found = 0
    for campaign in Campaign.objects.using(using).filter(study=previous.study_id).order_by("pk"):
        for some in _pieces(keys):
            rows = reason_of(campaign).using(using).filter(pk__in=some).values_list("annotator", "reason")
            for annotator, reason in rows:
                reasons[reason or OTHER] += 1
                by_annotator.setdefault(annotator, Counter())[reason or OTHER] += 1
                found += 1
    if found < len(keys):
        reasons[DELETED] += len(keys) - found
    return reasons, {key: _commonest(why) for key, why in by_annotator.items()}


def _commonest(why: Counter[str]) -> str:
    return min(why, key=lambda reason: (-why[reason], reason))


def _existing(model: type[Annotator] | type[Image], keys: np.ndarray, using: str) -> set[int]:
    found: set[int] = set()
    for some in _pieces(keys):
        found.update(model.objects.using(using).filter(pk__in=some).values_list("pk", flat=True))
    return found


def _pieces(keys: np.ndarray) -> Iterator[list[int]]:
    for start in range(0, len(keys), _AT_ONCE):
        yield keys[start : start + _AT_ONCE].tolist()


def history(earlier: Sequence[Release]) -> tuple[PastRelease, ...]:
    """Return earlier releases as the changelog tells of them, newest first."""
    return tuple(
        PastRelease(
            version=one.version,
            last_day=date.fromisoformat(one.facts["last_day"]) if one.facts["last_day"] else None,
            inputs_digest=one.inputs_digest,
            rows=one.facts["rows"],
            changes=_restored(one.facts["changes"]),
        )
        for one in sorted(earlier, key=lambda one: -one.version)
    )


def as_json(changes: Changes) -> dict[str, Any]:
    """Return changes as they are stored with a release, names in an order that no database has a say in."""
    return {
        name: dict(sorted(value.items())) if isinstance(value, dict) else value
        for name, value in asdict(changes).items()
    }


def _restored(stored: Mapping[str, Any]) -> Changes:
    """Return changes as they were before they were stored: lists were tuples."""
    return Changes(
        **{
            **stored,
            "campaigns_new": tuple(stored["campaigns_new"]),
            "guidelines_new": {slug: tuple(new) for slug, new in stored["guidelines_new"].items()},
            "parameters": {name: (then, now) for name, (then, now) in stored["parameters"].items()},
            "rows": {name: (then, now) for name, (then, now) in stored["rows"].items()},
        }
    )


def kept_guidelines(campaigns: Sequence[CampaignFacts]) -> dict[str, list[int]]:
    """Return the versions of guidelines a release knew, by campaign."""
    return {one.slug: [version.version for version in one.guidelines] for one in campaigns}
