"""What exactly a local model folder holds."""

import hashlib
from pathlib import Path

_CHUNK = 1 << 20


def folder_digest(folder: Path) -> str:
    """Return a digest over the names and contents of all files, hidden ones left out."""
    digest = hashlib.sha256()
    for path in sorted(folder.rglob("*")):
        inside = path.relative_to(folder)
        if not path.is_file() or any(part.startswith(".") for part in inside.parts):
            continue
        content = hashlib.sha256()
        with path.open("rb") as file:
            while chunk := file.read(_CHUNK):
                content.update(chunk)
        digest.update(f"{inside.as_posix()}\0{content.hexdigest()}\n".encode())
    return f"sha256:{digest.hexdigest()}"
