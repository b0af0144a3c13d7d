"""Asking a model: one question after the other, several in a call, or in several threads."""

import queue
import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Self

from foundation.errors import DomainError
from generation.answerers.base import Answerer, AnswerRequest, AnswersInParallel, AnswersTogether, Reply
from generation.backends.base import ModelUnusable
from generation.probing.budget import Payment

_SECONDS_BETWEEN_CHECKS = 0.5


@dataclass(frozen=True)
class Replies:
    """The replies to a request, or the error: after ModelUnusable it was certainly not answered."""

    replies: list[Reply] | Exception
    seconds: float


def ask(model: Answerer, requests: Sequence[AnswerRequest]) -> list[Replies]:
    """Return the replies to each request, in order."""
    if isinstance(model, AnswersTogether):
        return _together(model, requests)
    return [_alone(model, request) for request in requests]


class RequestPool:
    """Running requests to a remote model: another one is sent as soon as there is room for it.

    The pool gets a few more requests than the model accepts, so that no thread waits while answers are stored.
    """

    def __init__(self, model: AnswersInParallel) -> None:
        self._model = model
        self._most = model.in_parallel + max(1, model.in_parallel // 4)
        self._stopping = False
        self._executor = ThreadPoolExecutor(model.in_parallel, thread_name_prefix="asking")
        self._answered: queue.SimpleQueue[tuple[Payment, Replies]] = queue.SimpleQueue()
        self.under_way = 0

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._executor.shutdown(wait=True)
        self._model.close()

    @property
    def room(self) -> int:
        """The number of requests that may be sent now."""
        return self._most - self.under_way

    def send(self, payment: Payment) -> None:
        """Send one more request, in its own thread."""
        self.under_way += 1
        self._executor.submit(self._ask, payment)

    def stop(self) -> None:
        """End pauses between tries, and send nothing more: waiting requests return ModelUnusable."""
        self._stopping = True
        self._model.stop()

    def answered(self) -> list[tuple[Payment, Replies]]:
        """Wait briefly for an answer; return all available answers."""
        answered: list[tuple[Payment, Replies]] = []
        try:
            answered.append(self._answered.get(timeout=_SECONDS_BETWEEN_CHECKS))
            while True:
                answered.append(self._answered.get_nowait())
        except queue.Empty:
            self.under_way -= len(answered)
            return answered

    def _ask(self, payment: Payment) -> None:
        # Any error in the thread is raised where it can be reported.
        try:
            if self._stopping:
                raise ModelUnusable("stopped", "The run stopped before the question was asked.")
            replies = _alone(self._model, payment.request.request)
        except BaseException as error:
            problem = error if isinstance(error, Exception) else RuntimeError(str(error))
            replies = Replies(problem, 0)
        self._answered.put((payment, replies))


def _alone(model: Answerer, request: AnswerRequest) -> Replies:
    began = time.monotonic()
    replies: list[Reply] | Exception
    try:
        replies = model.answer(request)
    except ModelUnusable as error:
        replies = error
    except DomainError as error:
        replies = _failed(error, request)
    return Replies(replies, time.monotonic() - began)


def _together(model: AnswersTogether, requests: Sequence[AnswerRequest]) -> list[Replies]:
    began = time.monotonic()
    answers: Sequence[list[Reply] | Exception]
    try:
        answers = model.answer_together(requests)
    except ModelUnusable as error:
        answers = [error] * len(requests)
    except DomainError as error:
        answers = [_failed(error, request) for request in requests]
    seconds = (time.monotonic() - began) / len(requests)
    return [Replies(replies, seconds) for replies in answers]


def _failed(error: DomainError, request: AnswerRequest) -> list[Reply]:
    return [Reply(outcome="failed", reason=error.message, charged=False)] * len(request.seeds)
