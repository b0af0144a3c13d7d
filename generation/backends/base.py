"""What a model back-end is: see docs/develop/adding-a-backend.md for one written from beginning to end."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, ClassVar, Protocol, runtime_checkable

from foundation.errors import DomainError

if TYPE_CHECKING:
    from PIL.Image import Image as Picture

Parameters = dict[str, Any]


class ModelUnusable(DomainError):
    """This was not drawn, and nothing else could be: the run stops, and what it was at stays to be made, unpaid."""


@dataclass(frozen=True)
class ImageRequest:
    """One image asked of a model."""

    prompt: str
    seed: int  # 0 ≤ seed < 2**63
    group: str | None = None  # name of the identity group; models that take only text never look at it
    attribute: str | None = None
    # The prompt of the first image of its scenario, for models that make the others from that one; "" without scenario.
    first_prompt: str = ""
    # Whether each image has to be paid: then what may have been made is not asked for once more.
    paid: bool = False


@dataclass(frozen=True)
class Drawn:
    """What a model answered, unless it blanked or refused: a picture it made here, or a file it got from elsewhere.

    A picture is stored as PNG; `data` is a PNG, JPEG or WebP file, which is looked at before it is kept.
    """

    data: bytes = b""
    picture: "Picture | None" = None
    outcome: str = "done"  # done, blanked (by its own safety checker), refused or failed
    reason: str = ""
    provenance: dict[str, Any] = field(default_factory=dict)
    # Whether one image has to be paid, in runs that have a price.
    charged: bool = True
    # What would help where the model computed no image, such as another numerical type.
    remedy: str = ""


class Model(Protocol):
    """A model that is loaded and can draw."""

    revision: str  # what exactly was loaded: a commit, or a digest; empty when the model has none

    def draw(self, request: ImageRequest) -> Drawn:
        """Make one image. The same request gives the same bytes, whatever was drawn before.

        Raises DomainError, in one sentence, when this request cannot be met; ModelUnusable when none can.
        """


@runtime_checkable
class DrawsTogether(Protocol):
    """A model that makes several images in one call, if the run was planned so."""

    at_once: int

    def draw_together(self, requests: Sequence[ImageRequest]) -> list[Drawn]:
        """Answer all of them, in their order. What comes may depend on which they are: provenance says so."""


@runtime_checkable
class DrawsInParallel(Model, Protocol):
    """A model elsewhere: `draw` may be called from this many threads at the same time."""

    in_parallel: int

    def stop(self) -> None:
        """Someone asked to stop: end every pause between tries, now and later, with ModelUnusable."""


class Backend(Protocol):
    """A way to reach models. Cheap to make: nothing heavy is imported before `load`."""

    name: ClassVar[str]
    title: ClassVar[str]
    needs_model_id: ClassVar[bool]
    wants_gpu: ClassVar[bool]

    def clean(self, parameters: Mapping[str, Any], *, groups: Sequence[str]) -> Parameters:
        """Return the parameters with defaults filled in; raise DomainError naming the one that is wrong."""

    def load(self, *, model_id: str, parameters: Parameters, revision: str = "") -> Model:
        """Get ready to draw; raise DomainError in one sentence when the model cannot be had.

        `revision` is that of the run's first images, or "": where several can be had, it is this one.
        """
