"""Asking a run in batches: filling, uploading, submitting, waiting and collecting, one step after the other.

Each step is stored before it is done. So a worker that takes over after a kill checks at the endpoint what its
predecessor may have done, and requests nothing twice.
"""

import tempfile
import uuid
from collections import Counter
from collections.abc import Callable, Sequence
from decimal import Decimal

from django.db import transaction
from django.utils import timezone

from foundation.errors import DomainError
from generation.answerers.chat import ChatAnswerer
from generation.answerers.parameters import BatchParameters
from generation.endpoints.batches import UNREACHABLE, BatchStatus, BatchUnanswered
from generation.endpoints.connection import EndpointUnusable
from generation.models import Answer, BatchRequest, ProbeBatch, ProbeRun
from generation.probing.budget import Purse
from generation.probing.execution.backlog import RequestBacklog
from generation.probing.execution.batches.collect import Collected, Collector
from generation.probing.execution.batches.fill import fill, write_file
from generation.probing.execution.outcomes import Ending, write_endings
from generation.probing.requests import RequestBuilder
from jobs.progress.reporter import Progress

State = ProbeBatch.State
_ON_DISK = 16 << 20
_REFUSED = "failed"  # the endpoints' name for a batch that they did not begin
# If a batch has this number of failures and no answer, the rest would fail too.
_FAILURES = 25


