"""Known answers on screens of declared questions: which answers can be known, and whether an answer is right.

For a scale, a choice of one answer and a comparison, some answers are right (`accepted`); for a choice of several
answers, exactly these; for a ranking, exactly these places in the order shown. Texts and words of a text are never
known.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from annotation.answers.questions.conditions import is_asked
from annotation.answers.questions.values import ScreenQuestions, WrongValueError, judgements_of
from annotation.kinds.declaration import KNOWABLE, Kind
from annotation.kinds.questions import ChoiceQuestion, Question, RankQuestion, ScaleQuestion
from annotation.models import KnownAnswer

_RANGE = {"least", "most"}
CHOOSE_SOME = "Choose some of the answers as right, but not all."


class Part(NamedTuple):
    """A question, or a question about one stimulus, by its name on the screen."""

    question: str
    ref: str = ""

    @property
    def name(self) -> str:
        """Its name in forms and requests."""
        return f"{self.question}.{self.ref}" if self.ref else self.question

    @classmethod
    def named(cls, name: str) -> "Part":
        question, _, ref = name.partition(".")
        return cls(question, ref)


def parts_of(kind: Kind, refs: Sequence[str]) -> list[Part]:
    """Return everything of a screen that can have a right answer, in the order asked."""
    return [
        Part(question.name, ref)
        for question in kind.questions
        if question.type in KNOWABLE
        for ref in (refs if question.each else ("",))
    ]


def accepted_of(question: Question, raw: object, refs: Sequence[str], kind: Kind) -> list[int | str]:
    """Return known answers in stored form; raises WrongValueError. `raw` has the format of leads and clients.

    A scale also takes a range, `{"least": 3, "most": 5}`: the codes between both, without answers apart from the scale.
    For a ranking, places are given by stimulus or in the order shown.
    """
    screen = ScreenQuestions(kind, tuple(refs))
    if isinstance(question, RankQuestion):
        if isinstance(raw, list | tuple) and len(raw) == len(refs):
            raw = dict(zip(refs, raw, strict=True))
        return [judgement.rank or 0 for judgement in judgements_of(question, raw, screen)]
    if isinstance(question, ChoiceQuestion) and question.several:
        chosen = [judgement.code or "" for judgement in judgements_of(question, raw, screen)]
        if not chosen:
            raise WrongValueError("Choose the answers that are right.")
        return list(chosen)
    if isinstance(raw, Mapping):
        raw = _range(question, raw)
    codes = answers_of(question, refs)
    if not isinstance(raw, list | tuple) or not all(type(code) in {int, str} for code in raw):
        raise WrongValueError(CHOOSE_SOME)
    if not raw or any(code not in codes for code in raw) or len(set(raw)) == len(codes):
        raise WrongValueError(CHOOSE_SOME)
    return [code for code in codes if code in raw]


def answers_of(question: Question, refs: Sequence[str]) -> list[int | str]:
    """Return all answers to a question with a single one, in the order shown, in the format of clients."""
    if question.type == "compare":
        return [refs[0], *(["tie"] if "tie" in question.codes else []), refs[1]]
    return list(question.codes)


def _range(question: Question, raw: Mapping[Any, Any]) -> list[int]:
    least, most = raw.get("least"), raw.get("most")
    if (
        not isinstance(question, ScaleQuestion)
        or set(raw) != _RANGE
        or type(least) is not int
        or type(most) is not int
    ):
        raise WrongValueError("A range of a scale has two codes: the lowest and the highest.")
    return [point.code for point in question.points if not point.apart and least <= point.code <= most]


def is_right(question: Question, accepted: Sequence[int | str], value: Any, refs: Sequence[str]) -> bool:
    """Return whether an answer, in the format of clients, is right."""
    if value is None:
        return False
    if isinstance(question, RankQuestion):
        return [value[ref] for ref in refs] == list(accepted)
    if isinstance(value, list):
        return set(value) == set(accepted)
    return value in accepted


def value_at(kind: Kind, part: Part, answers: Mapping[str, Any]) -> Any:
    """Return the answer to a part; None if there is none."""
    value = answers.get(part.question)
    if kind.question(part.question).each:
        return value.get(part.ref) if isinstance(value, Mapping) else None
    return value


def verdicts(
    kind: Kind,
    refs: Sequence[str],
    known_answers: Mapping[Part, KnownAnswer],
    answers: Mapping[str, Any],
) -> Iterator[tuple[Part, bool]]:
    """Yield whether each part with a known answer was answered correctly; parts that were not asked are left out."""
    for part, known_answer in known_answers.items():
        question = kind.question(part.question)
        if is_asked(kind, question, answers, part.ref):
            value = value_at(kind, part, answers)
            yield part, is_right(question, known_answer.accepted, value, refs)


def part_of(known_answer: KnownAnswer) -> Part:
    """Return the part of a known answer; reads its stimulus."""
    stimulus = known_answer.stimulus
    return Part(known_answer.question, "" if stimulus is None else f"s{stimulus.position + 1}")
