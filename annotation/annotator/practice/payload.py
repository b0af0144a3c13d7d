"""What an annotator is told of practice: besides a task's own payload only answers, right answers and counts."""

from typing import Any

from annotation.annotator import payload
from annotation.models import PracticeAnswer, Task
from annotation.quality.practice import rounds
from annotation.quality.practice.gate import Practice


def practice_task_payload(task: Task, *, annotator_id: int, standing: Practice) -> dict[str, Any]:
    """Return a practice task as it is shown; `task` takes the place of a real task's assignment."""
    return {
        "task": str(task.public_id),
        **payload.screen(task, viewer=f"annotator:{annotator_id}"),
        "practice": standing_payload(standing),
    }


def feedback_payload(kept: PracticeAnswer, *, standing: Practice) -> dict[str, Any]:
    """Return what was right, attribute by attribute; where nothing is scored, `right` is null."""
    return {
        "correct": kept.correct,
        "scored": kept.scored,
        "attributes": [
            {
                "ref": one.ref,
                "text": one.text,
                "yours": one.rating if one.present is None else one.present,
                "right": (list(one.right_ratings) or one.right_present) if one.scored else None,
                "is_right": one.correct,
                "explanation": one.explanation,
            }
            for one in rounds.feedback(kept)
        ],
        "practice": standing_payload(standing),
    }


def standing_payload(standing: Practice) -> dict[str, Any]:
    """Return where the annotator stands; `round` is the running or the latest one, null before the first."""
    latest = standing.latest
    return {
        "state": str(standing.state),
        "tasks": standing.tasks,
        "pass_mark": standing.pass_mark,
        "rounds_left": standing.left,
        "round": {
            "number": latest.number,
            "passed": latest.passed,
            "answered": latest.answered,
            "correct": latest.correct,
            "scored": latest.scored,
        }
        if latest is not None
        else None,
    }
