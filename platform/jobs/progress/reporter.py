"""Progress reports of long operations, and requests to stop them."""

import time
from collections import deque
from datetime import datetime
from typing import Protocol

from django.db import connection
from django.utils import timezone

from foundation.redaction import without_secrets
from jobs.engine import shutdown
from jobs.engine.leases import held, lease_end
from jobs.models import Job
from jobs.progress import log
from jobs.progress.pace import Pace

_SECONDS_BETWEEN_WRITES = 1.0  # pages poll every 2 s, and each write is a commit
# Interval of automatic progress lines in the log.
_SECONDS_BETWEEN_LINES = 60.0


class Progress(Protocol):
    """The interface through which an operation reports its progress."""

    def step(self, name: str) -> None:
        """Begin a named part of the work, such as “Reading the archive”; `start` begins counting its steps."""

    def start(self, total: int | None = None) -> None:
        """Set the count to 0 of `total` steps; None if the total is unknown."""

    def advance(self, n: int = 1, message: str = "") -> None:
        """Count `n` more steps as done; `message` describes the current work."""

    def log(self, text: str) -> None:
        """Write a line to the job's log."""

    def check_cancelled(self) -> None:
        """Raise Cancelled if a stop was requested. Call this between steps, where stopping is safe."""

    def rest(self, seconds: float) -> None:
        """Wait for another system. In a worker, raise Resting; the job is queued again after `seconds`."""


class Cancelled(Exception):
    """A person cancelled the job."""


class Interrupted(Cancelled):
    """The worker must stop; another worker continues the job."""


class Resting(Interrupted):
    """The job waits for another system; meanwhile, its worker runs other jobs."""

    def __init__(self, seconds: float) -> None:
        super().__init__(seconds)
        self.seconds = seconds


class LeaseLost(Exception):
    """Another worker has taken over the job, so this worker must not write any more."""


class Unwatched:
    """Progress that is not reported anywhere."""

    def step(self, name: str) -> None: ...

    def start(self, total: int | None = None) -> None: ...

    def advance(self, n: int = 1, message: str = "") -> None: ...

    def log(self, text: str) -> None: ...

    def check_cancelled(self) -> None: ...

    def rest(self, seconds: float) -> None:
        time.sleep(seconds)


class JobProgress:
    """Progress written to the job's row, at most once a second, and passed on to `watcher`."""

    def __init__(self, job: Job, *, watcher: Progress | None = None) -> None:
        self._job = job
        self._watcher = watcher or Unwatched()
        self._in_worker = watcher is None
        self._step = ""
        self._total: int | None = None
        self._done = 0
        self._message = ""
        self._pace = Pace()
        self._lines: deque[tuple[datetime, str]] = deque(maxlen=log.MOST_LINES)
        self._line_at = time.monotonic()
        self._written_at = float("-inf")
        self._asked_at = float("-inf")
        self._depth = _transaction_depth()

    def step(self, name: str) -> None:
        self._watcher.step(name)
        self._step = name
        self._note(name)
        self._begin(None)

    def start(self, total: int | None = None) -> None:
        self._watcher.start(total)
        self._begin(total)

    def advance(self, n: int = 1, message: str = "") -> None:
        self._done += n
        self._message = message or self._message
        self._pace.note(self._done)
        self._watcher.advance(n, message)
        if time.monotonic() - self._line_at >= _SECONDS_BETWEEN_LINES:
            self._note(self._how_far())
        self._write_now_and_then()

    def log(self, text: str) -> None:
        self._watcher.log(text)
        self._note(text)
        self._write_now_and_then()

    def check_cancelled(self) -> None:
        self._watcher.check_cancelled()
        if shutdown.asked():
            raise Interrupted
        if time.monotonic() - self._asked_at < _SECONDS_BETWEEN_WRITES:
            return
        self._asked_at = time.monotonic()
        row = held(self._job).values_list("cancel_requested", flat=True).first()
        if row is None:
            raise LeaseLost(f"job {self._job.pk}")
        if row:
            raise Cancelled

    def rest(self, seconds: float) -> None:
        if self._in_worker:
            raise Resting(seconds)
        # At a console, a person waits for the end.
        end = time.monotonic() + seconds
        while (left := end - time.monotonic()) > 0:
            time.sleep(min(left, _SECONDS_BETWEEN_WRITES))
            self.check_cancelled()

    def write(self) -> None:
        """Write the count and the log, and renew the lease, unless the operation is inside its own transaction.

        In a transaction, the row would stay locked until the commit, and a person who cancels would have to wait.
        """
        self._written_at = time.monotonic()
        if _transaction_depth() != self._depth:
            return
        total = self._total
        now = timezone.now()
        written = held(self._job).update(
            step=self._step[:100],
            steps_total=total,
            steps_done=self._done if total is None else min(self._done, total),
            rate=self._pace.rate(self._done),
            message=without_secrets(self._message)[:300],
            heartbeat_at=now,
            lease_expires_at=lease_end(now),
        )
        if not written:
            raise LeaseLost(f"job {self._job.pk}")
        if self._lines:
            log.write(self._job, list(self._lines))
            self._lines.clear()

    def _write_now_and_then(self) -> None:
        if time.monotonic() - self._written_at >= _SECONDS_BETWEEN_WRITES:
            self.write()

    def _begin(self, total: int | None) -> None:
        self._total, self._done, self._message = total, 0, ""
        self._pace.restart()
        self.write()

    def _note(self, text: str) -> None:
        self._line_at = time.monotonic()
        self._lines.append((timezone.now(), text))

    def _how_far(self) -> str:
        count = f"{self._done:,}" if self._total is None else f"{self._done:,} of {self._total:,}"
        return f"{count}: {self._message}" if self._message else count


def _transaction_depth() -> tuple[bool, int]:
    return connection.in_atomic_block, len(connection.savepoint_ids)
