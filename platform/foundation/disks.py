"""Checks whether files can be stored in a folder, and whether an error was caused by a full disk."""

import errno
import os
import shutil
import tempfile
from pathlib import Path

from django.conf import settings
from django.db import OperationalError

_DISK_FULL = "53100"  # PostgreSQL's code
NO_ROOM = "The server's disk is full. Free some space and try again. Completed work is kept."
_PROBE = b"stereoscope" * 400  # more than a block, so that it fails on a full disk


def disk_trouble(folder: Path) -> str:
    """Return why files cannot be stored in a folder, or that little space is free; "" if all is well.

    A file is written and synchronised, because some full or read-only disks still allow opening one.
    """
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=folder) as file:
            file.write(_PROBE)
            file.flush()
            os.fsync(file.fileno())
        free = shutil.disk_usage(folder).free
    except OSError as error:
        return error.strerror or type(error).__name__
    if free < settings.READY_FREE_BYTES:
        return f"{free:,} bytes are free, fewer than the {settings.READY_FREE_BYTES:,} of READY_FREE_BYTES"
    return ""


def no_room(error: BaseException) -> bool:
    """Return whether an error was caused by a full disk, of files or of the database."""
    if isinstance(error, OSError):
        return error.errno in {errno.ENOSPC, errno.EDQUOT}
    if not isinstance(error, OperationalError):
        return False
    return "disk is full" in str(error) or getattr(error.__cause__, "sqlstate", "") == _DISK_FULL
