"""One question's value as clients send it, and the judgements that it is stored as."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from annotation.answers.text import is_text
from annotation.kinds.declaration import Kind
from annotation.kinds.questions import (
    ChoiceQuestion,
    CompareQuestion,
    Question,
    RankQuestion,
    ScaleQuestion,
    SpanQuestion,
    TextQuestion,
)

TIE = "tie"
NO_WORD = "none"
CHOOSE_ONE = "Choose one of the answers."
CHOOSE_SOME = "Choose at least one answer."
CHOSEN_ALONE = "One of your answers cannot be chosen together with others."
MARK_WORDS = "Mark at least one word."
WRITE = "Write an answer."
RANK_EACH = "Give each picture or text a place."
MISSING = {
    "scale": CHOOSE_ONE,
    "choice": CHOOSE_ONE,
    "compare": CHOOSE_ONE,
    "rank": RANK_EACH,
    "text": WRITE,
    "span": MARK_WORDS,
}


class WrongValueError(ValueError):
    """A value that does not answer its question; the message is for the annotator."""


class Place(NamedTuple):
    """A rectangle or, without width and height, a point, in fractions of an image from its top left corner."""

    x: float
    y: float
    width: float | None = None
    height: float | None = None


class JudgementValue(NamedTuple):
    """One judgement: the question, the stimulus it is about (by its name on the screen), and exactly one value."""

    question: str
    stimulus: str | None = None
    present: bool | None = None
    rating: int | None = None
    code: str | None = None
    rank: int | None = None
    text: str | None = None
    places: tuple[Place, ...] = ()


@dataclass(frozen=True)
class ScreenQuestions:
    """The questions of a kind, asked about the stimuli of one screen."""

    kind: Kind
    refs: tuple[str, ...]  # the names of the stimuli, without that of a prompt beside them
    words: int = 0  # of the text in which words can be marked
    # If the kind leaves this to the lead; None: no answer needs a place, as in practice.
    regions_required: bool | None = False

    def needs_region(self, question: Question) -> bool:
        """Return whether a region is required for an answer that asks for one."""
        if question.region is None or self.regions_required is None:
            return False
        required = question.region.required
        return self.regions_required if required is None else required


def judgements_of(
    question: Question, raw: object, screen: ScreenQuestions, *, stimulus: str | None = None
) -> list[JudgementValue]:
    """Return the judgements of one value, in the order of the declaration; none if an optional value is empty.

    Raises WrongValueError.
    """
    judgements = _read(question, raw, screen)
    return [judgement._replace(stimulus=stimulus) for judgement in judgements] if stimulus else judgements


def _read(question: Question, raw: object, screen: ScreenQuestions) -> list[JudgementValue]:
    match question:
        case ScaleQuestion():
            return _scale(question, raw)
        case ChoiceQuestion():
            return _several(question, raw) if question.several else _choice(question, raw)
        case CompareQuestion():
            return _compare(question, raw, screen.refs)
        case RankQuestion():
            return _rank(question, raw, screen.refs)
        case TextQuestion():
            return _text(question, raw)
        case SpanQuestion():
            return _span(question, raw, screen.words)
        case _:
            raise TypeError(f"{question.name} asks about attributes")


def value_of(question: Question, judgements: list[JudgementValue]) -> Any:
    """Return the value of these stored judgements, about one stimulus or the screen."""
    first = judgements[0]
    match question:
        case ScaleQuestion():
            return first.rating
        case ChoiceQuestion():
            return [judgement.code for judgement in judgements] if question.several else first.code
        case CompareQuestion():
            return first.code or first.stimulus
        case RankQuestion():
            return {judgement.stimulus: judgement.rank for judgement in judgements}
        case TextQuestion():
            return first.text
        case _:
            codes = [judgement.code or "" for judgement in judgements]
            return [] if codes == [NO_WORD] else [int(code[1:]) for code in codes]


def _scale(question: ScaleQuestion, raw: object) -> list[JudgementValue]:
    if type(raw) is not int or raw not in question.codes:
        raise WrongValueError(CHOOSE_ONE)
    return [JudgementValue(question.name, rating=raw)]


def _choice(question: ChoiceQuestion, raw: object) -> list[JudgementValue]:
    if not isinstance(raw, str) or raw not in question.codes:
        raise WrongValueError(CHOOSE_ONE)
    return [JudgementValue(question.name, code=raw)]


def _several(question: ChoiceQuestion, raw: object) -> list[JudgementValue]:
    if not isinstance(raw, list) or not all(isinstance(code, str) for code in raw):
        raise WrongValueError("Give a list of answers.")
    if not raw and question.required:
        raise WrongValueError(CHOOSE_SOME)
    if any(code not in question.codes for code in raw):
        raise WrongValueError("One of the chosen answers does not belong to this question.")
    if len(set(raw)) < len(raw):
        raise WrongValueError("One of the answers is chosen twice.")
    if len(raw) > 1 and not question.alone.isdisjoint(raw):
        raise WrongValueError(CHOSEN_ALONE)
    return [JudgementValue(question.name, code=str(code)) for code in question.codes if code in raw]


def _compare(question: CompareQuestion, raw: object, refs: Sequence[str]) -> list[JudgementValue]:
    if raw == TIE and question.tie is not None:
        return [JudgementValue(question.name, code=TIE)]
    if not isinstance(raw, str) or raw not in refs:
        raise WrongValueError(CHOOSE_ONE)
    return [JudgementValue(question.name, raw, present=True)]


def _rank(question: RankQuestion, raw: object, refs: Sequence[str]) -> list[JudgementValue]:
    if not isinstance(raw, Mapping) or set(raw) != set(refs):
        raise WrongValueError(RANK_EACH)
    ranks = [raw[ref] for ref in refs]
    if not all(type(rank) is int for rank in ranks):
        raise WrongValueError("Give places as whole numbers from 1.")
    if not question.ties and len(set(ranks)) < len(ranks):
        raise WrongValueError("Give each picture or text a different place.")
    # As in a competition: two that share the first place are followed by the third.
    if any(rank != 1 + sum(better < rank for better in ranks) for rank in ranks):
        raise WrongValueError("The places have a gap. The best has place 1, the next place 2, and so on.")
    return [JudgementValue(question.name, ref, rank=raw[ref]) for ref in refs]


def _text(question: TextQuestion, raw: object) -> list[JudgementValue]:
    if not isinstance(raw, str) or not is_text(raw):
        raise WrongValueError("Write text.")
    if len(raw) > question.longest:
        raise WrongValueError("This text is too long.")
    if not raw.strip():
        if question.required:
            raise WrongValueError(WRITE)
        return []
    return [JudgementValue(question.name, text=raw.strip())]


def _span(question: SpanQuestion, raw: object, word_count: int) -> list[JudgementValue]:
    if not isinstance(raw, list) or not all(type(place) is int for place in raw):
        raise WrongValueError("Give a list of places of words.")
    if any(not 0 <= place < word_count for place in raw):
        raise WrongValueError("One of the words is not in the text.")
    if len(set(raw)) < len(raw):
        raise WrongValueError("One of the words is marked twice.")
    if raw:
        return [JudgementValue(question.name, code=f"w{place}") for place in sorted(raw)]
    if question.none is not None:
        return [JudgementValue(question.name, code=NO_WORD)]
    if question.required:
        raise WrongValueError(MARK_WORDS)
    return []
