"""Proposals of payments, from the facts of each place. Nothing here is decided, stored or sent."""

from collections.abc import Collection
from dataclasses import dataclass

from annotation.recruitment.models import PanelPayment, PanelPlace

Kind, Cause, State = PanelPayment.Kind, PanelPayment.Cause, PanelPlace.State


@dataclass(frozen=True)
class PayTerms:
    """What a place pays, in the smallest unit of the currency; `top_up` only once it is proposed."""

    reward: int
    screens: int
    top_up: int = 0
    screen_out: int | None = None  # the pay of people for whom there was nothing to do; None: the reward

    def decision(self, state: str) -> tuple[str, int]:
        """Return the kind of payment and the amount for a place that ended in this state."""
        if state == State.SCREENED_OUT and self.screen_out is not None:
            return Kind.SCREEN_OUT, self.screen_out
        return Kind.APPROVE, self.reward


@dataclass(frozen=True)
class PlaceFacts:
    """The state of a place, and its planned and paid payments: kind, cause and state of each."""

    pk: int
    state: str
    answered: int
    outcome: str = ""
    payments: Collection[tuple[str, str, str]] = ()


@dataclass(frozen=True)
class ProposedPayment:
    """A payment that a person may order."""

    place: int
    kind: str
    amount: int
    cause: str = ""


def propose(place: PlaceFacts, terms: PayTerms) -> tuple[ProposedPayment, ...]:
    """Return the proposal for a place.

    Everybody who worked to the end is approved, and everybody for whom there was nothing to do, if the recruitment has
    no fixed screen-out payment for them. A person who gave the place back is paid for the answered screens by a bonus,
    because panels do not approve such places. The same applies if the panel refused the approval.
    """
    proposed = []
    if place.outcome == "" and place.state in {State.COMPLETED, State.SCREENED_OUT}:
        proposed.append(ProposedPayment(place.pk, *terms.decision(place.state)))
    given_back = place.outcome == "" and place.state == State.LEFT and place.answered > 0
    has_bonus = any(cause == Cause.WORK for _, cause, _ in place.payments)
    if given_back and not has_bonus:
        amount = part_of_reward(terms.reward, place.answered, terms.screens)
        proposed.append(ProposedPayment(place.pk, Kind.BONUS, amount, Cause.WORK))
    kind, amount = terms.decision(place.state)
    if (kind, "", PanelPayment.State.REFUSED) in place.payments and not has_bonus:
        proposed.append(ProposedPayment(place.pk, Kind.BONUS, amount, Cause.WORK))
    approved = place.state == State.COMPLETED and place.outcome == PanelPlace.Outcome.APPROVED
    has_top_up = any(cause == Cause.TOP_UP for _, cause, _ in place.payments)
    if terms.top_up and approved and not has_top_up:
        proposed.append(ProposedPayment(place.pk, Kind.BONUS, terms.top_up, Cause.TOP_UP))
    return tuple(proposed)


def part_of_reward(reward: int, answered: int, screens: int) -> int:
    """Return the share of the reward for the screens answered, rounded up, at most all of it."""
    return min(reward, -(-reward * answered // screens))
