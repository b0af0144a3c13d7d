"""Whether a pipeline's numbers are finite, seen before they become a picture: the conversion turns NaN into black."""

from collections.abc import Callable
from typing import Any

import numpy as np


class FiniteOutput:
    """Watches what a pipeline converts into pictures, without changing a byte of what is finite.

    Most pipelines convert by their `image_processor`, the others by `numpy_to_pil`; both see every picture of a call.
    """

    def __init__(self, pipeline: Any) -> None:
        self._finite: list[bool] = []
        processor = getattr(pipeline, "image_processor", None)
        if processor is not None:
            processor.postprocess = self._watched(processor.postprocess)
        pipeline.numpy_to_pil = self._watched(pipeline.numpy_to_pil)

    def restart(self) -> None:
        """Forget what was seen: a call begins."""
        self._finite = []

    def is_finite(self, position: int) -> bool:
        """Return whether a picture of the call had only finite numbers, as far as they were seen."""
        return position >= len(self._finite) or self._finite[position]

    def _watched(self, convert: Callable[..., Any]) -> Callable[..., Any]:
        def watched(images: Any, *args: Any, **options: Any) -> Any:
            return convert(self._noted(images), *args, **options)

        return watched

    def _noted(self, images: Any) -> Any:
        """Note each picture; put zeros where a number is not finite, about which the conversion would only warn."""
        finite = _each_finite(images)
        earlier = self._finite or [True] * len(finite)
        # The safety checker may look at a call's pictures before they are handed out: once not finite is enough.
        if finite:
            self._finite = [before and now for before, now in zip(earlier, finite, strict=False)]
        return images if all(finite) else _zeroed(images)


def _each_finite(images: Any) -> list[bool]:
    """Return whether every number of each picture is finite."""
    if isinstance(images, np.ndarray):
        flat = np.isfinite(images).reshape(len(images), -1)
        return [bool(row.all()) for row in flat]
    import torch

    if not isinstance(images, torch.Tensor) or not images.is_floating_point():
        return []
    return [bool(is_finite) for is_finite in torch.isfinite(images).flatten(1).all(dim=1)]


def _zeroed(images: Any) -> Any:
    if isinstance(images, np.ndarray):
        return np.nan_to_num(images, posinf=0.0, neginf=0.0)
    import torch

    return torch.nan_to_num(images, posinf=0.0, neginf=0.0)
