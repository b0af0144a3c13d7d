"""The list of erased people that is kept outside the database, which an older backup does not know.

It names nobody: a line contains the time and a keyed hash of the random code that the person had. The table
`privacy.Erasure` holds the same; what the file lacks is written to it again.
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
    """Return an annotator's possible hashes in the list, by the present SECRET_KEY and by earlier ones."""
    return keyed_hashes(annotator.pseudonym, use=_USE)


def bury(annotator: Annotator) -> Erasure:
    """Note that somebody is erased. The file is written when that is committed."""
    erasure, _ = Erasure.objects.get_or_create(code_hash=hashes_of(annotator)[0])
    transaction.on_commit(after_erasing)
    return erasure


def after_erasing() -> None:
    """Write the list, and leave nothing of what was deleted in SQLite's journal."""
    write_missing()
    overwrite_journal()


def overwrite_journal() -> None:
    """Overwrite what SQLite keeps of deleted rows in its journal."""
    if connection.vendor == "sqlite" and not connection.in_atomic_block:
        with connection.cursor() as cursor:
            cursor.execute("PRAGMA wal_checkpoint(TRUNCATE)")


def write_missing(path: Path | None = None) -> int:
    """Add to the file what the table has and it lacks; return how many lines."""
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
    """Return the hashes in a file and when these people were erased; none where there is no file."""
    path = path or settings.ERASURES_FILE
    return dict(_lines(path.read_text(encoding="utf-8"))) if path.is_file() else {}


def _lines(text: str) -> Iterator[tuple[str, str]]:
    for line in text.splitlines():
        if line.strip():
            values = json.loads(line)
            yield str(values["code_hash"]), str(values["erased_at"])
