"""A check whether files can be stored in a folder."""

import os
import shutil
import tempfile
from pathlib import Path

from django.conf import settings

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
