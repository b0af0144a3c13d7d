"""Changes since the previous release, from the data stored with each release."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict
from datetime import date
from typing import Any

import numpy as np
from numpy.typing import NDArray

from accounts.models import Annotator
from analysis.models import Release
from analysis.releases.contents import CampaignFacts, Changes, PastRelease
from analysis.releases.key_sets import KeySet, set_difference, unpack
from analysis.releases.parameters import ReleaseParameters
from annotation.answers.inclusion import reason_of
from annotation.models import Campaign
from generation.models import Image
from studies.audit import ANNOTATOR_ERASED
from studies.models import AuditEntry

DELETED = "deleted"
OTHER = "other"
_AT_ONCE = 500

FIRST = Changes(None, 0, {}, 0, {}, 0, {}, {}, {}, (), {})


def erased_since(previous: Release | None, *, study: int, using: str) -> int:
    """Return how many people were erased from a study since its previous release was built, or ever."""
    entries = AuditEntry.objects.using(using).filter(study=study, action=ANNOTATOR_ERASED)
    return entries.filter(at__gt=previous.built_at).count() if previous else entries.count()


def since(
    previous: Release,
    *,
    using: str,
    annotations: KeySet,
    annotators: KeySet,
    images: KeySet,
    parameters: ReleaseParameters,
    campaigns: Sequence[CampaignFacts],
    rows: Mapping[str, int],
) -> Changes:
    """Compare the present contents with the contents of `previous`."""
    before = [
        unpack(bytes(stored)) for stored in (previous.annotations, previous.annotators, previous.images)
    ]
    removed, why_gone = _removed(previous, set_difference(before[0], annotations.flags), using)
    facts = previous.facts
    guideline_versions = facts["guidelines"]
    then = previous.parameters
    now = parameters.as_json()
    return Changes(
        previous=previous.version,
        annotators_new=len(set_difference(annotators.flags, before[1])),
        annotators_gone=_gone(set_difference(before[1], annotators.flags), why_gone, using),
        annotations_added=len(set_difference(annotations.flags, before[0])),
        annotations_removed=dict(sorted(removed.items())),
        images_added=len(set_difference(images.flags, before[2])),
        images_removed=_removed_images(set_difference(before[2], images.flags), using),
        parameters={name: (then.get(name), now[name]) for name in now if then.get(name) != now[name]},
        guidelines_new=_new_guidelines(campaigns, guideline_versions),
        campaigns_new=tuple(
            campaign.slug for campaign in campaigns if campaign.slug not in guideline_versions
        ),
        rows={name: (facts["rows"].get(name, 0), number) for name, number in rows.items()},
        annotators_erased=erased_since(previous, study=previous.study_id, using=using),
    )


def _gone(keys: NDArray[np.int64], why_gone: Mapping[int, str], using: str) -> dict[str, int]:
    """Count annotators who are no longer in the data, by reason."""
    existing_keys = _existing(Annotator, keys, using)
    reasons = Counter(why_gone.get(key, OTHER) if key in existing_keys else DELETED for key in keys.tolist())
    return dict(sorted(reasons.items()))


def _removed_images(keys: NDArray[np.int64], using: str) -> dict[str, int]:
    """Count images that are no longer in the data, by reason."""
    retracted_count = len(_existing(Image, keys, using))
    reasons = {"retracted": retracted_count, DELETED: len(keys) - retracted_count}
    return {why: number for why, number in reasons.items() if number}


def _new_guidelines(
    campaigns: Sequence[CampaignFacts], earlier: Mapping[str, Sequence[int]]
) -> dict[str, tuple[int, ...]]:
    """Return the versions of guidelines that are new, by campaign."""
    versions = {
        campaign.slug: tuple(
            guideline.version
            for guideline in campaign.guidelines
            if guideline.version not in earlier.get(campaign.slug, [])
        )
        for campaign in campaigns
    }
    return {slug: new for slug, new in versions.items() if new}


def _removed(previous: Release, keys: NDArray[np.int64], using: str) -> tuple[Counter[str], dict[int, str]]:
    """Why annotations no longer count, and the most frequent reason of each annotator."""
    reasons, by_annotator = Counter[str](), dict[int, Counter[str]]()
    row_count = 0
    for campaign in Campaign.objects.using(using).filter(study=previous.study_id).order_by("pk"):
        for batch in _pieces(keys):
            rows = reason_of(campaign).using(using).filter(pk__in=batch).values_list("annotator", "reason")
            for annotator, reason in rows:
                reasons[reason or OTHER] += 1
                by_annotator.setdefault(annotator, Counter())[reason or OTHER] += 1
                row_count += 1
    if row_count < len(keys):
        reasons[DELETED] += len(keys) - row_count
    return reasons, {key: _commonest(why) for key, why in by_annotator.items()}


def _commonest(why: Counter[str]) -> str:
    return min(why, key=lambda reason: (-why[reason], reason))


def _existing(model: type[Annotator] | type[Image], keys: NDArray[np.int64], using: str) -> set[int]:
    existing_keys: set[int] = set()
    for batch in _pieces(keys):
        existing_keys.update(model.objects.using(using).filter(pk__in=batch).values_list("pk", flat=True))
    return existing_keys


def _pieces(keys: NDArray[np.int64]) -> Iterator[list[int]]:
    for start in range(0, len(keys), _AT_ONCE):
        yield keys[start : start + _AT_ONCE].tolist()


def history(earlier: Sequence[Release]) -> tuple[PastRelease, ...]:
    """Return earlier releases as the changelog tells of them, newest first."""
    return tuple(
        PastRelease(
            version=release.version,
            last_day=date.fromisoformat(release.facts["last_day"]) if release.facts["last_day"] else None,
            inputs_digest=release.inputs_digest,
            rows=release.facts["rows"],
            changes=_restored(release.facts["changes"]),
        )
        for release in sorted(earlier, key=lambda release: -release.version)
    )


def as_json(changes: Changes) -> dict[str, Any]:
    """Return changes in the form stored with a release, with names in an order that does not depend on the database."""
    stored = {
        name: dict(sorted(value.items())) if isinstance(value, dict) else value
        for name, value in asdict(changes).items()
    }
    if not changes.annotators_erased:
        del stored["annotators_erased"]  # as in releases from before anybody could be erased
    return stored


def _restored(stored: Mapping[str, Any]) -> Changes:
    """Return stored changes in their original form: lists become tuples."""
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
    return {campaign.slug: [version.version for version in campaign.guidelines] for campaign in campaigns}
