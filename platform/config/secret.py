"""A secret key of this machine's own, for a server that was given none."""

import contextlib
import os
import secrets
from pathlib import Path


def local_secret_key(path: Path) -> str:
    """Return the key kept at `path`, making one that only this user can read when there is none."""
    if not path.exists():
        draft = path.with_name(f"{path.name}.{os.getpid()}")
        descriptor = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
        with os.fdopen(descriptor, "w", encoding="utf-8") as file:
            file.write(secrets.token_urlsafe(50))
        # A link appears whole or not at all: of two processes that start together, both read one key.
        with contextlib.suppress(FileExistsError):
            os.link(draft, path)
        draft.unlink()
    return path.read_text(encoding="utf-8")
