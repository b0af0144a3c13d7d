"""The next step for a decision, given the panel's status of the place."""

from annotation.recruitment.models import PanelPayment

Kind = PanelPayment.Kind


class NextStep:
    """The next step for an approval or a rejection, given the panel's status of the submission."""

    SEND = "send"
    WAIT = "wait"
    DONE = "done"


_PAID = {"APPROVED", "PARTIALLY APPROVED", "SCREENED OUT"}
_AT_WORK = {"RESERVED", "ACTIVE"}
_REFUSALS = {
    "RETURNED": "The person gave the place back at the panel, so it cannot be approved there.",
    "TIMED-OUT": "The place ran out of time at the panel, so it cannot be approved there.",
    "REJECTED": "The place was rejected at the panel.",
    "": "The panel does not know this place. The id of the place may have been made up.",
}


def next_step(kind: str, status: str) -> str:
    """Return a step, or in words why the panel will never do it. `status` is "" if it lists no such submission."""
    status = status.upper().replace("_", " ").replace("TIMED OUT", "TIMED-OUT")
    if status == "AWAITING REVIEW":
        return NextStep.SEND
    if status in _AT_WORK:
        return NextStep.WAIT
    if kind == Kind.REJECT:
        return (
            NextStep.DONE
            if status == "REJECTED"
            else "The place was paid or given back before it could be rejected. Check the place at the panel."
        )
    if status in _PAID:
        return NextStep.DONE
    return _REFUSALS.get(
        status, f"The panel lists this place as “{status.lower()}”, so it cannot be approved there."
    )
