"""An annotator's progress, in words and numbers that they may see."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal
from typing import Any

from django.db.models import Count, OuterRef, Q, QuerySet, Subquery, Sum

from accounts.models import Annotator
from annotation.annotator.access import pay_statement
from annotation.assignment import gold_and_repeats
from annotation.assignment.day_caps import tomorrow
from annotation.assignment.leases import more_tomorrow, open_tasks
from annotation.kinds.registry import work_in
from annotation.models import Annotation, Assignment, Campaign, Enrolment
from annotation.people.pay import money_text

ANSWERED = Q(state__in=[Assignment.State.SUBMITTED, Assignment.State.SURPLUS])


@dataclass(frozen=True)
class Standing:
    """One campaign of an annotator.

    `state` is the reason why they cannot work, else `ready` or `finished`; `back_at` is when `enough_for_today` ends.
    `elsewhere`: an outside tool gives out the tasks.
    """

    enrolment: Enrolment
    work: str
    number: int
    state: str
    done: int
    left: int
    active_minutes: int
    pay: str
    back_at: datetime | None = None

    @property
    def total(self) -> int:
        return self.done + self.left


@dataclass(frozen=True)
class PlaceProgress:
    """A panel member's progress in their place, and its pay."""

    done: int
    total: int
    reward: str

    @classmethod
    def of(cls, place: Mapping[str, Any], progress: Mapping[str, Any]) -> "PlaceProgress":
        done = max(0, progress["done"] - place["before"])
        return cls(done, done + progress["left"], money_text(Decimal(place["reward"]), place["currency"]))


def standing(enrolment: Enrolment) -> Standing:
    """Return the annotator's progress in one campaign."""
    number = Enrolment.objects.filter(annotator=enrolment.annotator_id, pk__lte=enrolment.pk).count()
    answered_count = Assignment.objects.filter(
        ANSWERED, annotator=enrolment.annotator_id, task__campaign=enrolment.campaign_id
    ).count()
    return _standing(enrolment, number, answered_count, _active_seconds(enrolment))


def standings(annotator: Annotator) -> list[Standing]:
    """Return every campaign the annotator takes part in, newest first."""
    finished = (
        Assignment.objects.filter(ANSWERED, annotator=annotator, task__campaign=OuterRef("campaign"))
        .order_by()
        .values("task__campaign")
        .annotate(number=Count("pk"))
        .values("number")
    )
    enrolments: QuerySet[Enrolment] = (
        Enrolment.objects.filter(annotator=annotator)
        .select_related("annotator", "campaign")
        .annotate(finished=Subquery(finished))
        .order_by("pk")
    )
    oldest_first = [
        _standing(enrolment, number, getattr(enrolment, "finished") or 0, None)  # noqa: B009
        for number, enrolment in enumerate(enrolments, start=1)
    ]
    return oldest_first[::-1]


def _standing(enrolment: Enrolment, number: int, answered_count: int, seconds: float | None) -> Standing:
    campaign = enrolment.campaign
    remaining = 0
    state = f"annotator_{enrolment.state}"
    back_at = None
    if enrolment.state == Enrolment.State.ACTIVE:
        state = campaign.state
        if campaign.state == Campaign.State.OPEN and campaign.labelled_in:
            state = "elsewhere"
        elif campaign.state == Campaign.State.OPEN:
            leased = _leased(enrolment)
            remaining = _remaining(enrolment, may_start=_may_start(enrolment, answered_count + leased))
            state = "ready" if remaining or leased else "finished"
            if remaining and not leased and more_tomorrow(campaign, enrolment.annotator_id):
                state, back_at = "enough_for_today", tomorrow()
            remaining += leased
    return Standing(
        enrolment=enrolment,
        work=work_in(campaign),
        number=number,
        state=state,
        done=answered_count,
        left=remaining,
        active_minutes=round((seconds or 0) / 60),
        pay=pay_statement(campaign),
        back_at=back_at,
    )


def _may_start(enrolment: Enrolment, started: int) -> int | None:
    """Return the number of screens that the annotator may still begin; None if there is no limit."""
    return None if enrolment.most_screens is None else max(0, enrolment.most_screens - started)


def _remaining(enrolment: Enrolment, *, may_start: int | None) -> int:
    """Return how many tasks are still to come, with the checks among them."""
    if may_start == 0:
        return 0
    campaign, annotator = enrolment.campaign, enrolment.annotator_id
    open_count = open_tasks(campaign, annotator).count()
    remaining = open_count + gold_and_repeats.expected(campaign, annotator, open_count)
    return remaining if may_start is None else min(remaining, may_start)


def _leased(enrolment: Enrolment) -> int:
    return Assignment.objects.filter(
        annotator=enrolment.annotator_id, task__campaign=enrolment.campaign_id, state=Assignment.State.LEASED
    ).count()


def _active_seconds(enrolment: Enrolment) -> float:
    annotations = Annotation.objects.filter(annotator=enrolment.annotator_id, campaign=enrolment.campaign_id)
    return annotations.aggregate(total=Sum("active_seconds"))["total"] or 0.0
