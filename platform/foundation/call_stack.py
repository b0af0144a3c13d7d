"""Memory of Python's call stack, in one piece."""

from collections.abc import Callable
from functools import wraps
from typing import ParamSpec, TypeVar

P = ParamSpec("P")
T = TypeVar("T")

# Slots of 8 bytes that the outermost call reserves and does not use. CPython doubles the size of a chunk, 16 kB, until
# such a call fits with a thousand slots to spare. The rest, half a megabyte, has room for more calls than Python's
# recursion limit allows. Memory that is reserved but not used takes none of the machine's.
_SLOTS = 2**16


def in_one_chunk(function: Callable[P, T]) -> Callable[P, T]:
    """Return `function` with all calls below it in one chunk of memory.

    CPython keeps the frames of calls in chunks of 16 kB, which it maps and unmaps as calls need them: in a loop at a
    depth where a chunk ends, at each call. Since 3.13.13 and 3.14.4, chunks are kept
    (https://github.com/python/cpython/issues/142183).
    """

    def call(*args: P.args, **kwargs: P.kwargs) -> T:
        return function(*args, **kwargs)

    call.__code__ = call.__code__.replace(co_stacksize=_SLOTS)
    return wraps(function)(call)
