"""A secret key of this machine, for a server without a configured one."""

import contextlib
import os
import secrets
from pathlib import Path


def local_secret_key(path: Path) -> str:
    """Return the key stored at `path`; if there is none, create one that only this user can read."""
    if not path.exists():
        draft = path.with_name(f"{path.name}.{os.getpid()}")
        descriptor = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
        with os.fdopen(descriptor, "w", encoding="utf-8") as file:
            file.write(secrets.token_urlsafe(50))
        # A link is created atomically, so two processes that start together read the same key.
        with contextlib.suppress(FileExistsError):
            os.link(draft, path)
        draft.unlink()
    return path.read_text(encoding="utf-8")
