"""Pending decisions about the places of a recruitment, and the state of its payments."""

from collections import defaultdict
from dataclasses import dataclass
from datetime import datetime, timedelta

from django.db.models import Count, Min, QuerySet, Sum
from django.utils import timezone

from annotation.recruitment import cost
from annotation.recruitment.models import PanelPayment, PanelPlace, Recruitment
from annotation.recruitment.payments import proposals
from annotation.recruitment.payments.proposals import PayTerms, PlaceFacts, ProposedPayment

# Prolific automatically approves places that nobody reviewed for 21 days; leads are warned a week before.
APPROVED_BY_ITSELF = timedelta(days=21)
WARNED = timedelta(days=14)


@dataclass(frozen=True)
class PaymentCount:
    """The number of a recruitment's payments in a state, and their total without fees."""

    state: str
    number: int
    money: cost.Money


@dataclass(frozen=True)
class Review:
    """The proposals for the places of a recruitment."""

    recruitment: Recruitment
    approvals: tuple[ProposedPayment, ...]
    bonuses: tuple[ProposedPayment, ...]
    waiting_since: datetime | None  # when the oldest undecided place ended

    @property
    def screen_outs(self) -> tuple[ProposedPayment, ...]:
        """Return those of the approvals that are fixed screen-out payments."""
        return tuple(payment for payment in self.approvals if payment.kind == PanelPayment.Kind.SCREEN_OUT)

    @property
    def screen_out_total(self) -> cost.Money:
        return self._money(self.screen_outs)

    @property
    def approval_total(self) -> cost.Money:
        return self._money(self.approvals)

    @property
    def bonus_total(self) -> cost.Money:
        return self._money(self.bonuses)

    @property
    def for_work(self) -> tuple[ProposedPayment, ...]:
        return tuple(bonus for bonus in self.bonuses if bonus.cause == PanelPayment.Cause.WORK)

    @property
    def top_ups(self) -> tuple[ProposedPayment, ...]:
        return tuple(bonus for bonus in self.bonuses if bonus.cause == PanelPayment.Cause.TOP_UP)

    @property
    def for_work_total(self) -> cost.Money:
        return self._money(self.for_work)

    @property
    def top_up_total(self) -> cost.Money:
        return self._money(self.top_ups)

    def _money(self, payments: tuple[ProposedPayment, ...]) -> cost.Money:
        return cost.Money(sum(payment.amount for payment in payments), self.recruitment.currency)

    @property
    def approved_by_itself_at(self) -> datetime | None:
        """Return when the panel may automatically approve the oldest place; None if that is more than a week away."""
        if self.waiting_since is None or timezone.now() - self.waiting_since < WARNED:
            return None
        return self.waiting_since + APPROVED_BY_ITSELF


def review_of(recruitment: Recruitment) -> Review:
    """Return the proposals; four queries for any number of places."""
    terms = terms_of(recruitment)
    proposed = [payment for place in _facts(recruitment) for payment in proposals.propose(place, terms)]
    oldest = undecided(recruitment).aggregate(moment=Min("ended_at"))["moment"]
    return Review(
        recruitment,
        approvals=tuple(payment for payment in proposed if payment.kind != PanelPayment.Kind.BONUS),
        bonuses=tuple(payment for payment in proposed if payment.kind == PanelPayment.Kind.BONUS),
        waiting_since=oldest,
    )


def terms_of(recruitment: Recruitment) -> PayTerms:
    """Return the pay of a recruitment's places."""
    return PayTerms(
        recruitment.reward, recruitment.screens, _top_up(recruitment), recruitment.screen_out_reward
    )


def counts_of(recruitment: Recruitment) -> list[PaymentCount]:
    """Return the payments of a recruitment by state, in the order of their lives."""
    rows = PanelPayment.objects.filter(place__recruitment=recruitment).order_by()
    by_state = {
        state: (number, total)
        for state, number, total in rows.values_list("state").annotate(
            number=Count("pk"), total=Sum("amount")
        )
    }
    return [
        PaymentCount(state, by_state[state][0], cost.Money(by_state[state][1], recruitment.currency))
        for state in PanelPayment.State.values
        if state in by_state
    ]


def undecided(recruitment: Recruitment) -> QuerySet[PanelPlace]:
    """Return the places of a recruitment whose people are to be paid unless a lead decides otherwise."""
    return not_decided(recruitment.panel_places.all())


def not_decided(places: QuerySet[PanelPlace]) -> QuerySet[PanelPlace]:
    """Return those of the places whose people are to be paid unless a lead decides otherwise."""
    worked = [PanelPlace.State.COMPLETED, PanelPlace.State.SCREENED_OUT]
    ended = places.filter(outcome="")
    return ended.filter(state__in=worked) | ended.filter(state=PanelPlace.State.LEFT, answered__gt=0)


def _top_up(recruitment: Recruitment) -> int:
    """Return what each completed place lacks to reach the floor; 0 while somebody works, because the median is not
    final."""
    at_work = recruitment.panel_places.filter(state=PanelPlace.State.WORKING)
    if recruitment.state != Recruitment.State.CLOSED or at_work.exists():
        return 0
    earned = cost.earned(recruitment)
    return earned.top_up.units if earned is not None else 0


def _facts(recruitment: Recruitment) -> list[PlaceFacts]:
    payments: dict[int, list[tuple[str, str, str]]] = defaultdict(list)
    rows = PanelPayment.objects.filter(place__recruitment=recruitment)
    for place, kind, cause, state in rows.values_list("place", "kind", "cause", "state"):
        payments[place].append((kind, cause, state))
    places = recruitment.panel_places.exclude(state=PanelPlace.State.WORKING).order_by("pk")
    return [
        PlaceFacts(pk, state, answered, outcome, tuple(payments[pk]))
        for pk, state, answered, outcome in places.values_list("pk", "state", "answered", "outcome")
    ]
