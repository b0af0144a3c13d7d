"""A model is asked for images: one after the other, several in a call, or in several threads."""

import time
from collections.abc import Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor, as_completed

from accounts.errors import DomainError
from generation.backends.base import Drawn, DrawsInParallel, DrawsTogether, ImageRequest, Model, ModelUnusable
from generation.models import GenerationRequest

Answer = tuple[GenerationRequest, Drawn, float]


def at_once(model: Model) -> int:
    """Return how many requests make one step of this model."""
    if isinstance(model, DrawsTogether):
        return model.at_once
    return model.in_parallel if isinstance(model, DrawsInParallel) else 1


def answers(model: Model, requests: Sequence[GenerationRequest]) -> Iterator[Answer]:
    """Yield (request, answer, seconds) as the answers come. Raises ModelUnusable when it is no use to go on."""
    asked = {request: _described(request) for request in requests}
    if isinstance(model, DrawsTogether):
        yield from _together(model, asked)
    elif isinstance(model, DrawsInParallel) and len(requests) > 1:
        yield from _in_parallel(model, asked)
    else:
        for request, described in asked.items():
            yield request, *_one(model, described)


def _described(request: GenerationRequest) -> ImageRequest:
    return ImageRequest(
        prompt=request.prompt,
        seed=request.seed,
        group=request.group.name if request.group else None,
        attribute=request.attribute.text if request.attribute else None,
    )


def _one(model: Model, asked: ImageRequest) -> tuple[Drawn, float]:
    began = time.monotonic()
    try:
        drawn = model.draw(asked)
    except ModelUnusable:
        raise
    except DomainError as error:
        drawn = _failed(error)
    return drawn, time.monotonic() - began


def _together(model: DrawsTogether, asked: dict[GenerationRequest, ImageRequest]) -> Iterator[Answer]:
    began = time.monotonic()
    try:
        drawn = model.draw_together(list(asked.values()))
    except ModelUnusable:
        raise
    except DomainError as error:
        drawn = [_failed(error)] * len(asked)
    seconds = (time.monotonic() - began) / len(asked)
    for request, answer in zip(asked, drawn, strict=True):
        yield request, answer, seconds


def _in_parallel(model: Model, asked: dict[GenerationRequest, ImageRequest]) -> Iterator[Answer]:
    """Every answer that came is handed out, also when another one says that it is no use to go on."""
    unusable: ModelUnusable | None = None
    with ThreadPoolExecutor(len(asked), thread_name_prefix="asking") as pool:
        waiting: dict[Future[tuple[Drawn, float]], GenerationRequest] = {
            pool.submit(_one, model, described): request for request, described in asked.items()
        }
        for future in as_completed(waiting):
            try:
                drawn, seconds = future.result()
                yield waiting[future], drawn, seconds / len(asked)  # of the time that passes for everyone
            except ModelUnusable as error:
                unusable = error
    if unusable is not None:
        raise unusable


def _failed(error: DomainError) -> Drawn:
    return Drawn(outcome=GenerationRequest.Outcome.FAILED, reason=error.message, charged=False)
