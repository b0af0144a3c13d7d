"""Images go to a captioner: a batch at a time, or one by one to an endpoint that answers several at once."""

from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from dataclasses import dataclass

from analysis.scoring.backends.captioners import Captioner, CaptionInput, CaptionsAlone, Written
from analysis.scoring.backends.memory import Batches
from analysis.scoring.inputs.scope import ScopeImage


@dataclass(frozen=True)
class Ready:
    """An image as the captioner takes it, or why it cannot be read."""

    image: ScopeImage
    given: CaptionInput | None
    reason: str = ""


Answer = tuple[Ready, Written | None]  # None: it was not asked about


def answers(
    captioner: Captioner, ready: Iterable[list[Ready]], *, batches: Batches, check: Callable[[], None]
) -> Iterator[list[Answer]]:
    """Yield what was written about each image, some at a time; `check` raises where the work should stop."""
    if isinstance(captioner, CaptionsAlone):
        yield from _one_by_one(captioner, ready, check)
        return
    for batch in ready:
        check()
        given = [one.given for one in batch if one.given is not None]
        written = iter(batches.map(captioner.caption, given))
        yield [(one, None if one.given is None else next(written)) for one in batch]


def _one_by_one(
    captioner: CaptionsAlone, ready: Iterable[list[Ready]], check: Callable[[], None]
) -> Iterator[list[Answer]]:
    """Keep as many calls under way as the captioner takes; what was asked is waited for before the work stops."""
    waiting: dict[Future[Written], Ready] = {}
    left = (one for batch in ready for one in batch)
    problem: Exception | None = None
    with ThreadPoolExecutor(captioner.in_parallel, thread_name_prefix="endpoint") as pool:
        while True:
            unread: list[Answer] = []
            while problem is None and len(waiting) < captioner.in_parallel:
                try:
                    check()
                except Exception as error:
                    problem = error  # raised when every answer has been handed out
                    break
                one = next(left, None)
                if one is None:
                    break
                if one.given is None:
                    unread.append((one, None))
                else:
                    waiting[pool.submit(captioner.caption_alone, one.given)] = one
            if unread:
                yield unread
            if not waiting:
                break
            ended = wait(waiting, return_when=FIRST_COMPLETED).done
            came = [(waiting.pop(future), future.result()) for future in ended]
            if any(written.stopped is not None for _, written in came):
                problem = problem or next(
                    written.stopped for _, written in came if written.stopped is not None
                )
            yield list(came)
    if problem is not None:
        raise problem
