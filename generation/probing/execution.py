"""A run's questions are asked, step by step, whatever happens in between."""

import time
from collections import Counter, deque
from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

from django.db import transaction
from django.db.models import F
from django.utils import timezone

from foundation.errors import DomainError
from generation.answerers import answerer_named
from generation.answerers.base import Answerer, AnswersInParallel, AnswersTogether, Reply
from generation.backends.base import ModelUnusable
from generation.models import Answer, ProbeRun
from generation.models.probes import LONGEST_ANSWER
from generation.probing.budget import BudgetSpent, Payment, Purse
from generation.probing.inference import Replies, RequestPool, ask
from generation.probing.planning import finish_planning
from generation.probing.requests import PlannedRequest, RequestBuilder
from generation.probing.reuse import EarlierAnswers
from jobs.models import Job
from jobs.progress.reporter import Progress

Outcome = Answer.Outcome
_BLOCK = 256  # rows that are read at a time
# A model that fails for so many questions in a row is broken, and asking it for the rest would only take time.
_FAILURES_IN_A_ROW = 25
_SECONDS_BETWEEN_LOOKS = 1.0  # at prices and budget
_MOST_SERVED = 20  # changes of what an endpoint says it is that are logged


@dataclass(frozen=True)
class ProbeResult:
    """How many requests ended how, this time."""

    done: int = 0
    reused: int = 0
    declined: int = 0
    failed: int = 0
    left: int = 0
    served: tuple[str, ...] = ()  # what the endpoint said it is, all answers of the run together

    def __str__(self) -> str:
        parts = [f"{self.done:,} answer{'' if self.done == 1 else 's'}"]
        parts += [
            f"{count:,} {words}"
            for count, words in (
                (self.reused, "reused from earlier runs"),
                (self.declined, "declined by a filter"),
                (self.failed, "failed"),
                (self.left, "left to ask"),
            )
            if count
        ]
        sentence = ", ".join(parts) + "."
        if len(self.served) > 1:
            sentence += f" The model changed meanwhile: {', '.join(self.served[:_MOST_SERVED])}."
        return sentence


def run(
    *, run: ProbeRun, progress: Progress, limit: int | None = None, job: Job | None = None
) -> ProbeResult:
    """Ask what is pending, at most `limit`. Answers are committed as they come: a kill loses what is under way."""
    finish_planning(run=run, progress=progress)
    total = run.answers.filter(outcome=Outcome.PENDING).count()
    until = _until(run, limit, job)
    wanted = total if until is None else max(0, min(until - ended(run), total))
    progress.start(wanted)
    if not wanted:
        return ProbeResult(left=total)
    progress.step("Loading the model")
    model = answerer_named(run.backend).load(
        model_id=run.model_id, parameters=run.parameters, revision=run.model_revision
    )
    _note_revision(run, model)
    progress.step("Asking")
    progress.start(wanted)
    asking = Asking(run, model, progress, wanted)
    asking.ask_all()
    left = run.answers.filter(outcome=Outcome.PENDING).count()
    return ProbeResult(**asking.counts, left=left, served=tuple(sorted(asking.served)))


def ended(run: ProbeRun) -> int:
    """Return how many requests have an outcome."""
    return run.answers.exclude(outcome=Outcome.PENDING).count()


@transaction.atomic
def reopen_failed(*, run: ProbeRun) -> int:
    """Make failed requests pending again; return how many. Declined ones are results and stay."""
    return run.answers.filter(outcome=Outcome.FAILED).update(
        outcome=Outcome.PENDING, reason="", finished_at=None
    )


def _until(run: ProbeRun, limit: int | None, job: Job | None) -> int | None:
    """Return how many requests of the run may have ended when this stops."""
    if job is not None and job.arguments.get("until") is not None:
        return int(job.arguments["until"])
    return None if limit is None else ended(run) + limit


