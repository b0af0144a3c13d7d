"""Locks on a bridge: only one process pushes at a time, and a killed process releases its lock."""

import fcntl
import hashlib
import os
import stat
import tempfile
import time
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path

from django.db import connection

from annotation.label_studio.models import LabelStudioBridge
from foundation.errors import Conflict
from jobs.progress.reporter import Progress

_SECONDS_BETWEEN_LOOKS = 0.1


@contextmanager
def alone_with(bridge: LabelStudioBridge) -> Iterator[None]:
    """Lock the bridge for the block; Conflict if another process holds the lock. The lock belongs to the database
    connection or, with SQLite, to a file: both are released when a process dies. No transaction stays open meanwhile.
    """
    with _held(f"stereoscope.label_studio:{bridge.public_id}") as has_lock:
        if not has_lock:
            raise Conflict(
                "label_studio_push_under_way",
                "This campaign is being sent to Label Studio now. Wait until sending has ended.",
            )
        yield


@contextmanager
def reading_from(bridge: LabelStudioBridge, *, seconds: float, progress: Progress) -> Iterator[bool]:
    """Be the only process that reads from Label Studio, for the block; False if another still reads after `seconds`.

    Two processes at once could overwrite newer data with older data. Pushing does not wait for this lock.
    """
    end = time.monotonic() + seconds
    while True:
        with _held(f"stereoscope.label_studio.reading:{bridge.public_id}") as has_lock:
            if has_lock or time.monotonic() >= end:
                yield has_lock
                return
        progress.check_cancelled()
        time.sleep(_SECONDS_BETWEEN_LOOKS)


def _held(name: str) -> AbstractContextManager[bool]:
    return _on_server(name) if connection.vendor == "postgresql" else _on_this_machine(name)


@contextmanager
def _on_server(name: str) -> Iterator[bool]:
    key = int.from_bytes(hashlib.sha256(name.encode()).digest()[:8], "big", signed=True)
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_try_advisory_lock(%s)", [key])
        has_lock = bool(cursor.fetchone()[0])
    try:
        yield has_lock
    finally:
        # A lost connection has already released the lock.
        if has_lock and connection.is_usable():
            with connection.cursor() as cursor:
                cursor.execute("SELECT pg_advisory_unlock(%s)", [key])


@contextmanager
def _on_this_machine(name: str) -> Iterator[bool]:
    # An SQLite database is used on only one machine.
    database = Path(connection.settings_dict["NAME"])
    digest = hashlib.sha256(f"{database} {name}".encode()).hexdigest()[:32]
    if database.is_file():
        file = _opened(database.with_name(f"{database.name}.{digest}.lock"), like=database.stat())
    else:  # in memory
        file = _opened(Path(tempfile.gettempdir()) / f"stereoscope-{digest}.lock", like=None)
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        has_lock = False
    else:
        has_lock = True
    try:
        yield has_lock
    finally:
        os.close(file)  # which unlocks it


def _opened(path: Path, *, like: os.stat_result | None) -> int:
    """Open a file, creating it if needed. Everybody who may write to the database may lock it."""
    file = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600)
    status = os.fstat(file)
    if like is not None and status.st_uid == os.geteuid():
        os.fchmod(file, stat.S_IMODE(like.st_mode) & 0o666)
        if os.geteuid() == 0:
            os.fchown(file, like.st_uid, like.st_gid)
    return file
