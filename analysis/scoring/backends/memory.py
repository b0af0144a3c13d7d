"""Batches that shrink when memory runs out."""

from collections.abc import Callable, Sequence
from typing import Any, TypeVar

from analysis.scoring.backends.model_files import FAILURES, first_line
from foundation.errors import DomainError

T = TypeVar("T")
R = TypeVar("R")
_PHRASES = ("out of memory", "not enough memory", "can't allocate memory", "cannot allocate memory")


class Batches:
    """Calls a model on batches of at most `size` items; halves the size whenever memory runs out."""

    def __init__(self, size: int) -> None:
        self.size = size

    def map(self, call: Callable[[Sequence[T]], Sequence[R]], items: Sequence[T]) -> list[R]:
        """Return the results of `call` for all items, in the order of `items`."""
        results: list[R] = []
        while len(results) < len(items):
            batch = items[len(results) : len(results) + self.size]
            try:
                results.extend(call(batch))
            except (*FAILURES, MemoryError) as error:
                if not _out_of_memory(error):
                    raise DomainError("model_failed", f"The model failed: {first_line(error)}") from error
                self._halve(len(batch))
                _release()
        return results

    def _halve(self, tried: int) -> None:
        if tried <= 1:
            raise DomainError(
                "out_of_memory",
                "There is not enough memory for a single item. Use a smaller model, another device, or fewer captions "
                "of each image.",
            ) from None
        self.size = max(1, tried // 2)


def _out_of_memory(error: BaseException) -> bool:
    # torch raises OutOfMemoryError on a graphics card, and a plain RuntimeError on the CPU.
    text = str(error).lower()
    return isinstance(error, MemoryError) or any(phrase in text for phrase in _PHRASES)


def _release() -> None:
    import torch

    if torch.cuda.is_available():
        torch.cuda.empty_cache()


def device_of(name: str) -> Any:
    """Return the named torch device; without a name, the graphics card if there is one, else the CPU."""
    import torch

    try:
        device = torch.device(name or ("cuda" if torch.cuda.is_available() else "cpu"))
        torch.empty(1, device=device)
    except (RuntimeError, AssertionError) as error:
        message = f"The device “{name}” cannot be used: {first_line(error)}"
        raise DomainError("device_unavailable", message) from None
    return device
