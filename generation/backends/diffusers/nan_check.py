"""Check a pipeline's output for NaN and infinity before conversion to a picture, which turns NaN into black."""

from collections.abc import Callable
from typing import Any

import numpy as np


class FiniteOutput:
    """Checks the arrays that a pipeline converts into pictures; finite arrays stay unchanged.

    Most pipelines convert with `image_processor`, the others with `numpy_to_pil`, each time all pictures of a call.
    """

    def __init__(self, pipeline: Any) -> None:
        self._finite: list[bool] = []
        processor = getattr(pipeline, "image_processor", None)
        if processor is not None:
            processor.postprocess = self._watched(processor.postprocess)
        pipeline.numpy_to_pil = self._watched(pipeline.numpy_to_pil)

    def restart(self) -> None:
        """Forget the previous call, before a new one."""
        self._finite = []

    def is_finite(self, position: int) -> bool:
        """Return whether all numbers of a picture of the call were finite; True if they were not seen."""
        return position >= len(self._finite) or self._finite[position]

    def _watched(self, convert: Callable[..., Any]) -> Callable[..., Any]:
        def watched(images: Any, *args: Any, **options: Any) -> Any:
            return convert(self._noted(images), *args, **options)

        return watched

    def _noted(self, images: Any) -> Any:
        """Record each picture; replace numbers that are not finite by 0, to avoid a warning from the conversion."""
        finite = _each_finite(images)
        earlier = self._finite or [True] * len(finite)
        # The safety checker may convert the pictures of a call first: a picture must be finite each time.
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
