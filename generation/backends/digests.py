"""Digests of local model files. Digests of large files are reused until size or modification time changes."""

import hashlib
import json
import os
import tempfile
import time
from pathlib import Path

from django.conf import settings

_CHUNK = 1 << 20
# Smaller files are quick to read and are not cached.
_LARGE = 4 << 20
# A file written less than 2 s ago may change again without a new modification time.
_SETTLED_NANOSECONDS = 2_000_000_000
Known = dict[str, tuple[int, int, str]]  # path → size, modification time in ns, digest


def folder_digest(folder: Path) -> str:
    """Return a digest of the names and contents of all files except hidden ones."""
    digest = hashlib.sha256()
    digests = _read()
    before = dict(digests)
    for path in sorted(folder.rglob("*")):
        inside = path.relative_to(folder)
        if not path.is_file() or any(part.startswith(".") for part in inside.parts):
            continue
        digest.update(f"{inside.as_posix()}\0{_content(path, digests)}\n".encode())
    _keep(digests, before)
    return f"sha256:{digest.hexdigest()}"


def file_digest(path: Path) -> str:
    """Return a digest of the content of a file."""
    digests = _read()
    before = dict(digests)
    digest = _content(path, digests)
    _keep(digests, before)
    return f"sha256:{digest}"


def _content(path: Path, digests: Known) -> str:
    key, status = str(path.resolve()), path.stat()
    size, changed = status.st_size, status.st_mtime_ns
    if key in digests and digests[key][:2] == (size, changed):
        return digests[key][2]
    content = hashlib.sha256()
    with path.open("rb") as file:
        while chunk := file.read(_CHUNK):
            content.update(chunk)
    if size >= _LARGE and time.time_ns() - changed > _SETTLED_NANOSECONDS:
        digests[key] = size, changed, content.hexdigest()
    return content.hexdigest()


def _read() -> Known:
    try:
        stored = json.loads(settings.MODEL_DIGESTS.read_text(encoding="utf-8"))
        return {
            str(path): (int(size), int(changed), str(digest))
            for path, (size, changed, digest) in stored.items()
        }
    except (OSError, ValueError, TypeError, AttributeError):
        return {}  # missing or damaged: the stored digests only save time


def _keep(digests: Known, before: Known) -> None:
    """Store new digests atomically. If they cannot be written, they are computed again next time."""
    if digests == before:
        return
    try:
        settings.MODEL_DIGESTS.parent.mkdir(parents=True, exist_ok=True)
        handle, name = tempfile.mkstemp(dir=settings.MODEL_DIGESTS.parent, prefix="model-digests-")
        with os.fdopen(handle, "w", encoding="utf-8") as file:
            # Another process may have stored digests of other files meanwhile.
            json.dump(_read() | digests, file)
        Path(name).replace(settings.MODEL_DIGESTS)
    except OSError:
        return
