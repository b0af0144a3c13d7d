"""The interface of a model back-end; docs/develop/adding-a-backend.md walks through a complete example."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, ClassVar, Protocol, runtime_checkable

from foundation.errors import DomainError

if TYPE_CHECKING:
    from PIL.Image import Image as Picture

Parameters = dict[str, Any]


class ModelUnusable(DomainError):
    """No image can be made: the run stops, and the current request stays pending and is not paid."""


@dataclass(frozen=True)
class ImageRequest:
    """A request for one image."""

    prompt: str
    seed: int  # 0 ≤ seed < 2**63
    group: str | None = None  # name of the identity group; models that take only text ignore it
    attribute: str | None = None
    # Prompt of the scenario's first image, for models that derive the others from it; "" without a scenario.
    first_prompt: str = ""
    # Whether each image costs money: if so, an image that may have been made is not requested again.
    paid: bool = False


@dataclass(frozen=True)
class Drawn:
    """The result of one request: a picture made here, a file from an endpoint, or an outcome without image.

    A picture is stored as PNG; `data` is a PNG, JPEG or WebP file, which is checked before it is kept.
    """

    data: bytes = b""
    picture: "Picture | None" = None
    outcome: str = "done"  # done, blanked (by its own safety checker), refused or failed
    reason: str = ""
    provenance: dict[str, Any] = field(default_factory=dict)
    # Whether this result must be paid for, in runs that have a price.
    charged: bool = True
    # Advice if the model computed no image, such as another numerical type.
    remedy: str = ""


class Model(Protocol):
    """A model that is loaded and can draw."""

    revision: str  # commit or digest of what was loaded; empty when the model has none

    def draw(self, request: ImageRequest) -> Drawn:
        """Make one image. The same request gives the same bytes, regardless of earlier requests.

        Raises DomainError, in one sentence, when this request cannot be met; ModelUnusable when no request can.
        """


@runtime_checkable
class DrawsTogether(Protocol):
    """A model that can make several images in one call, if the run was planned that way."""

    at_once: int

    def draw_together(self, requests: Sequence[ImageRequest]) -> list[Drawn]:
        """Return one result per request, in order. An image may depend on the others; provenance records them."""


@runtime_checkable
class DrawsInParallel(Model, Protocol):
    """A remote model: `draw` may be called from `in_parallel` threads at the same time."""

    in_parallel: int

    def stop(self) -> None:
        """End every pause between retries, current and future, with ModelUnusable."""


class Backend(Protocol):
    """A way to reach models. Creating one is cheap: nothing heavy is imported before `load`."""

    name: ClassVar[str]
    title: ClassVar[str]
    needs_model_id: ClassVar[bool]
    wants_gpu: ClassVar[bool]

    def clean(self, parameters: Mapping[str, Any], *, groups: Sequence[str]) -> Parameters:
        """Return the parameters with defaults filled in; raise DomainError naming an invalid one."""

    def load(self, *, model_id: str, parameters: Parameters, revision: str = "") -> Model:
        """Load the model; raise DomainError, in one sentence, when it is not available.

        `revision` is the revision of the run's first images, or "". If the source has several, load this one.
        """
