"""Probe sets: the questions of a published protocol, or your own, as a file. probing.md in docs/ has its format."""

import hashlib
import json
import tomllib
from collections import Counter
from functools import lru_cache
from pathlib import Path
from typing import Any, Literal, Self

from pydantic import Field, ValidationError, model_validator

from foundation.errors import DomainError, NotFound
from generation.probing.questions import (
    AskedQuestion,
    Name,
    Order,
    ProbePart,
    ProbeQuestion,
    QuestionText,
)

_FOLDER = Path(__file__).parents[1] / "probe_sets"
# In the order of the page.
PUBLISHED = ("pairs", "pairs-open", "biasdora-words", "biasdora-images")
LARGEST_FILE = 1_000_000  # bytes
_SUFFIXES = (".toml", ".json")
_ORDERS: dict[str, tuple[Order, ...]] = {"published": ("published",), "both": ("published", "reversed")}


class ProbeSampling(ProbePart):
    """How a model draws its answers, unless a run says otherwise."""

    temperature: float = Field(ge=0, le=2)
    top_p: float = Field(gt=0, le=1)
    max_tokens: int = Field(ge=1, le=8_192)


class Experiment(ProbePart):
    """Questions that are analysed together, and the scenarios whose images they are about."""

    name: Name
    comparison: str = Field(default="", max_length=60)  # the factor whose comparison is the primary one
    scenarios: tuple[Name, ...] = Field(default=(), max_length=1_000)
    questions: tuple[ProbeQuestion, ...] = Field(min_length=1, max_length=200)

    @model_validator(mode="after")
    def _consistent(self) -> Self:
        _refuse_doubles("question", [question.name for question in self.questions])
        _refuse_doubles("scenario", list(self.scenarios))
        for question in self.questions:
            if strange := sorted(set(question.options_by_scenario) - set(self.scenarios)):
                raise ValueError(f"{question.name}: {strange[0]} is not a scenario of {self.name}")
        return self

    def choices(self, scenario: str, *, order: Order = "published") -> list[AskedQuestion]:
        """Return the choices asked about images of a scenario."""
        return [
            question.asked(scenario=scenario, order=order)
            for question in self.questions
            if question.kind == "choice" and (question.options or scenario in question.options_by_scenario)
        ]


class ImagePrompt(ProbePart):
    """The prompt for images of a descriptor, which are then described."""

    form: Literal["singular", "plural"]
    text: QuestionText


class ProbeSet(ProbePart):
    """The content of a file."""

    title: str = Field(min_length=1, max_length=200)
    source: str = Field(default="", max_length=400)
    protocol: Literal["pairs", "biasdora", ""] = ""
    runs: int = Field(ge=1, le=100)  # number of times that each question is asked
    orders: Literal["published", "both"] = "both"
    sampling: ProbeSampling
    letters: str = Field(default="", max_length=26, pattern="^[a-z]*$")
    images_per_prompt: int = Field(default=0, ge=0, le=1_000)
    image_prompts: tuple[ImagePrompt, ...] = ()
    experiments: tuple[Experiment, ...] = Field(min_length=1, max_length=50)

    @model_validator(mode="after")
    def _consistent(self) -> Self:
        _refuse_doubles("experiment", [experiment.name for experiment in self.experiments])
        _refuse_doubles("letter", list(self.letters))
        kinds = {question.kind for experiment in self.experiments for question in experiment.questions}
        if ("complete" in kinds) != bool(self.letters):
            raise ValueError("sentences to complete need letters, and other questions must not have letters")
        return self

    @property
    def digest(self) -> str:
        """SHA-256 of the canonical JSON: the same for a file that is only laid out differently."""
        content = json.dumps(
            self.model_dump(mode="json"), sort_keys=True, separators=(",", ":"), ensure_ascii=False
        )
        return hashlib.sha256(content.encode()).hexdigest()

    def experiment(self, name: str) -> Experiment:
        """Return the experiment of this name; raises KeyError if there is none."""
        return {experiment.name: experiment for experiment in self.experiments}[name]

    def orders_asked(self, orders: str = "") -> tuple[Order, ...]:
        """Return the orders of options for `published` or `both`, or for the set's default."""
        return _ORDERS[orders or self.orders]

    def questions_per_image(self, experiment: Experiment, scenario: str) -> int:
        """Return the number of questions about one image of a scenario, in one order and one run."""
        free_text = sum(question.kind in {"open", "describe"} for question in experiment.questions)
        chosen = sum(
            question.kind == "choice"
            and (question.options is not None or scenario in question.options_by_scenario)
            for question in experiment.questions
        )
        return chosen + free_text


def probe_set(name: str) -> ProbeSet:
    """Return a published probe set by its name, or a set from a .toml file (in a release, .json) by its path."""
    path = _FOLDER / f"{name}.toml" if name in PUBLISHED else Path(name).expanduser()
    if path.suffix not in _SUFFIXES:
        raise NotFound(
            "probe_set_unknown",
            f"There is no probe set “{name}”. Choose {', '.join(PUBLISHED)}, or enter the path of a .toml file.",
        )
    try:
        with path.open("rb") as file:
            content = file.read(LARGEST_FILE + 1)
    except OSError as error:
        raise DomainError("probe_set_unreadable", f"{path} cannot be read: {error.strerror}.") from None
    return parsed(content, path.name)


def published_probe_sets() -> dict[str, ProbeSet]:
    """Return the sets that are part of the platform, by name."""
    return {name: probe_set(name) for name in PUBLISHED}


@lru_cache(maxsize=16)
def parsed(content: bytes, name: str) -> ProbeSet:
    """Return the probe set that a file contains; raises DomainError `probe_set_unreadable` or `probe_set_invalid`."""
    if len(content) > LARGEST_FILE:
        raise DomainError("probe_set_unreadable", f"{name} is larger than {LARGEST_FILE // 1_000} kB.")
    try:
        text = content.decode("utf-8")
        fields: Any = json.loads(text) if name.endswith(".json") else tomllib.loads(text)
    except (ValueError, RecursionError) as error:
        language = "JSON" if name.endswith(".json") else "TOML"
        raise DomainError("probe_set_unreadable", f"{name} is not {language}: {error}") from None
    try:
        return ProbeSet.model_validate(fields)
    except ValidationError as error:
        first = error.errors(include_url=False, include_input=False)[0]
        place = ".".join(str(part) for part in first["loc"])
        problem = first["msg"].removeprefix("Value error, ")
        raise DomainError(
            "probe_set_invalid",
            f"{name} is not a probe set: {f'{place}: ' if place else ''}{problem}; see "
            f"docs/use/reference/probing.md.",
        ) from None


def _refuse_doubles(noun: str, names: list[str]) -> None:
    doubles = [name for name, count in Counter(names).items() if count > 1]
    if doubles:
        raise ValueError(f"the {noun} {doubles[0]} appears twice")
