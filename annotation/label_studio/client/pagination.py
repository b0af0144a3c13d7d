"""Reading all tasks of a project: in ranges of their numbers, two ranges at a time, a few pages in memory.

Paging by count would skip a task for each task that is deleted meanwhile; numbers do not change. Label Studio
serialises one task at a time on one core, so two parallel requests halve the time.
"""

from collections import deque
from collections.abc import Callable, Collection, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from itertools import islice
from typing import Any

import orjson

from annotation.label_studio.client.errors import Trouble

_AT_ONCE = 2
Page = list[dict[str, Any]]


@dataclass(frozen=True)
class Span:
    """Tasks with numbers in a range."""

    start: int
    end: int | None = None

    def query(self) -> str:
        """Return the filter for Label Studio's list of tasks."""
        if self.end is None:
            condition = {"operator": "greater", "value": self.start - 1}
        else:
            condition = {"operator": "in", "value": {"min": self.start, "max": self.end}}
        item = {"filter": "filter:tasks:id", "type": "Number", **condition}
        # The default order is by number; requesting this order explicitly takes 10 % longer.
        return orjson.dumps({"filters": {"conjunction": "and", "items": [item]}}).decode()

    def holds(self, number: int) -> bool:
        return self.start <= number and (self.end is None or number <= self.end)


# Requests the first tasks of a span: one page, at least one task, and the total number of tasks in the span.
Ask = Callable[[Span], tuple[Page, int]]
# Called with a task at which the server fails, and the error.
Failing = Callable[[int, Trouble], None]


def fail(_number: int, trouble: Trouble) -> None:
    """Stop at the first task at which the server fails."""
    raise trouble


def pages(ask: Ask, span: Span) -> Iterator[Page]:
    """Yield the tasks of a span page by page."""
    while True:
        page, total = ask(span)
        if page:
            yield page
        if len(page) >= total:
            return
        span = Span(page[-1]["id"] + 1, span.end)


def pages_of(ask: Ask, numbers: Collection[int], *, size: int, failing: Failing = fail) -> Iterator[Page]:
    """Yield the tasks with these numbers, and others between them, in the order of their numbers.

    One task can make Label Studio fail for a whole page. The page is then halved until this task is isolated and
    reported to `failing`, which raises if reading cannot continue.
    """
    ordered = iter(sorted(numbers))
    spans = iter(lambda: list(islice(ordered, size)), [])
    waiting: deque[tuple[list[int], Future[list[Page]]]] = deque()
    with ThreadPoolExecutor(_AT_ONCE, thread_name_prefix="label-studio") as threads:
        try:
            for span in spans:
                waiting.append((span, threads.submit(_whole, ask, span)))
                if len(waiting) > _AT_ONCE:
                    yield from _result(ask, *waiting.popleft(), failing)
            while waiting:
                yield from _result(ask, *waiting.popleft(), failing)
        finally:
            for _, future in waiting:
                future.cancel()


def _whole(ask: Ask, numbers: list[int]) -> list[Page]:
    return list(pages(ask, Span(numbers[0], numbers[-1])))


def _result(ask: Ask, numbers: list[int], request: Future[list[Page]], failing: Failing) -> Iterator[Page]:
    try:
        pages = request.result()
    except Trouble as trouble:
        if trouble.code != "server_error":
            raise
        yield from _by_halves(ask, numbers, trouble, failing)
    else:
        yield from pages


def _by_halves(ask: Ask, numbers: list[int], trouble: Trouble, failing: Failing) -> Iterator[Page]:
    """Yield the readable tasks among these, which failed when they were requested together."""
    if len(numbers) == 1:
        failing(numbers[0], trouble)
        return
    middle = len(numbers) // 2
    for half in (numbers[:middle], numbers[middle:]):
        try:
            pages = _whole(ask, half)
        except Trouble as again:
            if again.code != "server_error":
                raise
            yield from _by_halves(ask, half, again, failing)
        else:
            yield from pages