class Asking:
    """A model at work on a run, whose only job this is."""

    def __init__(self, run: ProbeRun, model: Answerer, progress: Progress, wanted: int) -> None:
        self._run = run
        self._model = model
        self._progress = progress
        self._builder = RequestBuilder(run, address=model.address)
        self._purse = Purse(run)
        self._earlier = EarlierAnswers(run)
        self._samples = run.samples_per_request
        self._rows: deque[Answer] = deque()
        self._waiting: deque[PlannedRequest] = deque()  # built, and not paid yet
        self._last = 0
        self._to_read = wanted
        self._failures, self._reason = 0, ""
        self._unreported, self._message = 0, ""  # answers that were stored and not counted as progress yet
        self._looked_at = time.monotonic()
        self.counts: Counter[str] = Counter()
        served = run.answers.filter(outcome=Outcome.DONE).order_by()
        self.served = {_served(*row) for row in served.values_list("served_model", "fingerprint").distinct()}
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
        """Keep as many requests under way as the model takes, until nothing is left or something is wrong.

        What is under way then is waited for and stored: it may have been paid.
        """
        problem: Exception | None = None
        short: Exception | None = None
        with RequestPool(model) as pool:
            while True:
                if problem is None:
                    short = self._send(pool)
                    problem = None if isinstance(short, BudgetSpent) else short
                if problem is not None:
                    model.stop()
                if not pool.under_way:
                    break
                problem = self._finish_all(pool.answered()) or problem
        if problem is not None or short is not None:
            raise problem or short  # type: ignore[misc]

    def _send(self, pool: RequestPool) -> Exception | None:
        """Send what there is room for; return why it stops, if it does."""
        try:
            self._progress.check_cancelled()
            payments, problem = self._paid(pool.room)
        except Exception as error:
            return error  # raised when every answer is stored
        for payment in payments:
            pool.send(payment)
        return problem

    def _paid(self, most: int) -> tuple[list[Payment], Exception | None]:
        """Return up to `most` requests that are paid, and why they are fewer if something is wrong."""
        if self._purse.paid and time.monotonic() - self._looked_at >= _SECONDS_BETWEEN_LOOKS:
            self._looked_at = time.monotonic()
            self._purse.refresh()
        payments: list[Payment] = []
        problem: Exception | None = None
        while len(payments) < most and problem is None:
            request = self._next_request()
            if request is None:
                break
            try:
                payments.append(self._purse.pay(request))
            except BudgetSpent as error:
                self._waiting.appendleft(request)
                problem = error
        with transaction.atomic():
            self._purse.write(payments)
        return payments, problem

    def _next_request(self) -> PlannedRequest | None:
        """Return the next request to send; answers that an earlier run has are taken from there."""
        while not self._waiting:
            group = self._next_rows()
            if not group:
                return None
            try:
                request = self._builder.build(group, paid=self._purse.paid)
            except DomainError as error:
                failed = [Reply(outcome=Outcome.FAILED, reason=error.message)] * len(group)
                self._write(group, failed)
                self._report(failed)
                continue
            left = self._earlier.without_known(request)
            self._count_reused(len(request.rows) - len(left.rows))
            if left.rows:
                self._waiting.append(left)
        return self._waiting.popleft()

    def _next_rows(self) -> list[Answer]:
        """Return the next rows that are asked in one request: they differ only in their repeat."""
        if not self._rows:
            self._read_rows()
        group: list[Answer] = []
        while self._rows and len(group) < self._samples and _alike(group, self._rows[0]):
            group.append(self._rows.popleft())
        return group

    def _read_rows(self) -> None:
        rows = self._run.answers.filter(outcome=Outcome.PENDING, pk__gt=self._last).order_by("pk")
        rows = rows.select_related("image__group", "descriptor")[: min(_BLOCK, self._to_read)]
        self._rows.extend(rows)
        self._to_read -= len(self._rows)
        if self._rows:
            self._last = self._rows[-1].pk

    def _count_reused(self, number: int) -> None:
        if number:
            self.counts["reused"] += number
            self._progress.advance(number)

    def _finish_all(self, answered: Sequence[tuple[Payment, Replies]]) -> Exception | None:
        """Store every answer in one transaction: each may have been paid. Return what went wrong."""
        problem: Exception | None = None
        with transaction.atomic():
            for payment, replies in answered:
                if isinstance(replies.replies, ModelUnusable):
                    self._give_back(payment, payment.request.rows)
                    problem = problem or replies.replies
                elif isinstance(replies.replies, Exception):
                    problem = problem or replies.replies
                else:
                    self._store(payment, replies.replies, replies.seconds)
        try:
            for _, replies in answered:
                if not isinstance(replies.replies, Exception):
                    self._report(replies.replies)
        except Exception as error:
            problem = (
                problem or error
            )  # the job was taken over, say; the other answers are stored all the same
        if problem is None and self._failures >= _FAILURES_IN_A_ROW:
            problem = DomainError(
                "model_keeps_failing",
                f"Stopped after {self._failures} failures in a row: {self._reason}",
            )
        return problem

    def _store(self, payment: Payment, replies: Sequence[Reply], seconds: float) -> None:
        rows = payment.request.rows
        changes = [self._purse.settle(payment, reply) for reply in replies]
        self._write(
            rows[: len(replies)],
            replies,
            sha256s=payment.request.sha256s,
            seconds=seconds / len(replies),
            changes=changes,
        )
        if len(replies) < len(rows):
            # The endpoint gives one answer at a time, whatever is asked: the others are asked one by one.
            self._samples = 1
            self._give_back(payment, rows[len(replies) :])
            self._rows.extendleft(reversed(rows[len(replies) :]))

    def _give_back(self, payment: Payment, rows: Sequence[Answer]) -> None:
        """Take back what was written down for rows that were certainly not answered."""
        for row in rows:
            change = self._purse.settle(payment, None)
            if change:
                Answer.objects.filter(pk=row.pk).update(cost=F("cost") + change)

    def _write(
        self,
        rows: Sequence[Answer],
        replies: Sequence[Reply],
        *,
        sha256s: Sequence[str] = (),
        seconds: float | None = None,
        changes: Sequence[Decimal] = (),
    ) -> None:
        now = timezone.now()
        for number, (row, reply) in enumerate(zip(rows, replies, strict=True)):
            fields: dict[str, Any] = {
                "outcome": reply.outcome,
                "reason": _stored(reply.reason)[:300],
                "text": _stored(reply.text)[:LONGEST_ANSWER] if reply.outcome != Outcome.FAILED else "",
                "finish_reason": _stored(reply.finish_reason)[:60],
                "served_model": _stored(reply.served_model)[:200],
                "fingerprint": _stored(reply.fingerprint)[:200],
                "tokens_in": reply.tokens_in,
                "tokens_out": reply.tokens_out,
                "seconds": seconds,
                "provenance": reply.provenance,
                "request_sha256": sha256s[number] if sha256s else "",
                "finished_at": now,
            }
            if changes and changes[number]:
                fields["cost"] = F("cost") + changes[number]
            if Answer.objects.filter(pk=row.pk, outcome=Outcome.PENDING).update(**fields):
                self.counts[reply.outcome] += 1
                self._unreported, self._message = self._unreported + 1, str(row)

    def _report(self, replies: Sequence[Reply]) -> None:
        """Count what was stored; outside the transaction, or the job's row would stay locked as long as that."""
        self._progress.advance(self._unreported, self._message)
        self._unreported = 0
        for reply in replies:
            self._note(reply)

    def _note(self, reply: Reply) -> None:
        """Count failures in a row, and say when the endpoint says that it is another model now."""
        if reply.outcome == Outcome.FAILED:
            self._failures += 1
            self._reason = reply.reason
        else:
            self._failures = 0
        served = _served(reply.served_model, reply.fingerprint)
        if reply.outcome != Outcome.DONE or not served or served in self.served:
            return
        if self.served and len(self.served) < _MOST_SERVED:
            self._progress.log(
                f"The model changed: it was {', '.join(sorted(self.served))}; now it is {served}."
            )
        self.served.add(served)


def _alike(group: Sequence[Answer], row: Answer) -> bool:
    def key(answer: Answer) -> tuple[object, ...]:
        return (
            answer.experiment,
            answer.question,
            answer.scenario,
            answer.image_id,
            answer.descriptor_id,
            answer.letter,
            answer.order,
        )

    return not group or key(group[0]) == key(row)


def _served(model: str, fingerprint: str) -> str:
    return f"{model} ({fingerprint})" if fingerprint else model


def _stored(text: str) -> str:
    """Return a text as a database takes it: without null characters and halves of surrogate pairs."""
    return text.replace("\0", "").encode("utf-8", "replace").decode("utf-8")


def _note_revision(run: ProbeRun, model: Answerer) -> None:
    """Pin the revision that the first job of the run loaded; refuse to go on with another."""
    if model.revision and not run.model_revision:
        run.model_revision = model.revision
        run.save(update_fields=["model_revision"])
    if run.model_revision != model.revision:
        raise DomainError(
            "model_changed",
            f"The run began with revision {run.model_revision} of {run.model_id}, but "
            f"{model.revision or 'none'} is there now; start a run of its own for it.",
        )
