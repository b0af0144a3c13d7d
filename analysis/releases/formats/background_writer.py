"""Write pages in a thread while the next page is read: Arrow releases Python's lock while it writes."""

from collections import deque
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from types import TracebackType
from typing import Self

# Pages that wait in memory; more would not make it faster.
_WAITING = 2


class BackgroundWriter:
    """Runs calls one after the other in a thread. An error is raised at the next `submit`, or at the end."""

    def __init__(self) -> None:
        self._thread = ThreadPoolExecutor(max_workers=1, thread_name_prefix="writing a release")
        self._waiting: deque[Future[None]] = deque()

    def submit(self, work: Callable[[], None]) -> None:
        """Run `work` after all earlier calls; wait while too many are queued."""
        while len(self._waiting) >= _WAITING:
            self._waiting.popleft().result()
        self._waiting.append(self._thread.submit(work))

    def finish(self) -> None:
        """Wait until every call has returned."""
        while self._waiting:
            self._waiting.popleft().result()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        try:
            if error is None:
                self.finish()
        finally:
            self._thread.shutdown(cancel_futures=True)
