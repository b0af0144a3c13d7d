"""An answer to a question of practice, and the right answers, in the words that the annotator read."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from django.utils.translation import gettext as _

from annotation.kinds.questions import ChoiceQuestion, CompareQuestion, Question, ScaleQuestion
from annotation.kinds.registry import in_language
from annotation.quality.practice.rounds import QuestionFeedback


@dataclass(frozen=True)
class QuestionVerdict:
    """One question with the given and the right answers, in words."""

    label: str
    about: str  # the stimulus, if the question is about each
    yours: str
    right: str
    feedback: QuestionFeedback


def verdict(feedback: QuestionFeedback, names: Mapping[str, str]) -> QuestionVerdict:
    """Return a feedback in words; `names` has the name of each stimulus on the screen."""
    question = feedback.question
    accepted: Sequence[int | str] = feedback.accepted
    return QuestionVerdict(
        label=in_language(question.label),
        about=names.get(feedback.ref, ""),
        yours=_given(question, feedback.given, names),
        right=_places(accepted, names) if question.type == "rank" else _listed(question, accepted, names),
        feedback=feedback,
    )


def _given(question: Question, value: Any, names: Mapping[str, str]) -> str:
    if value is None:
        return _("no answer")
    if isinstance(value, Mapping):
        return _places([value[ref] for ref in names], names)
    return _listed(question, value if isinstance(value, list) else [value], names)


def _listed(question: Question, codes: Sequence[Any], names: Mapping[str, str]) -> str:
    """Return answers in words: all of them if several are chosen, otherwise the accepted ones."""
    labels = _labels(question, names)
    several = isinstance(question, ChoiceQuestion) and question.several
    return (", " if several else _(" or ")).join(labels[code] for code in codes)


def _places(places: Sequence[Any], names: Mapping[str, str]) -> str:
    return ", ".join(f"{name}: {place}" for name, place in zip(names.values(), places, strict=False))


def _labels(question: Question, names: Mapping[str, str]) -> dict[Any, str]:
    match question:
        case ScaleQuestion():
            return {point.code: in_language(point.label) for point in question.points}
        case ChoiceQuestion():
            return {answer.code: in_language(answer.label) for answer in question.answers}
        case CompareQuestion():
            return {**names, "tie": in_language(question.tie) if question.tie is not None else ""}
    return {}
