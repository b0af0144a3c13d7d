"""A model is asked for images: one after the other, several in a call, or in several threads."""

import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait

from accounts.errors import DomainError
from generation.backends.base import Drawn, DrawsInParallel, DrawsTogether, ImageRequest, Model, ModelUnusable
from generation.models import GenerationRequest

# What the model answered, or why it could not be asked: then nothing was made, and the request stays to be made.
Answer = tuple[GenerationRequest, Drawn | ModelUnusable, float]
_SECONDS_BETWEEN_CHECKS = 0.5


def at_once(model: Model) -> int:
    """Return how many requests make one step of this model."""
    if isinstance(model, DrawsTogether):
        return model.at_once
    return model.in_parallel if isinstance(model, DrawsInParallel) else 1


def answers(
    model: Model, requests: Sequence[GenerationRequest], *, paid: bool, check: Callable[[], None]
) -> Iterator[Answer]:
    """Yield an answer to each request, as they come. Whoever takes them should take all: they may be paid.

    What `check` raises while answers are awaited is raised when all have come; pauses of the model end at once.
    """
    asked = {request: _described(request, paid=paid) for request in requests}
    if isinstance(model, DrawsTogether):
        yield from _together(model, asked)
    elif isinstance(model, DrawsInParallel):
        yield from _in_parallel(model, asked, check)
    else:
        for request, described in asked.items():
            yield request, *_one(model, described)


def _described(request: GenerationRequest, *, paid: bool) -> ImageRequest:
    return ImageRequest(
        prompt=request.prompt,
        seed=request.seed,
        group=request.group.name if request.group else None,
        attribute=request.attribute.text if request.attribute else None,
        paid=paid,
    )


def _one(model: Model, asked: ImageRequest) -> tuple[Drawn | ModelUnusable, float]:
    began = time.monotonic()
    drawn: Drawn | ModelUnusable
    try:
        drawn = model.draw(asked)
    except ModelUnusable as error:
        drawn = error
    except DomainError as error:
        drawn = _failed(error)
    return drawn, time.monotonic() - began


def _together(model: DrawsTogether, asked: dict[GenerationRequest, ImageRequest]) -> Iterator[Answer]:
    began = time.monotonic()
    drawn: Sequence[Drawn | ModelUnusable]
    try:
        drawn = model.draw_together(list(asked.values()))
    except ModelUnusable as error:
        drawn = [error] * len(asked)
    except DomainError as error:
        drawn = [_failed(error)] * len(asked)
    seconds = (time.monotonic() - began) / len(asked)
    for request, answer in zip(asked, drawn, strict=True):
        yield request, answer, seconds


def _in_parallel(
    model: DrawsInParallel, asked: dict[GenerationRequest, ImageRequest], check: Callable[[], None]
) -> Iterator[Answer]:
    """Every answer that came is handed out, also when another one, or `check`, says that it is no use to go on."""
    problem: Exception | None = None
    with ThreadPoolExecutor(len(asked), thread_name_prefix="asking") as pool:
        waiting: dict[Future[tuple[Drawn | ModelUnusable, float]], GenerationRequest] = {
            pool.submit(_one, model, described): request for request, described in asked.items()
        }
        while waiting:
            ended = wait(waiting, timeout=_SECONDS_BETWEEN_CHECKS, return_when=FIRST_COMPLETED).done
            for future in ended:
                request = waiting.pop(future)
                if (error := future.exception()) is None:
                    drawn, seconds = future.result()
                    yield request, drawn, seconds / len(asked)  # of the time that passes for everyone
                elif isinstance(error, Exception):
                    problem = problem or error
            if problem is None:
                problem = _said_by(check)
            if problem is not None:
                model.stop()
    if problem is not None:
        raise problem


def _said_by(check: Callable[[], None]) -> Exception | None:
    try:
        check()
    except Exception as error:
        return error  # raised when every answer has been handed out
    return None


def _failed(error: DomainError) -> Drawn:
    return Drawn(outcome=GenerationRequest.Outcome.FAILED, reason=error.message, charged=False)