class BatchAsking:
    """Asks a run, of which this is the only job, at an endpoint that accepts batches."""

    def __init__(self, run: ProbeRun, model: ChatAnswerer, progress: Progress, most: int) -> None:
        self._run, self._model, self._progress = run, model, progress
        self._parameters = BatchParameters.read(run.batch_parameters)
        self._builder = RequestBuilder(run, address=model.address)
        self._purse = Purse(run, factor=Decimal(str(self._parameters.batch_price_factor)))
        self._remaining = most
        self._backlog = self._new_backlog()
        self._client = model.batch_client()
        self._collector = Collector(self._client, self._purse, stored=self._advance)
        self._refusal = self._last_refusal()  # why the endpoint accepted no more batches
        self.counts: Counter[str] = Counter()

    def ask_all(self) -> None:
        """Ask the remaining questions in batches, and collect batches that are already at the endpoint."""
        try:
            self._client.require_batches()
            while self._step():
                pass
        finally:
            self._client.close()

    def _step(self) -> bool:
        """Do the steps that are possible now, then wait; return whether there may be more."""
        self._progress.check_cancelled()
        for batch in self._open_batches():
            self._go_on(batch)
        covered = True
        while self._parameters.batch_endpoint and not self._refusal and covered:
            batch = ProbeBatch.objects.create(run=self._run, key=uuid.uuid4().hex)
            covered = self._go_on(batch)
            if not batch.requests:
                break
        waiting = self._open_batches()
        if waiting:
            answer_count, request_count = (
                sum(getattr(b, name) for b in waiting) for name in ("answered", "requests")
            )
            self._progress.step(
                f"Waiting for the endpoint: {answer_count:,} of {request_count:,} requests are answered"
            )
            self._progress.rest(self._parameters.batch_poll_seconds)
            return True
        if self._refusal:
            raise DomainError("batch_refused", f"The endpoint did not accept the batch. {self._refusal}")
        if not covered:
            raise self._purse.refusal()
        return False

    def _new_backlog(self) -> RequestBacklog:
        """Return the pending rows that are in no batch."""
        under_way = BatchRequest.objects.filter(batch__run=self._run).count()
        remaining = max(0, self._remaining - under_way)
        return RequestBacklog(self._run, self._builder, remaining, end=self._end_unsent, samples=1)

    def _last_refusal(self) -> str:
        """Return why the endpoint accepted no more batches while others are running, after which it may accept more."""
        ended = self._run.batches.filter(state=State.ENDED).order_by("-ended_at").first()
        refused = ended is not None and ended.result.startswith(_REFUSED) and self._open_batches()
        return ended.result if ended is not None and refused else ""

    def _open_batches(self) -> list[ProbeBatch]:
        return list(self._run.batches.exclude(state=State.ENDED))

    def _go_on(self, batch: ProbeBatch) -> bool:
        """Do the next steps of a batch that are possible now; return whether the budget covered it."""
        covered = True
        if batch.state == State.FILLING:
            covered = self._fill(batch)
        if batch.state == State.UPLOADING:
            file_id = self._once(lambda: self._client.find_file(batch.file_name), lambda: self._upload(batch))
            self._note(batch, State.CREATING, file_id=file_id)
        if batch.state == State.CREATING:
            batch_id = self._once(
                lambda: self._client.find_batch(batch.key),
                lambda: self._client.create(batch.file_id, batch.key),
            )
            self._note(batch, State.WAITING, batch_id=batch_id)
            self._progress.log(f"The batch {batch_id} has {batch.requests:,} requests.")
        elif batch.state == State.WAITING:
            self._look_at(batch)
        return covered

    def _fill(self, batch: ProbeBatch) -> bool:
        self._progress.step("Filling a batch")
        covered = fill(
            batch,
            self._backlog,
            self._purse,
            most=self._parameters.batch_size,
            progress=self._progress,
        )
        batch.requests = batch.under_way.count()
        if batch.requests:
            self._note(batch, State.UPLOADING, requests=batch.requests)
        else:
            batch.delete()
        return covered

    def _upload(self, batch: ProbeBatch) -> str:
        self._progress.step("Uploading a batch")
        with tempfile.SpooledTemporaryFile(_ON_DISK) as file:
            write_file(
                batch, self._builder, self._model, new_limit=self._parameters.batch_new_limit, file=file
            )
            return self._client.upload(batch.file_name, file)

    def _once(self, find: Callable[[], str], send: Callable[[], str]) -> str:
        """Return the id of the object that is already at the endpoint, or else of the one sent now."""
        if known_id := find():
            return known_id
        try:
            return send()
        except BatchUnanswered as error:
            self._progress.log(error.message)
            self._progress.rest(self._parameters.batch_poll_seconds)
            return find() or send()

    def _look_at(self, batch: ProbeBatch) -> None:
        try:
            status = self._client.status(batch.batch_id)
        except EndpointUnusable as error:
            if error.code != UNREACHABLE:
                raise
            self._progress.log(f"{error.message} The batch will be checked again later.")
            return
        if status is not None and not status.ended:
            if status.answered != batch.answered:
                self._note(batch, State.WAITING, answered=status.answered)
            return
        self._progress.step("Collecting a batch")
        collected = self._collector.collect(batch, status)
        self.counts.update(collected.outcomes)
        self._note(batch, State.ENDED, ended_at=timezone.now(), result=_result(status, collected))
        if collected.released:
            self._backlog = self._new_backlog()
        self._stop_where_nothing_works(status, collected)

    def _stop_where_nothing_works(self, status: BatchStatus | None, collected: Collected) -> None:
        """Stop a run whose next batch would fail like this one."""
        if status is not None and status.state == _REFUSED:
            self._refusal = status.problem or "The endpoint gave no reason."
            return
        self._refusal = ""
        answered = sum(collected.outcomes.values())
        if collected.released and not answered:
            state = status.state if status else "ended"
            raise DomainError(
                "batch_unasked",
                f"A batch is {state}, and none of its requests was answered. Resume the run to submit "
                "the batch again.",
            )
        failed = collected.outcomes["failed"]
        if failed == answered and failed >= _FAILURES:
            raise DomainError(
                "model_keeps_failing",
                f"Stopped because all {failed:,} answered requests of a batch failed: {collected.reason}",
            )

    def _note(self, batch: ProbeBatch, state: State, **fields: object) -> None:
        """Store the state of a batch, unless a worker that took over has progressed further."""
        before = batch.state
        batch.state = state
        for name, value in fields.items():
            setattr(batch, name, value)
        values = {"state": state, **fields}
        if not ProbeBatch.objects.filter(pk=batch.pk, state=before).update(**values):
            raise DomainError("batch_taken_over", "Another worker continues with this batch.")

    def _end_unsent(self, failed: Sequence[Ending], reused: int) -> None:
        """Store and count rows that end without being sent."""
        with transaction.atomic():
            self.counts[Answer.Outcome.FAILED] += len(write_endings(failed))
        self.counts["reused"] += reused
        self._advance(len(failed) + reused)

    def _advance(self, number: int) -> None:
        self._remaining -= number
        self._progress.advance(number)


def _result(status: BatchStatus | None, collected: Collected) -> str:
    counts = [f"{number:,} {outcome}" for outcome, number in sorted(collected.outcomes.items())]
    counts += [f"{collected.released:,} not asked"] if collected.released else []
    state = status.state if status else "missing at the endpoint"
    return f"{state}: {', '.join(counts) or 'nothing'}"[:300]
