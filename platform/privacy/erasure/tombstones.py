"""The list of erased people, kept outside the database, because an older backup lacks recent erasures.

The list names nobody: a line contains the time and a keyed hash of the person's random code. The table
`privacy.Erasure` has the same content; lines that the file lacks are written to it again.
"""

import fcntl
import json
import os
from collections.abc import Iterator
from pathlib import Path

from django.conf import settings
from django.db import connection, transaction

from accounts.models import Annotator
from foundation.encryption import keyed_hashes
from privacy.models import Erasure

_USE = "stereoscope erased people"


def hashes_of(annotator: Annotator) -> tuple[str, ...]:
    """Return an annotator's possible hashes in the list, by the current and earlier SECRET_KEYs."""
    return keyed_hashes(annotator.pseudonym, use=_USE)


def bury(annotator: Annotator) -> Erasure:
    """Record the erasure of an annotator; the file is written after the commit."""
    erasure, _ = Erasure.objects.get_or_create(code_hash=hashes_of(annotator)[0])
    transaction.on_commit(after_erasing)
    return erasure


def after_erasing() -> None:
    """Write the list, and remove deleted rows from SQLite's journal."""
    write_missing()
    overwrite_journal()


def overwrite_journal() -> None:
    """Truncate SQLite's write-ahead log, which may contain deleted rows."""
    if connection.vendor == "sqlite" and not connection.in_atomic_block:
        with connection.cursor() as cursor:
            cursor.execute("PRAGMA wal_checkpoint(TRUNCATE)")


def write_missing(path: Path | None = None) -> int:
    """Add the erasures that the file lacks; return the number of lines added."""
    path = path or settings.ERASURES_FILE
    if not Erasure.objects.exists():
        return 0
    path.parent.mkdir(parents=True, exist_ok=True)
    with os.fdopen(os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600), "r+") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        written = {code_hash for code_hash, _ in _lines(file.read())}
        missing = [erasure for erasure in Erasure.objects.all() if erasure.code_hash not in written]
        for erasure in missing:
            line = {"code_hash": erasure.code_hash, "erased_at": erasure.erased_at.isoformat()}
            file.write(json.dumps(line) + "\n")
        file.flush()
        os.fsync(file.fileno())
    return len(missing)


def erased_codes(path: Path | None = None) -> dict[str, str]:
    """Return hash → time of erasure from a file; empty if the file does not exist."""
    path = path or settings.ERASURES_FILE
    return dict(_lines(path.read_text(encoding="utf-8"))) if path.is_file() else {}


def _lines(text: str) -> Iterator[tuple[str, str]]:
    for line in text.splitlines():
        if line.strip():
            values = json.loads(line)
            yield str(values["code_hash"]), str(values["erased_at"])
