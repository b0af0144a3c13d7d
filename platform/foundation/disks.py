"""Whether bytes can be kept in a folder now."""

import os
import shutil
import tempfile
from pathlib import Path

from django.conf import settings

_PROBE = b"stereoscope" * 400  # more than a block, so that a full disk cannot take it


def disk_trouble(folder: Path) -> str:
    """Return why nothing can be kept in a folder, or that little room is left; "" when all is well.

    A file is written and brought to the disk: some full or read-only disks still open one.
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
