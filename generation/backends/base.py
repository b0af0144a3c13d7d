"""What a model back-end is: see docs/adding-a-backend.md for one written from beginning to end."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar, Protocol

Parameters = dict[str, Any]


@dataclass(frozen=True)
class ImageRequest:
    """One image asked of a model."""

    prompt: str
    seed: int  # 0 ≤ seed < 2**63
    group: str | None = None  # name of the identity group; models that take only text never look at it
    attribute: str | None = None


@dataclass(frozen=True)
class Drawn:
    """What a model answered: `data` holds a PNG, JPEG or WebP file, unless it blanked or refused."""

    data: bytes = b""
    outcome: str = "done"  # done, blanked (by its own safety checker) or refused
    reason: str = ""
    provenance: dict[str, Any] = field(default_factory=dict)


class Model(Protocol):
    """A model that is loaded and can draw."""

    revision: str  # what exactly was loaded: a commit, or a digest; empty when the model has none

    def draw(self, request: ImageRequest) -> Drawn:
        """Make one image. The same request gives the same bytes, whatever was drawn before.

        Raises DomainError, in one sentence, when this request cannot be met.
        """


class Backend(Protocol):
    """A way to reach models. Cheap to make: nothing heavy is imported before `load`."""

    name: ClassVar[str]
    title: ClassVar[str]
    needs_model_id: ClassVar[bool]
    queue: ClassVar[str]  # default, or gpu

    def clean(self, parameters: Mapping[str, Any], *, groups: Sequence[str]) -> Parameters:
        """Return the parameters with defaults filled in; raise DomainError naming the one that is wrong."""

    def load(self, *, model_id: str, parameters: Parameters) -> Model:
        """Get ready to draw; raise DomainError in one sentence when the model cannot be had."""
