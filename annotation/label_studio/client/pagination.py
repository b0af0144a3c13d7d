"""Reading all tasks of a project: in ranges of their numbers, two ranges at a time, a few pages in memory.

Paging by count would skip a task for each task deleted meanwhile; numbers do not change. Label Studio serialises
one task at a time on one core, so two requests at once halve the time.
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
    """Tasks from one number on, up to another."""

    start: int
    end: int | None = None

    def query(self) -> str:
        """Return it as Label Studio's list of tasks understands it."""
        if self.end is None:
            condition = {"operator": "greater", "value": self.start - 1}
        else:
            condition = {"operator": "in", "value": {"min": self.start, "max": self.end}}
        item = {"filter": "filter:tasks:id", "type": "Number", **condition}
        # In order of their numbers if nothing else is asked for; asking for that order costs a tenth of the time.
        return orjson.dumps({"filters": {"conjunction": "and", "items": [item]}}).decode()

    def holds(self, number: int) -> bool:
        return self.start <= number and (self.end is None or number <= self.end)


# Asks for the first tasks of a span: as many as a page holds, one at least, and how many the span has in all.
Ask = Callable[[Span], tuple[Page, int]]
# Told of a task at which the server fails, and how.
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
    """Yield the tasks with these numbers, and others that lie between them, in order of their numbers.

    One task can make Label Studio fail at all that are asked for with it: those are asked for by ever fewer, until
    it stands alone; `failing` hears of it, and raises where there is no going on.
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
    """Yield what can be read of these tasks, which failed when they were asked for together."""
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
