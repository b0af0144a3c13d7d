"""The interface of answerers: back-ends for models that answer questions. See docs/use/reference/probing.md."""

import base64
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, ClassVar, Protocol, runtime_checkable

Parameters = dict[str, Any]


@dataclass(frozen=True)
class AskedPicture:
    """The picture of a question: bytes without metadata, and their hash."""

    data: bytes
    media_type: str
    sha256: str

    @cached_property
    def data_url(self) -> str:
        return f"data:{self.media_type};base64,{base64.b64encode(self.data).decode()}"


@dataclass(frozen=True)
class QuestionFacts:
    """Facts about a question besides its words; only an invented model uses them."""

    kind: str  # choice, complete, describe or open
    first: str = ""  # for a choice: the option that the text names first, then the other one
    second: str = ""
    first_is_plus: bool = True
    group: str = ""  # the group in the picture, or the descriptor
    letter: str = ""


@dataclass(frozen=True)
class AnswerRequest:
    """One question to a model, which gets one answer for each seed."""

    prompt: str
    seeds: tuple[int, ...]  # 0 ≤ seed < 2**63
    system: str = ""
    picture: AskedPicture | None = None
    facts: QuestionFacts = QuestionFacts("open")
    # Whether requests cost money: a request that may have been answered is then not repeated.
    paid: bool = False


@dataclass(frozen=True)
class Reply:
    """One unchanged answer of a model, or the reason why there is none."""

    text: str = ""
    outcome: str = "done"  # done, declined (by a filter before or after the model) or failed
    reason: str = ""
    finish_reason: str = ""
    served_model: str = ""
    fingerprint: str = ""
    tokens_in: int | None = None
    tokens_out: int | None = None
    charged: bool = True  # whether it may be charged, in runs with a price
    provenance: dict[str, Any] = field(default_factory=dict)


class Answerer(Protocol):
    """A loaded model that can answer."""

    revision: str  # identifies what was loaded: a commit or a digest; empty if the model has none
    address: str  # its address, if that is part of the request's identity; otherwise empty

    def answer(self, request: AnswerRequest) -> list[Reply]:
        """Return a reply for each seed, or fewer if the model gives fewer at a time, but at least one.

        Raises DomainError with a sentence if this request cannot be answered; ModelUnusable if no request can.
        """


@runtime_checkable
class AnswersTogether(Answerer, Protocol):
    """A model that answers several questions in one call; each answer is the same as in a separate call."""

    at_once: int

    def answer_together(self, requests: Sequence[AnswerRequest]) -> list[list[Reply]]:
        """Answer all questions, in order."""


@runtime_checkable
class AnswersInParallel(Answerer, Protocol):
    """A remote model: `answer` may be called from this number of threads at the same time."""

    in_parallel: int

    def stop(self) -> None:
        """Stop on request: end all pauses between tries, now and later, with ModelUnusable."""

    def close(self) -> None:
        """Close open connections. No question may be asked afterwards."""


class AnswererBackend(Protocol):
    """A back-end for models. Creating it is cheap: large libraries are imported only by `load`."""

    name: ClassVar[str]
    title: ClassVar[str]
    needs_model_id: ClassVar[bool]
    wants_gpu: ClassVar[bool]

    def clean(self, parameters: Mapping[str, Any]) -> Parameters:
        """Return the parameters with defaults; raises DomainError with the name of a wrong one."""

    def load(self, *, model_id: str, parameters: Parameters, revision: str = "") -> Answerer:
        """Load the model; raises DomainError with a sentence if the model is not available."""
