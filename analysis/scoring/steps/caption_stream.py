"""Calls to a captioner: in batches, or one image per call with several calls in parallel."""

from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from dataclasses import dataclass

from analysis.scoring.backends.captioners import Captioner, CaptionInput, CaptionsAlone, WrittenCaptions
from analysis.scoring.backends.memory import Batches
from analysis.scoring.inputs.scope import ScopeImage


@dataclass(frozen=True)
class CaptionRequest:
    """An image with the captioner's input, or the reason why it cannot be read."""

    image: ScopeImage
    captioner_input: CaptionInput | None
    reason: str = ""


Answer = tuple[CaptionRequest, WrittenCaptions | None]  # None: the image could not be read


def answers(
    captioner: Captioner,
    ready: Iterable[list[CaptionRequest]],
    *,
    batches: Batches,
    check: Callable[[], None],
) -> Iterator[list[Answer]]:
    """Yield the captions of the images in lists as they arrive; `check` raises if the work should stop."""
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
    """Keep up to `captioner.in_parallel` calls open; before the work stops, wait for all open calls."""
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
                    problem = error  # raised after all answers have been yielded
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
