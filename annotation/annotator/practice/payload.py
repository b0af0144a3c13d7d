"""The data of practice for annotators: a task's payload, answers, right answers and counts."""

from typing import Any

from annotation.annotator import payload
from annotation.kinds.registry import kind_of
from annotation.models import PracticeAnswer, Task
from annotation.quality.practice import rounds
from annotation.quality.practice.progress import Practice


def practice_task_payload(task: Task, *, annotator_id: int, standing: Practice) -> dict[str, Any]:
    """Return the payload of a practice task; `task` replaces a real task's assignment."""
    return {
        "task": str(task.public_id),
        **payload.screen(task, viewer=f"annotator:{annotator_id}"),
        "practice": standing_payload(standing),
    }


def feedback_payload(practice_answer: PracticeAnswer, *, standing: Practice) -> dict[str, Any]:
    """Return the right answers, by attribute or by question; `right` is null if it is not scored."""
    counts = {"correct": practice_answer.correct, "scored": practice_answer.scored}
    if not kind_of(practice_answer.task.campaign).about_attributes:
        questions = [_question(feedback) for feedback in rounds.question_feedback(practice_answer)]
        return counts | {"questions": questions, "practice": standing_payload(standing)}
    return counts | {
        "attributes": [
            {
                "ref": feedback.ref,
                "text": feedback.text,
                "yours": feedback.rating if feedback.present is None else feedback.present,
                "right": (list(feedback.right_ratings) or feedback.right_present)
                if feedback.scored
                else None,
                "is_right": feedback.correct,
                "explanation": feedback.explanation,
            }
            for feedback in rounds.feedback(practice_answer)
        ],
        "practice": standing_payload(standing),
    }


def _question(feedback: rounds.QuestionFeedback) -> dict[str, Any]:
    return {
        "question": feedback.question.name,
        "stimulus": feedback.ref or None,
        "yours": feedback.given,
        "right": list(feedback.accepted) if feedback.scored else None,
        "is_right": feedback.correct,
        "explanation": feedback.explanation,
    }


def standing_payload(standing: Practice) -> dict[str, Any]:
    """Return the annotator's progress; `round` is the running or the latest round, null before the first."""
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
