"""Storing the results of a batch, line by line. Collecting a batch twice has no effect."""

import tempfile
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from itertools import islice

from django.db import transaction

from generation.answerers.base import Reply
from generation.answerers.chat import replies_of
from generation.endpoints.batches import BatchClient, BatchLine, BatchStatus
from generation.models import Answer, BatchRequest, ProbeBatch
from generation.probing.budget import Purse
from generation.probing.execution.batches.fill import key_of, release
from generation.probing.execution.outcomes import Ending, write_endings

_PIECE = 500  # answers that are stored in one transaction
_ON_DISK = 16 << 20  # bytes; larger files of answers are stored on disk
_UNANSWERED = "The endpoint’s batch has no answer to this question."
_MISSING = "The endpoint no longer has the batch."


@dataclass
class Collected:
    """How the requests of a batch ended; `released`: requests that were not asked and are pending again."""

    outcomes: Counter[str] = field(default_factory=Counter)
    released: int = 0
    reason: str = ""  # of the last failure


@dataclass(frozen=True)
class Collector:
    """Stores the results of a batch. `stored` is called with the number of answers after each transaction."""

    client: BatchClient
    purse: Purse
    stored: Callable[[int], None]

    def collect(self, batch: ProbeBatch, status: BatchStatus | None) -> Collected:
        """Store all results of a finished batch; `status` is None if the endpoint no longer has the batch.

        Requests without an answer were certainly not asked if the batch expired, was cancelled or failed. Otherwise
        they may have been answered and paid, and count as failed.
        """
        collected = Collected()
        for file_id in (status.output_file, status.error_file) if status else ():
            if file_id:
                self._read(batch, file_id, collected)
        unasked = status is not None and status.state != "completed"
        while requests := list(batch.under_way.select_related("answer")[:_PIECE]):
            if unasked:
                release(batch, requests)
                collected.released += len(requests)
            else:
                reason = _UNANSWERED if status else _MISSING
                reply = Reply(outcome="failed", reason=reason)
                self._store(batch, [(request, reply) for request in requests], collected)
        return collected

    def _read(self, batch: ProbeBatch, file_id: str, collected: Collected) -> None:
        with tempfile.SpooledTemporaryFile(_ON_DISK) as file:
            self.client.download(file_id, file)
            lines = iter(self.client.lines(file))
            while piece := list(islice(lines, _PIECE)):
                self._store_lines(batch, piece, collected)

    def _store_lines(self, batch: ProbeBatch, lines: Iterable[BatchLine], collected: Collected) -> None:
        by_key: dict[int, BatchLine] = {}
        for line in lines:
            key = key_of(line.custom_id)
            if key is not None:
                by_key.setdefault(key, line)  # the first line counts
        requests = list(batch.under_way.filter(answer__in=list(by_key)).select_related("answer"))
        not_asked = [request for request in requests if by_key[request.answer_id].not_asked]
        release(batch, not_asked)
        collected.released += len(not_asked)
        answered = [
            (request, replies_of(by_key[request.answer_id].reply, 1)[0])
            for request in requests
            if not by_key[request.answer_id].not_asked
        ]
        self._store(batch, answered, collected)

    def _store(
        self, batch: ProbeBatch, answered: Sequence[tuple[BatchRequest, Reply]], collected: Collected
    ) -> None:
        endings = [
            Ending(
                request.answer,
                reply,
                sha256=request.answer.request_sha256,
                cost=self.purse.difference(request.reserved, reply),
            )
            for request, reply in answered
        ]
        with transaction.atomic():
            written = write_endings(endings)
            batch.under_way.filter(pk__in=[request.pk for request, _ in answered]).delete()
        for ending in written:
            collected.outcomes[ending.reply.outcome] += 1
            if ending.reply.outcome == Answer.Outcome.FAILED:
                collected.reason = ending.reply.reason
        self.stored(len(written))
