"""Versions of texts for annotators: a draft's texts change in place, an opened campaign gets a new version.

Each annotation refers to the version its annotator saw.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.db import transaction
from django.db.models import Count

from accounts.models import User
from annotation.campaigns.design import checked_guidelines
from annotation.campaigns.instruments.diff import Change, changes
from annotation.kinds.registry import RATING_LABELS, kind_of
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
    """Change what annotators read; texts that are not given stay. Returns the new current version.

    A draft changes in place. An opened campaign gets a new version, which annotators see with their next task.
    """
    campaign = Campaign.locked(campaign.pk)
    if campaign.imported:
        raise DomainError(
            "campaign_imported",
            f"“{campaign.name}” was imported from a file, so it has no guidelines to change.",
        )
    if not kind_of(campaign).about_attributes and (statement, labels) != (None, None):
        raise _fixed_questions()
    before = current(campaign)
    after = Instrument(
        campaign=campaign,
        version=before.version,
        guidelines=before.guidelines if guidelines is None else checked_guidelines(guidelines),
        statement=before.statement if statement is None else _checked_statement(statement, before),
        labels=before.labels if labels is None else _checked_labels(campaign, labels),
        translations=before.translations,
    )
    fields = [
        name
        for name in ("guidelines", "statement", "labels")
        if getattr(after, name) != getattr(before, name)
    ]
    if not fields:
        return before
    _store(campaign, before, after, fields)
    audit.record(
        by=by, action=REVISED, subject=campaign, study=campaign.study, version=after.version, fields=fields
    )
    return after


def translate(*, campaign: Campaign, translations: Mapping[str, Any]) -> Instrument:
    """Store checked translations of texts for annotators, in the caller's transaction."""
    before = current(campaign)
    after = Instrument(
        campaign=campaign,
        version=before.version,
        guidelines=before.guidelines,
        statement=before.statement,
        labels=before.labels,
        translations=translations,
    )
    _store(campaign, before, after, ["translations"])
    return after


def _fixed_questions() -> DomainError:
    message = "Questions and answers come from the kind of the campaign. You can change only the guidelines."
    return DomainError("questions_fixed", message, fields={"statement": message})


def _store(campaign: Campaign, before: Instrument, after: Instrument, fields: list[str]) -> None:
    """Write the changed fields of a draft in place; of an opened campaign, write a new version."""
    if campaign.state == Campaign.State.DRAFT:
        after.pk, after.created_at = before.pk, before.created_at
        after.save(update_fields=fields)
    else:
        after.version += 1
        after.save(force_insert=True)
        after.refresh_from_db()


def current(campaign: Campaign) -> Instrument:
    """Return the current version."""
    instrument = campaign.instruments.order_by("-version").first()
    if instrument is None:
        return Instrument(campaign=campaign, **kind_of(campaign).first_instrument())
    return instrument


@dataclass(frozen=True)
class InstrumentVersion:
    """One version with its author and time, its number of answers, and the changes since the previous version."""

    instrument: Instrument
    by: str
    at: datetime
    annotations: int
    changes: tuple[Change, ...]


def versions(campaign: Campaign) -> list[InstrumentVersion]:
    """Return every version, newest first."""
    authors = {
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
    instruments = list(campaign.instruments.order_by("version"))
    return [
        InstrumentVersion(
            instrument=instrument,
            by=authors.get(instrument.version)
            or (str(campaign.created_by or "") if instrument.version == 1 else ""),
            at=instrument.created_at,
            annotations=counts.get(instrument.pk, 0),
            changes=what_changed(before, instrument) if before else (),
        )
        for before, instrument in zip([None, *instruments], instruments, strict=False)
    ][::-1]


def what_changed(before: Instrument, after: Instrument) -> tuple[Change, ...]:
    """Return the changes from `before` to `after`."""
    return changes(_as_text(before), _as_text(after))


def changed_since(campaign: Campaign, annotator_id: int, version: int) -> tuple[Change, ...]:
    """Return the changes from the version the annotator last answered under to `version`.

    So a change is shown with the first task after it, until that is answered.
    """
    last_annotation = (
        Annotation.objects.filter(campaign=campaign, annotator=annotator_id, instrument__isnull=False)
        .select_related("instrument")
        .order_by("-pk")
        .first()
    )
    if (
        last_annotation is None
        or last_annotation.instrument is None
        or last_annotation.instrument.version >= version
    ):
        return ()
    return what_changed(last_annotation.instrument, campaign.instruments.get(version=version))


def _as_text(instrument: Instrument) -> list[str]:
    """Return the paragraphs of an instrument: statement, answers, guidelines."""
    answers = [f"{key}: {instrument.labels[key]}" for key in sorted(instrument.labels, reverse=True)]
    paragraphs = (part.strip() for part in re.split(r"\n\s*\n", instrument.guidelines))
    return [paragraph for paragraph in (instrument.statement, *answers, *paragraphs) if paragraph]


def _checked_statement(text: str, before: Instrument) -> str:
    text = " ".join(text.split())
    if not text or len(text) > _STATEMENT:
        message = f"Write a statement of 1 to {_STATEMENT} characters."
        raise DomainError("statement_invalid", message, fields={"statement": message})
    placeholders, new_placeholders = (
        sorted(_PLACEHOLDER.findall(statement)) for statement in (before.statement, text)
    )
    if placeholders != new_placeholders:
        message = (
            f"The statement has to keep {', '.join(placeholders)}."
            if placeholders
            else "The statement must not contain a placeholder such as {…}."
        )
        raise DomainError("statement_invalid", message, fields={"statement": message})
    return text


def _checked_labels(campaign: Campaign, labels: Mapping[str, str]) -> dict[str, str]:
    rating_keys = sorted(RATING_LABELS) if kind_of(campaign).rates_attributes else []
    texts = {str(key): " ".join(str(text).split()) for key, text in labels.items()}
    if not rating_keys and texts:
        raise _wrong_labels("A marking campaign has no answers to label; annotators tick attributes.")
    if sorted(texts) != rating_keys:
        raise _wrong_labels("Give a label for each of the answers 1 to 5. Answer 3 means “unsure”.")
    if not all(0 < len(text) <= _LABEL for text in texts.values()):
        raise _wrong_labels(f"Write labels of 1 to {_LABEL} characters.")
    if len({text.casefold() for text in texts.values()}) < len(texts):
        raise _wrong_labels("Two answers cannot have the same label.")
    return {key: texts[key] for key in RATING_LABELS} if rating_keys else {}


def _wrong_labels(message: str) -> DomainError:
    return DomainError("labels_invalid", message, fields={"labels": message})
