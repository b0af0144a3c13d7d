"""The progress of each personal link's person, computed from stored data."""

from dataclasses import dataclass

from django.db.models import (
    Case,
    CharField,
    Count,
    Exists,
    F,
    FilteredRelation,
    IntegerField,
    OuterRef,
    Q,
    QuerySet,
    Subquery,
    TextChoices,
    Value,
    When,
)
from django.db.models.functions import Coalesce
from django.utils import timezone

from annotation.models import Assignment, Campaign, Enrolment, Invitation, InvitationLetter, Task
from studies.models import Withdrawal

Letter = InvitationLetter.State
_ANSWERED = (Assignment.State.SUBMITTED, Assignment.State.SURPLUS)


class LinkState(TextChoices):
    """In the order in which a person goes through them; the last two are of links for several people."""

    CREATED = "created", "not used yet"
    SENDING = "sending", "e-mail to be sent"
    FAILED = "failed", "e-mail not sent"
    UNKNOWN = "unknown", "e-mail may have been sent"
    SENT = "sent", "e-mail sent"
    OPENED = "opened", "opened"
    STARTED = "started", "joined"
    WORKING = "working", "answering"
    FINISHED = "finished", "finished"
    EXCLUDED = "excluded", "excluded"
    WITHDRAWN = "withdrawn", "withdrew"
    EXPIRED = "expired", "expired"
    REVOKED = "revoked", "revoked"
    USABLE = "usable", "usable"
    USED_UP = "used up", "used up"


@dataclass(frozen=True)
class StateCount:
    """How many links of a campaign are in a state."""

    state: str
    label: str
    number: int


def with_states(campaign: Campaign, links: QuerySet[Invitation]) -> QuerySet[Invitation]:
    """Return links of a campaign with `link_state`, and `joined`: how many people joined with each.

    A person has finished if they have answered the maximum number of screens, or at least one and none is left.
    """
    enrolled = Q(annotator__enrolments__campaign=campaign)
    withdrawal = Withdrawal.objects.filter(
        study=campaign.study_id, annotator=OuterRef("annotator"), ended_at=None
    )
    now = timezone.now()
    personal, several = Q(limit=1), Q(limit__gt=1)
    takes_part = personal & Q(enrolment__isnull=False)
    full = Q(enrolment__most_screens__isnull=False, answers__gte=F("enrolment__most_screens"))
    states = (
        (Q(revoked_at__isnull=False) & ~(takes_part & Q(answers__gt=0)), LinkState.REVOKED),
        (takes_part & Q(is_withdrawn=True), LinkState.WITHDRAWN),
        (takes_part & Q(enrolment__state=Enrolment.State.EXCLUDED), LinkState.EXCLUDED),
        (takes_part & Q(answers=0), LinkState.STARTED),
        (takes_part if _nothing_left(campaign) else takes_part & full, LinkState.FINISHED),
        (takes_part, LinkState.WORKING),
        (Q(expires_at__lte=now), LinkState.EXPIRED),
        (several & Q(joined__gte=F("limit")), LinkState.USED_UP),
        (several, LinkState.USABLE),
        (Q(opened_at__isnull=False), LinkState.OPENED),
        (Q(letter__state=Letter.FAILED), LinkState.FAILED),
        (Q(letter__state=Letter.UNKNOWN), LinkState.UNKNOWN),
        (Q(letter__state=Letter.SENT), LinkState.SENT),
        (Q(letter__isnull=False), LinkState.SENDING),
    )
    return links.annotate(
        enrolment=FilteredRelation("annotator__enrolments", condition=enrolled),
        is_withdrawn=Exists(withdrawal),
        answers=_answers(campaign),
        joined=_joined(),
    ).annotate(
        link_state=Case(
            *(When(condition, then=Value(state.value)) for condition, state in states),
            default=Value(LinkState.CREATED.value),
            output_field=CharField(),
        )
    )


def counts(links: QuerySet[Invitation]) -> list[StateCount]:
    """Return the number of links in each state, in the order of states, without empty states."""
    rows = links.order_by().values_list("link_state")  # type: ignore[misc]  # annotated by `with_states`
    numbers = dict(rows.annotate(number=Count("pk")))
    return [
        StateCount(state.value, str(state.label), numbers[state.value])
        for state in LinkState
        if state.value in numbers
    ]


def _answers(campaign: Campaign) -> Coalesce:
    answered = Assignment.objects.filter(
        annotator=OuterRef("annotator"), state__in=_ANSWERED, task__campaign=campaign
    )
    number = answered.order_by().values("annotator").annotate(number=Count("pk")).values("number")
    return Coalesce(Subquery(number, output_field=IntegerField()), 0)


def _joined() -> Coalesce:
    enrolled = Enrolment.objects.filter(invitation=OuterRef("pk")).order_by()
    number = enrolled.values("invitation").annotate(number=Count("pk")).values("number")
    return Coalesce(Subquery(number, output_field=IntegerField()), 0)


def _nothing_left(campaign: Campaign) -> bool:
    if campaign.state == Campaign.State.CLOSED:
        return True
    if campaign.state == Campaign.State.DRAFT:
        return False
    unfinished = campaign.tasks.filter(purpose=Task.Purpose.LABEL, withdrawn=False)
    leased = Assignment.objects.filter(task__campaign=campaign, state=Assignment.State.LEASED)
    return not unfinished.filter(held__lt=F("wanted")).exists() and not leased.exists()
