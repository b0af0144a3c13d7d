"""Making the images of a scenario from its first image (image to image)."""

import hashlib
import inspect
from collections.abc import Callable, Mapping
from typing import Any

from foundation.errors import DomainError
from generation.backends.base import ImageRequest, Parameters
from generation.backends.diffusers.nan_check import FiniteOutput

# Arguments that the first image determines.
_OF_THE_FIRST = frozenset({"width", "height"})


class Variation:
    """The image-to-image pipeline of a text-to-image pipeline; both share all weights."""

    def __init__(self, pipeline: Any, options: Mapping[str, Any], parameters: Parameters) -> None:
        if parameters["offload"] != "none":
            message = "Images can be varied only with the whole model on the device; leave out offload."
            raise DomainError("parameter_not_taken", message, fields={"offload": message})
        self.pipeline = _image_to_image(pipeline)
        self.pipeline.set_progress_bar_config(disable=True)
        self.finite = FiniteOutput(self.pipeline)
        self.strength = float(parameters["strength"])
        accepted = inspect.signature(self.pipeline.__call__).parameters.keys() - _OF_THE_FIRST
        self.options = {name: value for name, value in options.items() if name in accepted}
        self._made: tuple[tuple[str, int], Any] | None = None

    def first(self, request: ImageRequest, make: Callable[[ImageRequest], Any]) -> Any:
        """Return the first image of the scenario; only the most recent first image is cached.

        It depends only on its prompt and seed, so any worker can make it without waiting for another.
        """
        key = request.first_prompt, request.seed
        if self._made is None or self._made[0] != key:
            self._made = key, make(request)
        return self._made[1]

    def facts(self, request: ImageRequest) -> dict[str, Any]:
        """Return the provenance of the variation."""
        picture = self._made[1] if self._made is not None else None
        digest = hashlib.sha256(picture.tobytes()).hexdigest() if picture is not None else ""
        return {
            "pipeline": type(self.pipeline).__name__,
            "strength": self.strength,
            "first_prompt": request.first_prompt,
            "first_pixels_sha256": digest,
        }


def _image_to_image(pipeline: Any) -> Any:
    from diffusers import AutoPipelineForImage2Image

    try:
        return AutoPipelineForImage2Image.from_pipe(pipeline)
    except ValueError:
        message = f"diffusers has no image-to-image pipeline that matches a {type(pipeline).__name__}."
        raise DomainError("variation_unsupported", message, fields={"parallel": message}) from None
