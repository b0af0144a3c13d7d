"""Stored answers to questions in the words that their annotator read."""

from collections.abc import Sequence
from typing import NamedTuple

from django.utils.translation import gettext as _

from annotation.answers.questions.validation import QuestionAnswers
from annotation.answers.questions.values import NO_WORD, JudgementValue, ScreenQuestions
from annotation.kinds.declaration import Kind
from annotation.kinds.questions import (
    ChoiceQuestion,
    CompareQuestion,
    Question,
    RankQuestion,
    ScaleQuestion,
    SpanQuestion,
)
from annotation.kinds.registry import in_language
from annotation.models import Annotation, Judgement


class AnsweredQuestion(NamedTuple):
    """A question and its answer, with each stimulus by its name on the screen."""

    label: str
    answer: str


def answered_questions(annotation: Annotation, kind: Kind) -> tuple[AnsweredQuestion, ...]:
    """Return an annotation's answers; reads `judgements` and `task.stimuli`, which may be prefetched."""
    names = {
        stimulus.pk: (_("Picture %(number)s") if stimulus.image_id else _("Text %(number)s"))
        % {"number": stimulus.position + 1}
        for stimulus in annotation.task.stimuli.all()
    }
    words = [word for stimulus in annotation.task.stimuli.all() for word in stimulus.text.split()]
    judgements = sorted(annotation.judgements.all(), key=lambda judgement: judgement.pk)
    about = [(judgement, names.get(judgement.stimulus_id or 0, "")) for judgement in judgements]
    return _answered(kind, about, words)


def given_answers(
    answers: QuestionAnswers, screen: ScreenQuestions, text: str
) -> tuple[AnsweredQuestion, ...]:
    """Return the sentences of a checked, unsaved answer; `text` is the text in which words can be marked."""
    name = _("Picture %(number)s") if screen.kind.stimuli.medium == "image" else _("Text %(number)s")
    names = {ref: name % {"number": number} for number, ref in enumerate(screen.refs, start=1)}
    about = [(judgement, names.get(judgement.stimulus or "", "")) for judgement in answers.judgements]
    return _answered(screen.kind, about, text.split())


def _answered(
    kind: Kind, judgements: Sequence[tuple[Judgement | JudgementValue, str]], words: list[str]
) -> tuple[AnsweredQuestion, ...]:
    """Return the answers, from judgements with the names of their subjects."""
    answered = []
    for question in kind.questions:
        parts = [
            _part(question, judgement, name, words)
            for judgement, name in judgements
            if judgement.question == question.name
        ]
        if parts:
            answered.append(AnsweredQuestion(in_language(question.label), ", ".join(parts)))
    return tuple(answered)


def _part(question: Question, judgement: Judgement | JudgementValue, name: str, words: list[str]) -> str:
    """Return the sentence of one judgement: the answer, with the name of its stimulus."""
    value = _value(question, judgement, words)
    if not name:
        return value
    return name if isinstance(question, CompareQuestion) else f"{name}: {value}"


def _value(question: Question, judgement: Judgement | JudgementValue, words: list[str]) -> str:
    code = judgement.code or ""
    match question:
        case ScaleQuestion():
            labels = {point.code: point.label for point in question.points}
            return in_language(labels[judgement.rating or 0])
        case ChoiceQuestion():
            return in_language({answer.code: answer.label for answer in question.answers}[code])
        case CompareQuestion():
            return "" if question.tie is None else in_language(question.tie)
        case RankQuestion():
            return _("place %(place)s") % {"place": judgement.rank}
        case SpanQuestion():
            if code == NO_WORD:
                return "" if question.none is None else in_language(question.none)
            return words[int(code.removeprefix("w"))]
        case _:
            return judgement.text or ""
