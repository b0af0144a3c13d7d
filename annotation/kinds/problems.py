"""Contradictions in a declaration: each problem names the field that has to change."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from pydantic import ValidationError
from pydantic_core import ErrorDetails

if TYPE_CHECKING:
    from annotation.kinds.declaration import Kind
    from annotation.kinds.questions import Question

Path = tuple[int | str, ...]
ABOUT_ATTRIBUTES = (
    "attribute"  # the name of the question about planned attributes, in each kind that has them
)


@dataclass(frozen=True)
class Fault:
    """A problem, and the path of its field: `("questions", 1, "when", "answers")`.

    `code` is pydantic's type of an error, such as `missing` for an empty field.
    """

    path: Path
    text: str
    code: str = "value_error"

    def sentence(self) -> str:
        """Return the path and the problem, as one sentence."""
        where = ".".join(map(str, self.path))
        return f"{where}: {self.text}." if where else f"{self.text}."


class Contradiction(ValueError):
    """Problems of a part of a declaration, with paths inside that part."""

    def __init__(self, problems: Iterable[Fault], about: str = "") -> None:
        self.problems = tuple(problems)
        named = f"{about}: " if about else ""
        super().__init__("; ".join(f"{named}{problem.text}" for problem in self.problems))


def refuse(*problems: Fault, about: str = "") -> None:
    """Raise `Contradiction` if there are problems."""
    if problems:
        raise Contradiction(problems, about)


def problems_in(error: ValidationError) -> list[Fault]:
    """Return the problems for which a declaration was refused."""
    details = error.errors(include_url=False, include_input=False)
    problems = [problem for detail in details for problem in _problems(detail)]
    # Pydantic does not count wrong rows and then also reports that there are too few.
    faulty = {path for problem in problems for path in _lists(problem.path)}
    return [problem for problem in problems if problem.code != "too_short" or problem.path not in faulty]


def _lists(path: Path) -> list[Path]:
    """Return the paths of the lists that a path leads through."""
    return [path[:place] for place, step in enumerate(path) if isinstance(step, int)]


def contradictions(kind: Kind) -> list[Fault]:
    """Return the contradictions within a kind."""
    return [*_repeated(kind), *_conditions(kind), *_stimuli(kind), *_attributes(kind)]


def _problems(detail: ErrorDetails) -> Iterator[Fault]:
    path = _without_tags(detail["loc"])
    raised = detail.get("ctx", {}).get("error")
    if isinstance(raised, Contradiction):
        for problem in raised.problems:
            yield Fault((*path, *problem.path), problem.text, problem.code)
        return
    text = detail["msg"].removeprefix("Value error, ").rstrip(".")
    yield Fault(path, text, detail["type"])


def _without_tags(path: Path) -> Path:
    """Return a path without the type that pydantic names after the number of a question."""
    if len(path) > 2 and path[0] == "questions":
        return (*path[:2], *path[3:])
    return path


def _repeated(kind: Kind) -> Iterator[Fault]:
    """Yield names or codes with two meanings."""
    yield from _twice(
        "question",
        ((("questions", place, "name"), question.name) for place, question in enumerate(kind.questions)),
    )
    yield from _twice(
        "rule",
        (
            (("standard_rules", place, "measure"), str(rule.measure))
            for place, rule in enumerate(kind.standard_rules)
        ),
    )
    for place, question in enumerate(kind.questions):
        rows = {"scale": "points", "choice": "answers"}.get(question.type)
        if rows:
            paths = (("questions", place, rows, row, "code") for row in range(len(question.codes)))
            yield from _twice(f"answer of {question.name}", zip(paths, map(str, question.codes), strict=True))


def _twice(what: str, names: Iterable[tuple[Path, str]]) -> Iterator[Fault]:
    count: Counter[str] = Counter()
    for path, name in names:
        count[name] += 1
        if count[name] == 2:
            yield Fault(path, f"{what} {name} is declared twice")


def _conditions(kind: Kind) -> Iterator[Fault]:
    """Yield which conditions name no earlier question, or no answer to it."""
    for place, question in enumerate(kind.questions):
        if question.when is None:
            continue
        path = ("questions", place, "when")
        earlier = {before.name: before for before in kind.questions[:place]}.get(question.when.question)
        if earlier is None:
            text = f"{question.name} depends on {question.when.question}, which is not asked earlier"
            yield Fault((*path, "question"), text)
        elif earlier.each and not question.each:
            text = (
                f"{question.name} is asked once, but depends on a question that is asked about each stimulus"
            )
            yield Fault((*path, "question"), text)
        elif unknown := [answer for answer in question.when.answers if answer not in earlier.codes]:
            text = f"{question.name} depends on {unknown[0]!r}, which is not an answer to {earlier.name}"
            yield Fault((*path, "answers"), text)


def _attributes(kind: Kind) -> Iterator[Fault]:
    """Yield what does not fit a kind about attributes, or another kind."""
    if kind.about_attributes and not any(question.name == ABOUT_ATTRIBUTES for question in kind.questions):
        yield Fault(("unit",), f"no question about the attributes is called {ABOUT_ATTRIBUTES}")
    for place, question in enumerate(kind.questions):
        path = ("questions", place)
        if kind.about_attributes:
            if question.each:
                yield Fault(
                    (*path, "each"),
                    f"{question.name} is asked about each stimulus, but a screen shows only one",
                )
            continue
        if question.name == ABOUT_ATTRIBUTES:
            yield Fault((*path, "name"), f"there is no attribute to ask {question.name} about")
        if question.type == "marks":
            yield Fault(path, f"{question.name} marks attributes, but none are planned")


def _stimuli(kind: Kind) -> Iterator[Fault]:
    """Yield the questions that cannot be asked about the stimuli."""
    stimuli = kind.stimuli
    for place, question in enumerate(kind.questions):
        path, name = ("questions", place), question.name
        if question.type == "compare" and (stimuli.least, stimuli.most) != (2, 2):
            yield Fault(path, f"{name} needs exactly two stimuli to compare")
        if question.type == "rank" and (stimuli.most < 3 or stimuli.least < 2):
            yield Fault(path, f"{name} needs three or more stimuli to rank")
        if question.region is not None:
            yield from _places(kind, question, (*path, "region"))
        if question.type == "span" and not (stimuli.prompt_shown or stimuli.medium == "text"):
            yield Fault(path, f"{name} asks for words, but no text is shown")
        if question.type == "span" and stimuli.medium == "text" and stimuli.most > 1:
            yield Fault(path, f"{name} asks for words of one text, but several are shown")
        if question.each and (stimuli.most == 1 or question.type in {"compare", "rank", "span"}):
            yield Fault((*path, "each"), f"{name} cannot be asked about each stimulus")


def _places(kind: Kind, question: Question, path: Path) -> Iterator[Fault]:
    """Yield why a question cannot ask for a place in the image."""
    assert question.region is not None
    if kind.stimuli.medium != "image":
        yield Fault((*path, "shape"), f"{question.name} asks for a place, but no image is shown")
    one_answer = question.type in {"scale", "marks", "text"} or (
        question.type == "choice" and not question.several
    )
    if not one_answer:
        text = f"{question.name} has no single answer that a place could belong to"
        yield Fault((*path, "shape"), text)
    if kind.stimuli.most > 1 and not question.each:
        text = f"{question.name} asks for a place but does not say in which image"
        yield Fault((*path, "shape"), text)
    if unknown := [answer for answer in question.region.after if answer not in question.codes]:
        text = f"{question.name} asks for a place after {unknown[0]!r}, which is not an answer to it"
        yield Fault((*path, "after"), text)
