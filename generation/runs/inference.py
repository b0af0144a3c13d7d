"""Requesting images from a model: singly, several per call, or in several threads."""

import time
from collections.abc import Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from typing import Self

from foundation.errors import DomainError
from generation.backends.base import Drawn, DrawsInParallel, DrawsTogether, ImageRequest, Model, ModelUnusable
from generation.models import GenerationRequest

# Request, result and seconds. After ModelUnusable, no image was made and the request stays pending.
Answer = tuple[GenerationRequest, Drawn | ModelUnusable, float]
_SECONDS_BETWEEN_CHECKS = 0.5


def at_once(model: Model) -> int:
    """Return the number of requests in one step of this model."""
    return model.at_once if isinstance(model, DrawsTogether) else 1


def answers(model: Model, requests: Sequence[GenerationRequest], *, paid: bool) -> Iterator[Answer]:
    """Yield an answer to each request of a step, in order."""
    descriptions = {request: _described(request, paid=paid) for request in requests}
    if isinstance(model, DrawsTogether):
        yield from _together(model, descriptions)
    else:
        for request, described in descriptions.items():
            yield request, *_one(model, described)


class Pool:
    """Requests under way at a remote model, each in a thread of its own."""

    def __init__(self, model: DrawsInParallel) -> None:
        self._model = model
        self._executor = ThreadPoolExecutor(model.in_parallel, thread_name_prefix="asking")
        self._waiting: dict[Future[tuple[Drawn | ModelUnusable, float]], GenerationRequest] = {}

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._executor.shutdown(wait=True)

    @property
    def room(self) -> int:
        """The number of requests that may be sent now."""
        return self._model.in_parallel - len(self._waiting)

    @property
    def under_way(self) -> int:
        """The number of requests sent whose answer has not been returned by `next_answer`."""
        return len(self._waiting)

    def send(self, request: GenerationRequest, *, paid: bool) -> None:
        """Send a request in a thread of its own."""
        future = self._executor.submit(_one, self._model, _described(request, paid=paid))
        self._waiting[future] = request

    def next_answer(self) -> Answer | Exception | None:
        """Wait up to 0.5 s; return an answer, the unexpected exception of a request, or None."""
        number = len(self._waiting)
        ended = wait(self._waiting, timeout=_SECONDS_BETWEEN_CHECKS, return_when=FIRST_COMPLETED).done
        future = next(iter(ended), None)
        if future is None:
            return None
        request = self._waiting.pop(future)
        if (error := future.exception()) is not None:
            return error if isinstance(error, Exception) else RuntimeError(str(error))
        drawn, seconds = future.result()
        return request, drawn, seconds / number  # share of the time that concurrent requests spend together


def _described(request: GenerationRequest, *, paid: bool) -> ImageRequest:
    return ImageRequest(
        prompt=request.prompt,
        seed=request.seed,
        group=request.group.name if request.group else None,
        attribute=request.attribute.text if request.attribute else None,
        first_prompt=_first_prompt(request) if request.scenario else "",
        paid=paid,
    )


def _first_prompt(request: GenerationRequest) -> str:
    """Return the prompt of the scenario's first request; requests are written in the order of groups."""
    alike = GenerationRequest.objects.filter(
        run=request.run_id, template=request.template_id, index=request.index
    )
    return alike.order_by("pk").values_list("prompt", flat=True)[0]


def _one(model: Model, request: ImageRequest) -> tuple[Drawn | ModelUnusable, float]:
    began = time.monotonic()
    drawn: Drawn | ModelUnusable
    try:
        drawn = model.draw(request)
    except ModelUnusable as error:
        drawn = error
    except DomainError as error:
        drawn = _failed(error)
    return drawn, time.monotonic() - began


def _together(model: DrawsTogether, descriptions: dict[GenerationRequest, ImageRequest]) -> Iterator[Answer]:
    began = time.monotonic()
    drawn: Sequence[Drawn | ModelUnusable]
    try:
        drawn = model.draw_together(list(descriptions.values()))
    except ModelUnusable as error:
        drawn = [error] * len(descriptions)
    except DomainError as error:
        drawn = [_failed(error)] * len(descriptions)
    seconds = (time.monotonic() - began) / len(descriptions)
    for request, answer in zip(descriptions, drawn, strict=True):
        yield request, answer, seconds


def _failed(error: DomainError) -> Drawn:
    return Drawn(outcome=GenerationRequest.Outcome.FAILED, reason=error.message, charged=False)
