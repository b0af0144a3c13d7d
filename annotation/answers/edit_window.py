"""For how long an annotator may correct what they submitted, and which answers these are."""

import uuid
from dataclasses import dataclass
from datetime import datetime, timedelta

from django.db.models import QuerySet
from django.utils import timezone
from django.utils.translation import gettext as _

from annotation.kinds.defaults import RATING_LABELS
from annotation.kinds.options import Options
from annotation.models import Annotation, Assignment, Campaign, Enrolment
from foundation.errors import Forbidden

_AT_MOST = 200

ANSWERED = (Assignment.State.SUBMITTED, Assignment.State.SURPLUS)


@dataclass(frozen=True)
class RecentAnswer:
    """An answer that can still be corrected, in the words its annotator saw."""

    public_id: uuid.UUID
    given_at: datetime
    until: datetime
    asked: tuple[str, ...]
    ticked: tuple[str, ...]
    rating: str


def edit_minutes(campaign: Campaign) -> int:
    """Return for how many minutes after its submission an answer can be corrected."""
    return int(campaign.options.get("edit_minutes", Options.edit_minutes))


def recent_answers(enrolment: Enrolment, *, now: datetime | None = None) -> list[RecentAnswer]:
    """Return the annotator's answers of this campaign that can still be corrected, the latest first."""
    window = timedelta(minutes=edit_minutes(enrolment.campaign))
    annotations = (
        Annotation.objects.filter(is_latest=True, assignment__in=_recent(enrolment, window, now))
        .select_related("assignment", "instrument")
        .prefetch_related("judgements__attribute", "task__task_attributes")
        .order_by("-assignment__ended_at", "-pk")
    )
    return [_described(one, window) for one in annotations[:_AT_MOST]]


def has_recent(enrolment: Enrolment) -> bool:
    """Return whether any answer of the annotator in this campaign can still be corrected."""
    return _recent(enrolment, timedelta(minutes=edit_minutes(enrolment.campaign)), None).exists()


def refuse_late(
    assignment: Assignment, submission_id: uuid.UUID | None = None, *, now: datetime | None = None
) -> None:
    """Raise Forbidden `edit_window_over` for a correction that comes too late.

    A retry of what was saved in time is none: it is recognised by its `submission_id`.
    """
    if assignment.state not in ANSWERED or assignment.ended_at is None:
        return
    minutes = edit_minutes(assignment.task.campaign)
    if (now or timezone.now()) < assignment.ended_at + timedelta(minutes=minutes):
        return
    if submission_id is not None and assignment.annotations.filter(submission_id=submission_id).exists():
        return
    raise Forbidden("edit_window_over", _("This answer can no longer be changed: its time for that is over."))


def _recent(enrolment: Enrolment, window: timedelta, now: datetime | None) -> QuerySet[Assignment]:
    return Assignment.objects.filter(
        annotator=enrolment.annotator_id,
        task__campaign=enrolment.campaign_id,
        state__in=ANSWERED,
        ended_at__gt=(now or timezone.now()) - window,
    )


def _described(annotation: Annotation, window: timedelta) -> RecentAnswer:
    assignment = annotation.assignment
    assert assignment is not None  # the query asks for its state
    assert assignment.ended_at is not None
    places = {shown.attribute_id: shown.position for shown in annotation.task.task_attributes.all()}
    judgements = sorted(annotation.judgements.all(), key=lambda one: places.get(one.attribute_id, 0))
    labels = (annotation.instrument.labels if annotation.instrument else {}) or RATING_LABELS
    return RecentAnswer(
        public_id=assignment.public_id,
        given_at=assignment.ended_at,
        until=assignment.ended_at + window,
        asked=tuple(one.attribute.text for one in judgements),
        ticked=tuple(one.attribute.text for one in judgements if one.present),
        rating=next((labels.get(str(one.rating), "") for one in judgements if one.rating), ""),
    )
