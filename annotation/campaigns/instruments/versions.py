"""What annotators read, version by version: a draft's words change in place, an open campaign's get a new version.

Each annotation keeps the version its annotator saw.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime

from django.db import transaction
from django.db.models import Count

from accounts.models import User
from annotation.campaigns.instruments.diff import Change, changes
from annotation.campaigns.lifecycle import checked_guidelines
from annotation.kinds.defaults import DEFAULTS, RATING_LABELS
from annotation.models import Annotation, Campaign, Instrument
from foundation.errors import DomainError
from studies import audit
from studies.models import AuditEntry

REVISED = "instrument.revised"
_STATEMENT = 300
_LABEL = 60
_PLACEHOLDER = re.compile(r"\{\w*\}")


@transaction.atomic
def revise(
    *,
    campaign: Campaign,
    by: User | None,
    guidelines: str | None = None,
    statement: str | None = None,
    labels: Mapping[str, str] | None = None,
) -> Instrument:
    """Change what annotators read; what is not given stays. Returns the version that holds from now on.

    A draft's words change in place. Once a campaign was opened a new version is made: who works on a task sees
    it with the next one, and what was answered keeps the version it was answered under.
    """
    rows = Campaign.objects.select_for_update(of=("self",), no_key=True).select_related("study")
    campaign = rows.get(pk=campaign.pk)
    if campaign.imported:
        raise DomainError(
            "campaign_imported", f"“{campaign.name}” was imported: nobody reads guidelines there."
        )
    before = current(campaign)
    after = Instrument(
        campaign=campaign,
        version=before.version,
        guidelines=before.guidelines if guidelines is None else checked_guidelines(guidelines),
        statement=before.statement if statement is None else _checked_statement(statement, before),
        labels=before.labels if labels is None else _checked_labels(campaign, labels),
    )
    fields = [
        name
        for name in ("guidelines", "statement", "labels")
        if getattr(after, name) != getattr(before, name)
    ]
    if not fields:
        return before
    if campaign.state == Campaign.State.DRAFT:
        after.pk, after.created_at = before.pk, before.created_at
        after.save(update_fields=fields)
    else:
        after.version += 1
        after.save(force_insert=True)
        after.refresh_from_db()
    audit.record(
        by=by, action=REVISED, subject=campaign, study=campaign.study, version=after.version, fields=fields
    )
    return after


def current(campaign: Campaign) -> Instrument:
    """Return the version that holds now."""
    found = campaign.instruments.order_by("-version").first()
    if found is None:
        words = DEFAULTS[campaign.kind]
        return Instrument(
            campaign=campaign, guidelines=words.guidelines, statement=words.statement, labels=words.labels
        )
    return found


@dataclass(frozen=True)
class Version:
    """One version for the lead: who made it when, how many answers rest on it, what changed from the one before."""

    instrument: Instrument
    by: str
    at: datetime
    annotations: int
    changes: tuple[Change, ...]


def versions(campaign: Campaign) -> list[Version]:
    """Return every version, newest first."""
    made = {
        entry.details.get("version"): str(entry.actor or "")
        for entry in AuditEntry.objects.filter(action=REVISED, subject=f"campaign:{campaign.pk}")
        .select_related("actor")
        .order_by("pk")
    }
    counts = dict(
        Annotation.objects.filter(campaign=campaign)
        .order_by()
        .values_list("instrument")
        .annotate(number=Count("pk"))
    )
    listed = list(campaign.instruments.order_by("version"))
    return [
        Version(
            instrument=one,
            by=made.get(one.version) or (str(campaign.created_by or "") if one.version == 1 else ""),
            at=one.created_at,
            annotations=counts.get(one.pk, 0),
            changes=what_changed(before, one) if before else (),
        )
        for before, one in zip([None, *listed], listed, strict=False)
    ][::-1]


def what_changed(before: Instrument, after: Instrument) -> tuple[Change, ...]:
    """Return what reads differently in `after`, piece by piece."""
    return changes(_as_text(before), _as_text(after))


def changed_since(campaign: Campaign, annotator_id: int, version: int) -> tuple[Change, ...]:
    """Return what changed between what the annotator last answered under and `version`; nothing if that is the same.

    So a change is told with the first task that shows it, until that is answered.
    """
    last = (
        Annotation.objects.filter(campaign=campaign, annotator=annotator_id, instrument__isnull=False)
        .select_related("instrument")
        .order_by("-pk")
        .first()
    )
    if last is None or last.instrument is None or last.instrument.version >= version:
        return ()
    return what_changed(last.instrument, campaign.instruments.get(version=version))


def _as_text(instrument: Instrument) -> list[str]:
    """Return the paragraphs of an instrument: what is asked, its answers, the guidelines."""
    answers = [f"{key}: {instrument.labels[key]}" for key in sorted(instrument.labels, reverse=True)]
    paragraphs = (part.strip() for part in re.split(r"\n\s*\n", instrument.guidelines))
    return [one for one in (instrument.statement, *answers, *paragraphs) if one]


def _checked_statement(text: str, before: Instrument) -> str:
    text = " ".join(text.split())
    if not text or len(text) > _STATEMENT:
        message = f"Write a statement of 1 to {_STATEMENT} characters."
        raise DomainError("statement_invalid", message, fields={"statement": message})
    kept, given = (sorted(_PLACEHOLDER.findall(one)) for one in (before.statement, text))
    if kept != given:
        message = (
            f"The statement has to keep {', '.join(kept)}."
            if kept
            else "The statement has no place for {…}: leave it out."
        )
        raise DomainError("statement_invalid", message, fields={"statement": message})
    return text


def _checked_labels(campaign: Campaign, labels: Mapping[str, str]) -> dict[str, str]:
    wanted = sorted(RATING_LABELS) if campaign.kind == Campaign.Kind.ATTRIBUTE_LIKERT else []
    texts = {str(key): " ".join(str(text).split()) for key, text in labels.items()}
    if not wanted and texts:
        raise _wrong_labels("A marking has no labelled answers: its words are the attributes.")
    if sorted(texts) != wanted:
        raise _wrong_labels("Give a label for each of the answers 1 to 5; 3 is for who is unsure.")
    if not all(0 < len(text) <= _LABEL for text in texts.values()):
        raise _wrong_labels(f"Write labels of 1 to {_LABEL} characters.")
    if len({text.casefold() for text in texts.values()}) < len(texts):
        raise _wrong_labels("Two answers cannot have the same label.")
    return {key: texts[key] for key in RATING_LABELS} if wanted else {}


def _wrong_labels(message: str) -> DomainError:
    return DomainError("labels_invalid", message, fields={"labels": message})
