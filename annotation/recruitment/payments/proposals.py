"""Who is proposed what, from the facts of each place. Nothing here is decided, stored or sent."""

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
    screen_out: int | None = None  # what people get for whom there was nothing to do; None: the reward

    def decision(self, state: str) -> tuple[str, int]:
        """Return by which kind of payment somebody is paid whose place ended in this state, and how much."""
        if state == State.SCREENED_OUT and self.screen_out is not None:
            return Kind.SCREEN_OUT, self.screen_out
        return Kind.APPROVE, self.reward


@dataclass(frozen=True)
class PlaceFacts:
    """What became of a place, and what is planned or paid for it: kind, cause and state of each payment."""

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
    """Return what is proposed for a place.

    Everybody who worked to the end is approved, and everybody for whom there was nothing to do, if the recruitment has
    no fixed screen-out payment for them. Who gave the place back is paid for the screens they
    answered, as a bonus: panels do not approve such places. So is everybody whose approval the panel refused.
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
