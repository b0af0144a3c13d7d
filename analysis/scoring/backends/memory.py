"""Batches that become smaller when memory runs out."""

from collections.abc import Callable, Sequence
from typing import Any, TypeVar

from analysis.scoring.backends.model_files import FAILURES, first_line
from foundation.errors import DomainError

T = TypeVar("T")
R = TypeVar("R")
_SAYINGS = ("out of memory", "not enough memory", "can't allocate memory", "cannot allocate memory")


class Batches:
    """Calls a model on at most `size` items; when memory runs out, on half as many from then on."""

    def __init__(self, size: int) -> None:
        self.size = size

    def map(self, call: Callable[[Sequence[T]], Sequence[R]], items: Sequence[T]) -> list[R]:
        """Return what `call` returns for all items, in their order, however often it had to be called."""
        done: list[R] = []
        while len(done) < len(items):
            some = items[len(done) : len(done) + self.size]
            try:
                done.extend(call(some))
            except (*FAILURES, MemoryError) as error:
                if not _out_of_memory(error):
                    raise DomainError("model_failed", f"The model failed: {first_line(error)}") from error
                self._halve(len(some))
                _release()
        return done

    def _halve(self, tried: int) -> None:
        if tried <= 1:
            raise DomainError(
                "out_of_memory",
                "There is not enough memory for a single item: use a smaller model, another device, or fewer "
                "captions an image.",
            ) from None
        self.size = max(1, tried // 2)


def _out_of_memory(error: BaseException) -> bool:
    # torch raises OutOfMemoryError on a graphics card, and a plain RuntimeError on the processor.
    said = str(error).lower()
    return isinstance(error, MemoryError) or any(saying in said for saying in _SAYINGS)


def _release() -> None:
    import torch

    if torch.cuda.is_available():
        torch.cuda.empty_cache()


def device_of(wanted: str) -> Any:
    """Return the torch device asked for, or the graphics card where there is one and none was named."""
    import torch

    try:
        device = torch.device(wanted or ("cuda" if torch.cuda.is_available() else "cpu"))
        torch.empty(1, device=device)
    except (RuntimeError, AssertionError) as error:
        said = f"The device “{wanted}” cannot be used: {first_line(error)}"
        raise DomainError("device_unavailable", said) from None
    return device
