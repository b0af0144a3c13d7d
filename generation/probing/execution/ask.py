"""Asking a model: each request is paid, sent, and stored when it is answered."""

import time
from collections import Counter
from collections.abc import Sequence

from django.db import transaction

from foundation.errors import DomainError
from generation.answerers.base import Answerer, AnswersInParallel, AnswersTogether, Reply
from generation.backends.base import ModelUnusable
from generation.models import Answer, ProbeRun
from generation.probing.budget import BudgetSpent, Payment, Purse, add_cost
from generation.probing.execution.backlog import RequestBacklog
from generation.probing.execution.inference import Replies, RequestPool, ask
from generation.probing.execution.outcomes import Ending, write_endings
from generation.probing.requests import PlannedRequest, RequestBuilder
from generation.probing.totals import served_models
from jobs.progress.reporter import Progress

Outcome = Answer.Outcome
# A model that fails for this number of questions in a row is broken; asking the rest would waste time.
_FAILURES_IN_A_ROW = 25
_SECONDS_BETWEEN_LOOKS = 1.0  # between checks of prices and budget
MOST_SERVED = 20  # logged changes of the model that an endpoint names


class Asking:
    """A model at work on a run, whose only job this is."""

    def __init__(self, run: ProbeRun, model: Answerer, progress: Progress, wanted: int) -> None:
        self._model = model
        self._progress = progress
        self._purse = Purse(run)
        builder = RequestBuilder(run, address=model.address)
        self._backlog = RequestBacklog(run, builder, wanted, end=self._end_unsent)
        self._failures, self._reason = 0, ""
        self._unreported, self._message = 0, ""  # stored answers that are not yet reported as progress
        self._looked_at = time.monotonic()
        self.counts: Counter[str] = Counter()
        named = served_models(run, most=MOST_SERVED)
        self.served = {served_by(model.name, model.fingerprint) for model in named}
        self.served.discard("")

    def ask_all(self) -> None:
        if isinstance(self._model, AnswersInParallel):
            self._ask_in_parallel(self._model)
            return
        at_once = self._model.at_once if isinstance(self._model, AnswersTogether) else 1
        while True:
            self._progress.check_cancelled()
            payments, problem = self._paid(at_once)
            if payments:
                replies = ask(self._model, [payment.request.request for payment in payments])
                broken = self._finish_all(list(zip(payments, replies, strict=True)))
                problem = broken or (None if isinstance(problem, BudgetSpent) else problem)
            if problem is not None:
                raise problem
            if not payments:
                return

    def _ask_in_parallel(self, model: AnswersInParallel) -> None:
        """Send as many parallel requests as the model allows, until none is left or a problem occurs.

        Running requests are then awaited and stored, because they may have been paid.
        """
        problem: Exception | None = None
        short: Exception | None = None
        with RequestPool(model) as pool:
            while True:
                if problem is None:
                    short = self._send(pool)
                    problem = None if isinstance(short, BudgetSpent) else short
                if problem is not None:
                    pool.stop()
                if not pool.under_way:
                    break
                broken = self._finish_all(pool.answered())
                problem = problem or broken  # later problems are consequences of the first
        reason = problem or short
        if reason is not None:
            raise reason

    def _send(self, pool: RequestPool) -> Exception | None:
        """Send requests while there is room; return the reason for stopping, if any."""
        try:
            self._progress.check_cancelled()
            payments, problem = self._paid(pool.room)
        except Exception as error:
            return error  # raised when every answer is stored
        for payment in payments:
            pool.send(payment)
        return problem or self._prepared(pool)

    def _prepared(self, pool: RequestPool) -> Exception | None:
        """Build the next requests while the model is busy; return the error, if any."""
        try:
            if not pool.room and len(self._backlog) < pool.under_way:
                self._backlog.build(paid=self._purse.paid)
        except Exception as error:
            return error  # raised when the answers of all running requests are stored
        return None

    def _paid(self, most: int) -> tuple[list[Payment], Exception | None]:
        """Return up to `most` paid requests, and the problem if there are fewer because of one."""
        if self._purse.paid and time.monotonic() - self._looked_at >= _SECONDS_BETWEEN_LOOKS:
            self._looked_at = time.monotonic()
            self._purse.refresh()
        requests: list[PlannedRequest] = []
        while len(requests) < most and (request := self._backlog.take(paid=self._purse.paid)) is not None:
            requests.append(request)
        payments = self._purse.pay(requests)
        unpaid = requests[len(payments) :]
        for request in reversed(unpaid):
            self._backlog.put_back(request)
        return payments, self._purse.refusal() if unpaid else None

    def _end_unsent(self, failed: Sequence[Ending], reused: int) -> None:
        """Store and count rows that end without being sent."""
        if failed:
            with transaction.atomic():
                self._write(failed)
            self._report([ending.reply for ending in failed])
        if reused:
            self.counts["reused"] += reused
            self._progress.advance(reused)

    def _finish_all(self, answered: Sequence[tuple[Payment, Replies]]) -> Exception | None:
        """Store every answer in one transaction: each may have been paid. Return what went wrong."""
        if not answered:
            return None
        problem: Exception | None = None
        endings: list[Ending] = []
        with transaction.atomic():
            for payment, replies in answered:
                if isinstance(replies.replies, ModelUnusable):
                    self._give_back(payment, payment.request.rows)
                    problem = problem or replies.replies
                elif isinstance(replies.replies, Exception):
                    problem = problem or replies.replies
                else:
                    endings += self._endings(payment, replies.replies, replies.seconds)
            self._write(endings)
        try:
            self._report([ending.reply for ending in endings])
        except Exception as error:
            problem = problem or error  # all answers are stored, even if the job was taken over
        if problem is None and self._failures >= _FAILURES_IN_A_ROW:
            problem = DomainError(
                "model_keeps_failing",
                f"Stopped after {self._failures} failures in a row: {self._reason}",
            )
        return problem

    def _endings(self, payment: Payment, replies: Sequence[Reply], seconds: float) -> list[Ending]:
        """Return how the rows of a request ended; rows without an answer are asked again."""
        rows, sha256s = payment.request.rows, payment.request.sha256s
        endings = [
            Ending(
                row,
                reply,
                sha256=sha256,
                seconds=seconds / len(replies),
                cost=self._purse.settle(payment, reply),
            )
            for row, sha256, reply in zip(rows, sha256s, replies, strict=False)
        ]
        if len(replies) < len(rows):
            self._give_back(payment, rows[len(replies) :])
            self._backlog.ask_alone(rows[len(replies) :])
        return endings

    def _give_back(self, payment: Payment, rows: Sequence[Answer]) -> None:
        """Give back the reservations of rows that were certainly not answered."""
        changes = [self._purse.settle(payment, None) for _ in rows]
        if changes[0]:
            add_cost(rows, changes[0])

    def _write(self, endings: Sequence[Ending]) -> None:
        for ending in write_endings(endings):
            self.counts[ending.reply.outcome] += 1
            self._unreported, self._message = self._unreported + 1, str(ending.row)

    def _report(self, replies: Sequence[Reply]) -> None:
        """Report stored answers as progress, outside the transaction, which would otherwise lock the job's row."""
        if self._unreported:
            self._progress.advance(self._unreported, self._message)
        self._unreported = 0
        for reply in replies:
            self._note(reply)

    def _note(self, reply: Reply) -> None:
        """Count failures in a row, and log when the endpoint names another model."""
        if reply.outcome == Outcome.FAILED:
            self._failures += 1
            self._reason = reply.reason
        else:
            self._failures = 0
        served = served_by(reply.served_model, reply.fingerprint)
        if reply.outcome != Outcome.DONE or not served or served in self.served:
            return
        if self.served and len(self.served) < MOST_SERVED:
            self._progress.log(
                f"The endpoint changed the model from {', '.join(sorted(self.served))} to {served}."
            )
        self.served.add(served)


def served_by(model: str, fingerprint: str) -> str:
    """Return the name of a served model in reports."""
    return f"{model} ({fingerprint})" if fingerprint else model
