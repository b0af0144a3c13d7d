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

    Everybody who worked to the end or came in vain is approved. Who gave the place back is paid for the screens they
    answered, as a bonus: panels do not approve such places. So is everybody whose approval the panel refused.
    """
    proposed = []
    if place.outcome == "" and place.state in {State.COMPLETED, State.SCREENED_OUT}:
        proposed.append(ProposedPayment(place.pk, Kind.APPROVE, terms.reward))
    given_back = place.outcome == "" and place.state == State.LEFT and place.answered > 0
    has_bonus = any(cause == Cause.WORK for _, cause, _ in place.payments)
    if given_back and not has_bonus:
        amount = part_of_reward(terms.reward, place.answered, terms.screens)
        proposed.append(ProposedPayment(place.pk, Kind.BONUS, amount, Cause.WORK))
    if (Kind.APPROVE, "", PanelPayment.State.REFUSED) in place.payments and not has_bonus:
        proposed.append(ProposedPayment(place.pk, Kind.BONUS, terms.reward, Cause.WORK))
    approved = place.state == State.COMPLETED and place.outcome == PanelPlace.Outcome.APPROVED
    has_top_up = any(cause == Cause.TOP_UP for _, cause, _ in place.payments)
    if terms.top_up and approved and not has_top_up:
        proposed.append(ProposedPayment(place.pk, Kind.BONUS, terms.top_up, Cause.TOP_UP))
    return tuple(proposed)


def part_of_reward(reward: int, answered: int, screens: int) -> int:
    """Return the share of the reward for the screens answered, rounded up, at most all of it."""
    return min(reward, -(-reward * answered // screens))


class NextStep:
    """What comes next for an approval or a rejection, given what the panel says of the submission."""

    SEND = "send"
    WAIT = "wait"
    DONE = "done"


_PAID = {"APPROVED", "PARTIALLY APPROVED", "SCREENED OUT"}
_AT_WORK = {"RESERVED", "ACTIVE"}
_REFUSALS = {
    "RETURNED": "The person gave the place back at the panel, so it cannot be approved there.",
    "TIMED-OUT": "The place ran out of time at the panel, so it cannot be approved there.",
    "REJECTED": "The place was rejected at the panel.",
    "": "The panel does not know this place. Its id may have been made up.",
}


def next_step(kind: str, status: str) -> str:
    """Return a step, or in words why the panel will never do it. `status` is "" where it lists no such submission."""
    status = status.upper().replace("_", " ").replace("TIMED OUT", "TIMED-OUT")
    if status == "AWAITING REVIEW":
        return NextStep.SEND
    if status in _AT_WORK:
        return NextStep.WAIT
    if kind == Kind.REJECT:
        return (
            NextStep.DONE
            if status == "REJECTED"
            else "The place was paid or given back before it could be rejected. Check it at the panel."
        )
    if status in _PAID:
        return NextStep.DONE
    return _REFUSALS.get(
        status, f"The panel says “{status.lower()}” of this place, so it cannot be approved there."
    )
