"""Whether an annotator may be given real tasks, or has practice before them. Reads only."""

from django.db.models import TextChoices

from annotation.kinds.options import Options
from annotation.models import Assignment, Enrolment
from foundation.database.statements import rows
from foundation.errors import Forbidden


class State(TextChoices):
    """Where somebody stands with practice."""

    NOT_NEEDED = "not_needed", "not needed"
    OPEN = "open", "open"
    PASSED = "passed", "passed"
    FAILED = "failed", "failed"


# From the side of the known answers, which are few: a campaign may have 100,000 tasks. CROSS JOIN keeps SQLite
# to this order.
_TASKS = """
    SELECT DISTINCT t.id FROM annotation_knownanswer k CROSS JOIN annotation_task t
    WHERE t.id = k.task_id AND t.campaign_id = %s AND t.purpose = 'practice' AND NOT t.withdrawn
    ORDER BY t.id
"""


def state(enrolment: Enrolment) -> State:
    """Return where somebody stands.

    Whoever had submitted labels before there was practice is not asked for it. Nobody fails while their
    enrolment is active: a lead who lets somebody go on gives them another attempt.
    """
    return state_of(enrolment, task_ids(enrolment.campaign_id))


def state_of(enrolment: Enrolment, tasks: list[int]) -> State:
    """Return where somebody stands, given the practice tasks of their campaign."""
    if not tasks:
        return State.NOT_NEEDED
    rounds = list(enrolment.practice_rounds.values_list("passed", flat=True))
    if True in rounds:
        return State.PASSED
    if not rounds and _has_labelled(enrolment):
        return State.NOT_NEEDED
    attempts = int(enrolment.campaign.options.get("practice_attempts") or Options.practice_attempts)
    used_up = None not in rounds and len(rounds) >= attempts
    return State.FAILED if used_up and enrolment.state != Enrolment.State.ACTIVE else State.OPEN


def refuse_before_passed(enrolment: Enrolment) -> None:
    """Raise Forbidden `practice_first` unless they may be given real tasks."""
    if state(enrolment) not in {State.NOT_NEEDED, State.PASSED}:
        raise Forbidden("practice_first", "Please do the practice first; your tasks begin when it is passed.")


def task_ids(campaign_id: int) -> list[int]:
    """Return the campaign's practice tasks in the order in which they are practised."""
    return [pk for (pk,) in rows(_TASKS, [campaign_id])]


def _has_labelled(enrolment: Enrolment) -> bool:
    return Assignment.objects.filter(
        annotator=enrolment.annotator_id,
        task__campaign=enrolment.campaign_id,
        state__in=[Assignment.State.SUBMITTED, Assignment.State.SURPLUS],
    ).exists()
