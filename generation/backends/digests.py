"""What exactly a local model holds. Large files are read once: as long as size and time stay, so does their digest."""

import hashlib
import json
import os
import tempfile
import time
from pathlib import Path

from django.conf import settings

_CHUNK = 1 << 20
# Smaller ones are read in no time.
_LARGE = 4 << 20
# A file that was written just now may be written again within the same tick of its clock.
_SETTLED_NANOSECONDS = 2_000_000_000
Known = dict[str, tuple[int, int, str]]  # size, time of change and digest, by path


def folder_digest(folder: Path) -> str:
    """Return a digest over the names and contents of all files, hidden ones left out."""
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
    """Return a digest of the content of one file."""
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
        return {}  # none yet, or damaged: it is only ever a short cut


def _keep(digests: Known, before: Known) -> None:
    """Write what is new, all at once; without room or right to write it is found out again the next time."""
    if digests == before:
        return
    try:
        settings.MODEL_DIGESTS.parent.mkdir(parents=True, exist_ok=True)
        handle, name = tempfile.mkstemp(dir=settings.MODEL_DIGESTS.parent, prefix="model-digests-")
        with os.fdopen(handle, "w", encoding="utf-8") as file:
            # Another process may have learnt of other files meanwhile.
            json.dump(_read() | digests, file)
        Path(name).replace(settings.MODEL_DIGESTS)
    except OSError:
        return
