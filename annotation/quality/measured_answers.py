"""Which answers of a campaign the quality measures compare, as parts of SQL, and which measures its kind has.

An answer about an attribute is compared unchanged. For kinds with declared questions, measures use the first question
that is asked once on every screen and has a single answer: a point of a scale, a choice, or the place of the better one
of two images, so that always choosing the left one has the same effect as always ticking the same word.
"""

from typing import NamedTuple

from annotation.kinds.declaration import Kind
from annotation.kinds.questions import Question
from annotation.kinds.registry import kind_of
from annotation.models import Campaign, QualityMeasure

Measure = QualityMeasure
_OF_ANSWERS = (Measure.AGREEMENT, Measure.STRAIGHT_LINING, Measure.VARIETY)


class MeasuredAnswer(NamedTuple):
    """The condition on judgements `j`, the joined tables, and the answer as a number."""

    join: str
    code: str
    values: tuple[int, ...]


_RATING = MeasuredAnswer("", "j.rating", (1, 2, 3, 4, 5))
_MARK = MeasuredAnswer("", "(CASE WHEN j.present THEN 1 ELSE 0 END)", (0, 1))


def measured_answer(campaign: Campaign) -> MeasuredAnswer | None:
    """Return the compared answers of a campaign; None if its kind has no question with a single answer."""
    kind = kind_of(campaign)
    if kind.about_attributes:
        return _RATING if kind.rates_attributes else _MARK
    question = _measured_question(kind)
    return None if question is None else _of_question(question)


def measures_of(kind: Kind) -> tuple[QualityMeasure, ...]:
    """Return the measures that campaigns of a kind have, in their usual order."""
    if kind.about_attributes:
        return tuple(Measure)
    of_answers = () if _measured_question(kind) is None else _OF_ANSWERS
    of_checks = (Measure.GOLD_ACCURACY, Measure.SELF_CONSISTENCY) if kind.knowable else ()
    own = {Measure.MEDIAN_SECONDS, *of_answers, *of_checks}
    return tuple(measure for measure in Measure if measure in own)


def _measured_question(kind: Kind) -> Question | None:
    return next(
        (
            question
            for question in kind.questions
            if question.type in {"scale", "choice", "compare"}
            and not question.each
            and question.when is None
            and not (question.type == "choice" and question.several)
        ),
        None,
    )


def _of_question(question: Question) -> MeasuredAnswer:
    # Names and codes of declarations are words of letters, digits and _, or numbers: they need no quoting.
    join = f"AND j.question = '{question.name}'"
    if question.type == "compare":
        join += " LEFT JOIN annotation_taskstimulus s ON s.id = j.stimulus_id"
        return MeasuredAnswer(join, "(CASE WHEN j.stimulus_id IS NULL THEN 2 ELSE s.position END)", (0, 1, 2))
    column, quote = ("j.rating", "") if question.type == "scale" else ("j.code", "'")
    cases = " ".join(f"WHEN {quote}{code}{quote} THEN {place}" for place, code in enumerate(question.codes))
    return MeasuredAnswer(join, f"(CASE {column} {cases} END)", tuple(range(len(question.codes))))
