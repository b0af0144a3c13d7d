"""Images go to a captioner: a batch at a time, or one by one to an endpoint that answers several at once."""

from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from dataclasses import dataclass

from analysis.scoring.backends.captioners import Captioner, CaptionInput, CaptionsAlone, WrittenCaptions
from analysis.scoring.backends.memory import Batches
from analysis.scoring.inputs.scope import ScopeImage


@dataclass(frozen=True)
class CaptionRequest:
    """An image as the captioner takes it, or why it cannot be read."""

    image: ScopeImage
    captioner_input: CaptionInput | None
    reason: str = ""


Answer = tuple[CaptionRequest, WrittenCaptions | None]  # None: it was not asked about


def answers(
    captioner: Captioner,
    ready: Iterable[list[CaptionRequest]],
    *,
    batches: Batches,
    check: Callable[[], None],
) -> Iterator[list[Answer]]:
    """Yield what was written about each image, some at a time; `check` raises where the work should stop."""
    if isinstance(captioner, CaptionsAlone):
        yield from _one_by_one(captioner, ready, check)
        return
    for batch in ready:
        check()
        inputs = [image.captioner_input for image in batch if image.captioner_input is not None]
        written = iter(batches.map(captioner.caption, inputs))
        yield [(image, None if image.captioner_input is None else next(written)) for image in batch]


def _one_by_one(
    captioner: CaptionsAlone, ready: Iterable[list[CaptionRequest]], check: Callable[[], None]
) -> Iterator[list[Answer]]:
    """Keep as many calls under way as the captioner takes; what was asked is waited for before the work stops."""
    waiting: dict[Future[WrittenCaptions], CaptionRequest] = {}
    queue = (image for batch in ready for image in batch)
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
                image = next(queue, None)
                if image is None:
                    break
                if image.captioner_input is None:
                    unread.append((image, None))
                else:
                    waiting[pool.submit(captioner.caption_alone, image.captioner_input)] = image
            if unread:
                yield unread
            if not waiting:
                break
            ended = wait(waiting, return_when=FIRST_COMPLETED).done
            answered = [(waiting.pop(future), future.result()) for future in ended]
            if any(written.stopped is not None for _, written in answered):
                problem = problem or next(
                    written.stopped for _, written in answered if written.stopped is not None
                )
            yield list(answered)
    if problem is not None:
        raise problem
