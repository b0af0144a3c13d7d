"""How long annotators may correct their answers, and which answers they can still correct."""

import uuid
from dataclasses import dataclass
from datetime import datetime, timedelta

from django.db.models import QuerySet
from django.utils import timezone

from annotation.answers.languages import in_reader_language
from annotation.answers.questions.sentences import AnsweredQuestion, answered_questions
from annotation.kinds.declaration import Kind
from annotation.kinds.options import Options
from annotation.kinds.registry import RATING_LABELS, kind_of, labels_in_language
from annotation.models import Annotation, Assignment, Campaign, Enrolment

_AT_MOST = 200

ANSWERED = (Assignment.State.SUBMITTED, Assignment.State.SURPLUS)


@dataclass(frozen=True)
class RecentAnswer:
    """An answer that can still be corrected, in the words its annotator saw."""

    public_id: uuid.UUID
    given_at: datetime
    until: datetime
    attribute_texts: tuple[str, ...]
    ticked: tuple[str, ...]
    rating: str
    # For questions: each with its answer, in the page's language.
    answered: tuple[AnsweredQuestion, ...] = ()


def edit_minutes(campaign: Campaign) -> int:
    """Return for how many minutes after its submission an answer can be corrected."""
    return int(campaign.options.get("edit_minutes", Options.default("edit_minutes")))


def recent_answers(enrolment: Enrolment, *, now: datetime | None = None) -> list[RecentAnswer]:
    """Return the annotator's answers of this campaign that can still be corrected, the latest first."""
    window = timedelta(minutes=edit_minutes(enrolment.campaign))
    annotations = (
        Annotation.objects.filter(is_latest=True, assignment__in=_recent(enrolment, window, now))
        .select_related("assignment", "instrument")
        .order_by("-assignment__ended_at", "-pk")
    )
    kind = kind_of(enrolment.campaign)
    if not kind.about_attributes:
        latest = annotations.prefetch_related("judgements", "task__stimuli")[:_AT_MOST]
        return [_with_questions(annotation, kind, window) for annotation in latest]
    latest = annotations.prefetch_related("judgements__attribute", "task__task_attributes")[:_AT_MOST]
    return [_described(annotation, kind, window) for annotation in latest]


def has_recent(enrolment: Enrolment) -> bool:
    """Return whether any answer of the annotator in this campaign can still be corrected."""
    return _recent(enrolment, timedelta(minutes=edit_minutes(enrolment.campaign)), None).exists()


def _recent(enrolment: Enrolment, window: timedelta, now: datetime | None) -> QuerySet[Assignment]:
    return Assignment.objects.filter(
        annotator=enrolment.annotator_id,
        task__campaign=enrolment.campaign_id,
        state__in=ANSWERED,
        ended_at__gt=(now or timezone.now()) - window,
    )


def _with_questions(annotation: Annotation, kind: Kind, window: timedelta) -> RecentAnswer:
    public_id, given_at = _ended(annotation)
    return RecentAnswer(
        public_id=public_id,
        given_at=given_at,
        until=given_at + window,
        attribute_texts=(),
        ticked=(),
        rating="",
        answered=answered_questions(annotation, kind),
    )


def _ended(annotation: Annotation) -> tuple[uuid.UUID, datetime]:
    assignment = annotation.assignment
    assert assignment is not None  # the query asks for its state
    assert assignment.ended_at is not None
    return assignment.public_id, assignment.ended_at


def _described(annotation: Annotation, kind: Kind, window: timedelta) -> RecentAnswer:
    public_id, given_at = _ended(annotation)
    places = {
        task_attribute.attribute_id: task_attribute.position
        for task_attribute in annotation.task.task_attributes.all()
    }
    judgements = sorted(
        annotation.judgements.all(), key=lambda judgement: places.get(judgement.attribute_id or 0, 0)
    )
    written = (annotation.instrument.labels if annotation.instrument else {}) or RATING_LABELS
    instrument = annotation.instrument
    labels = labels_in_language(kind, written, instrument.translations if instrument else None)
    texts = {
        judgement.pk: in_reader_language(
            instrument, f"attribute.{judgement.attribute_id}", judgement.attribute.text
        )
        for judgement in judgements
        if judgement.attribute
    }
    return RecentAnswer(
        public_id=public_id,
        given_at=given_at,
        until=given_at + window,
        attribute_texts=tuple(texts.values()),
        ticked=tuple(texts[judgement.pk] for judgement in judgements if judgement.present),
        rating=next(
            (labels.get(str(judgement.rating), "") for judgement in judgements if judgement.rating), ""
        ),
    )
