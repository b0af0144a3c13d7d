"""One at a time for a bridge: whoever pushes has all of it to themselves, and a killed process holds nothing."""

import fcntl
import hashlib
import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from django.db import connection

from accounts.errors import Conflict
from annotation.models import LabelStudioBridge


@contextmanager
def alone_with(bridge: LabelStudioBridge) -> Iterator[None]:
    """Hold the bridge for the block; Conflict when somebody else does. The database's connection holds it, or a file
    where the database is one: both let go by themselves when a process dies. No transaction stays open meanwhile.
    """
    name = f"stereoscope.label_studio:{bridge.public_id}"
    held = _on_server(name) if connection.vendor == "postgresql" else _on_this_machine(name)
    with held as mine:
        if not mine:
            raise Conflict(
                "label_studio_push_under_way",
                "This campaign is being sent to Label Studio just now; wait until that has ended.",
            )
        yield


@contextmanager
def _on_server(name: str) -> Iterator[bool]:
    key = int.from_bytes(hashlib.sha256(name.encode()).digest()[:8], "big", signed=True)
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_try_advisory_lock(%s)", [key])
        mine = bool(cursor.fetchone()[0])
    try:
        yield mine
    finally:
        # A connection that was lost meanwhile has let go already.
        if mine and connection.is_usable():
            with connection.cursor() as cursor:
                cursor.execute("SELECT pg_advisory_unlock(%s)", [key])


@contextmanager
def _on_this_machine(name: str) -> Iterator[bool]:
    # An SQLite database is used on one machine only.
    digest = hashlib.sha256(f"{connection.settings_dict['NAME']} {name}".encode()).hexdigest()[:32]
    file = os.open(
        Path(tempfile.gettempdir()) / f"stereoscope-{digest}.lock",
        os.O_RDWR | os.O_CREAT | os.O_CLOEXEC,
        0o600,
    )
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        mine = False
    else:
        mine = True
    try:
        yield mine
    finally:
        os.close(file)  # which unlocks it
