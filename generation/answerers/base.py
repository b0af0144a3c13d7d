"""What an answerer is: a way to reach models that answer questions. See docs/use/reference/probing.md."""

import base64
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, ClassVar, Protocol, runtime_checkable

Parameters = dict[str, Any]


@dataclass(frozen=True)
class AskedPicture:
    """The picture that a question is about: bytes without metadata, and their hash."""

    data: bytes
    media_type: str
    sha256: str

    @cached_property
    def data_url(self) -> str:
        return f"data:{self.media_type};base64,{base64.b64encode(self.data).decode()}"


@dataclass(frozen=True)
class QuestionFacts:
    """What is known of a question beside its words: only an invented model looks at it."""

    kind: str  # choice, complete, describe or open
    first: str = ""  # of a choice: the option that the text names first, and the other one
    second: str = ""
    first_is_plus: bool = True
    group: str = ""  # whom the picture shows, or the descriptor
    letter: str = ""


@dataclass(frozen=True)
class AnswerRequest:
    """One question put to a model, for as many answers as there are seeds."""

    prompt: str
    seeds: tuple[int, ...]  # 0 ≤ seed < 2**63
    system: str = ""
    picture: AskedPicture | None = None
    facts: QuestionFacts = QuestionFacts("open")
    # Whether it has to be paid: then what may have been answered is not asked for once more.
    paid: bool = False


@dataclass(frozen=True)
class Reply:
    """One answer of a model, as it came, or why there is none."""

    text: str = ""
    outcome: str = "done"  # done, declined (by a filter before or behind the model) or failed
    reason: str = ""
    finish_reason: str = ""
    served_model: str = ""
    fingerprint: str = ""
    tokens_in: int | None = None
    tokens_out: int | None = None
    charged: bool = True  # whether it may have to be paid, in runs that have a price
    provenance: dict[str, Any] = field(default_factory=dict)


class Answerer(Protocol):
    """A model that is loaded and can answer."""

    revision: str  # what exactly was loaded: a commit, or a digest; empty when the model has none
    address: str  # where it is, if that is part of what is asked; else empty

    def answer(self, request: AnswerRequest) -> list[Reply]:
        """Return a reply for each seed, or fewer where the model gives fewer at a time, but at least one.

        Raises DomainError, in one sentence, when this request cannot be met; ModelUnusable when none can.
        """


@runtime_checkable
class AnswersTogether(Answerer, Protocol):
    """A model that answers several questions in one call; each answer is the same as if it was asked alone."""

    at_once: int

    def answer_together(self, requests: Sequence[AnswerRequest]) -> list[list[Reply]]:
        """Answer all of them, in their order."""


@runtime_checkable
class AnswersInParallel(Answerer, Protocol):
    """A model elsewhere: `answer` may be called from this many threads at the same time."""

    in_parallel: int

    def stop(self) -> None:
        """Someone asked to stop: end every pause between tries, now and later, with ModelUnusable."""

    def close(self) -> None:
        """Hang up the connections that are kept. Nothing is asked afterwards."""


class AnswererBackend(Protocol):
    """A way to reach models. Cheap to make: nothing heavy is imported before `load`."""

    name: ClassVar[str]
    title: ClassVar[str]
    needs_model_id: ClassVar[bool]
    wants_gpu: ClassVar[bool]

    def clean(self, parameters: Mapping[str, Any]) -> Parameters:
        """Return the parameters with defaults filled in; raise DomainError naming the one that is wrong."""

    def load(self, *, model_id: str, parameters: Parameters, revision: str = "") -> Answerer:
        """Get ready to answer; raise DomainError in one sentence when the model cannot be had."""
