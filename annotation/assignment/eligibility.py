"""Whether an annotator may label and get tasks, or must practise first. Reads only."""

from django.db.models import TextChoices

from annotation import integrations
from annotation.assignment.sql import PRACTICE_TASKS
from annotation.kinds.options import Options
from annotation.models import Assignment, Campaign, Enrolment
from foundation.database.statements import rows
from foundation.errors import Conflict, Forbidden


class State(TextChoices):
    """An annotator's state of practice."""

    NOT_NEEDED = "not_needed", "not needed"
    OPEN = "open", "open"
    PASSED = "passed", "passed"
    FAILED = "failed", "failed"


def refusal_to_label(enrolment_state: str, *, consented: bool) -> Forbidden | None:
    """Return why an enrolled annotator may neither answer nor get tasks; None if they may."""
    if enrolment_state == Enrolment.State.PAUSED:
        return Forbidden(
            "annotator_paused", "Your work in this campaign is paused; ask the person who invited you."
        )
    if enrolment_state == Enrolment.State.EXCLUDED:
        return Forbidden(
            "annotator_excluded", "Your part in this campaign has ended; ask the person who invited you."
        )
    if not consented:
        return Forbidden("consent_missing", "Please read and accept the consent text first.")
    return None


def refusal_to_give(campaign: Campaign) -> Conflict | None:
    """Return why a campaign gives out no tasks on our own pages; None if it does. Reads only its columns."""
    if campaign.state != Campaign.State.OPEN or campaign.imported:
        return Conflict("campaign_not_open", f"No tasks are given out: the campaign is {campaign.state}.")
    if (tool := integrations.tool_of(campaign)) is not None:
        message = f"The tasks of this campaign are given out in {tool.name}, not here."
        return Conflict(f"labelled_in_{tool.slug}", message)
    return None


def state(enrolment: Enrolment) -> State:
    """Return an annotator's state of practice.

    Annotators who submitted labels before practice was added need not practise. Nobody has failed while their enrolment
    is active: a lead who reactivates somebody gives them another attempt.
    """
    return state_of(enrolment, task_ids(enrolment.campaign_id))


def state_of(enrolment: Enrolment, tasks: list[int]) -> State:
    """Return an annotator's state of practice, given the practice tasks of their campaign."""
    if not tasks:
        return State.NOT_NEEDED
    rounds = list(enrolment.practice_rounds.values_list("passed", flat=True))
    if True in rounds:
        return State.PASSED
    if not rounds and _has_labelled(enrolment):
        return State.NOT_NEEDED
    attempts = int(
        enrolment.campaign.options.get("practice_attempts") or Options.default("practice_attempts")
    )
    used_up = None not in rounds and len(rounds) >= attempts
    return State.FAILED if used_up and enrolment.state != Enrolment.State.ACTIVE else State.OPEN


def refuse_before_passed(enrolment: Enrolment) -> None:
    """Raise Forbidden `practice_first` unless the annotator may get real tasks."""
    if state(enrolment) not in {State.NOT_NEEDED, State.PASSED}:
        raise Forbidden(
            "practice_first", "Please do the practice first; your tasks begin when you have passed it."
        )


def task_ids(campaign_id: int) -> list[int]:
    """Return the campaign's practice tasks in the order in which they are practised."""
    return [pk for (pk,) in rows(PRACTICE_TASKS, [campaign_id])]


def _has_labelled(enrolment: Enrolment) -> bool:
    return Assignment.objects.filter(
        annotator=enrolment.annotator_id,
        task__campaign=enrolment.campaign_id,
        state__in=[Assignment.State.SUBMITTED, Assignment.State.SURPLUS],
    ).exists()
