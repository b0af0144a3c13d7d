"""How a long verb says how far it is, and learns that it should stop."""

import time
from typing import Protocol

from django.db import connection
from django.utils import timezone

from jobs.leases import held, lease_end
from jobs.models import Job

_SECONDS_BETWEEN_WRITES = 0.5


class Progress(Protocol):
    """What a verb is given. The verb neither prints nor knows who watches."""

    def start(self, total: int | None = None) -> None:
        """Begin (again) at nothing of `total` steps; None when the number is not known."""

    def advance(self, n: int = 1, message: str = "") -> None:
        """Count `n` more steps as done; `message` says what is being done."""

    def check_cancelled(self) -> None:
        """Raise Cancelled when someone asked to stop. Call it between steps, where stopping is safe."""


class Cancelled(Exception):
    """Someone asked for the job to stop."""


class LeaseLost(Exception):
    """Another worker has taken the job over, so this one must not write any more."""


class Unwatched:
    """Progress that nobody follows."""

    def start(self, total: int | None = None) -> None: ...

    def advance(self, n: int = 1, message: str = "") -> None: ...

    def check_cancelled(self) -> None: ...


class JobProgress:
    """Progress written to the job's row, at most twice a second, and passed on to `watcher`."""

    def __init__(self, job: Job, *, watcher: Progress | None = None) -> None:
        self._job = job
        self._watcher = watcher or Unwatched()
        self._total: int | None = None
        self._done = 0
        self._message = ""
        self._written_at = float("-inf")
        self._asked_at = float("-inf")
        self._depth = _transaction_depth()

    def start(self, total: int | None = None) -> None:
        self._total, self._done, self._message = total, 0, ""
        self._watcher.start(total)
        self.write()

    def advance(self, n: int = 1, message: str = "") -> None:
        self._done += n
        self._message = message or self._message
        self._watcher.advance(n, message)
        if time.monotonic() - self._written_at >= _SECONDS_BETWEEN_WRITES:
            self.write()

    def check_cancelled(self) -> None:
        self._watcher.check_cancelled()
        if time.monotonic() - self._asked_at < _SECONDS_BETWEEN_WRITES:
            return
        self._asked_at = time.monotonic()
        row = held(self._job).values_list("cancel_requested", flat=True).first()
        if row is None:
            raise LeaseLost(f"job {self._job.pk}")
        if row:
            raise Cancelled

    def write(self) -> None:
        """Write the count and renew the lease, unless the verb is inside a transaction of its own.

        There the row would stay locked until the verb commits, and whoever cancels would wait for it.
        """
        self._written_at = time.monotonic()
        if _transaction_depth() != self._depth:
            return
        total = self._total
        now = timezone.now()
        written = held(self._job).update(
            steps_total=total,
            steps_done=self._done if total is None else min(self._done, total),
            message=self._message[:300],
            heartbeat_at=now,
            lease_expires_at=lease_end(now),
        )
        if not written:
            raise LeaseLost(f"job {self._job.pk}")


def _transaction_depth() -> tuple[bool, int]:
    return connection.in_atomic_block, len(connection.savepoint_ids)
