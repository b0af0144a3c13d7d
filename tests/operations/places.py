"""An empty server into which a test can restore."""

import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from tests.foundation.database.own_database import Server, platform_on
from tests.foundation.database.postgres import on_postgres, postgres_url, run_on_server


@contextmanager
def empty_place(folder: Path, **env: str) -> Iterator[Server]:
    """Yield a server with an empty, unmigrated database and an empty folder of files; remove it afterwards."""
    folder.mkdir()
    if not on_postgres():
        yield platform_on(f"sqlite:///{folder / 'own.sqlite3'}", folder, **env)
        return
    name = f"place_{uuid.uuid4().hex[:12]}"
    run_on_server(f'CREATE DATABASE "{name}"')
    try:
        yield platform_on(postgres_url(name), folder, **env)
    finally:
        run_on_server(f'DROP DATABASE "{name}" WITH (FORCE)')


def media(server: Server) -> Path:
    """Return the folder of the server's files."""
    return Path(server.env["STEREOSCOPE_VAR"]) / "media"


def files_of(server: Server) -> dict[str, bytes]:
    """Return the server's files by name, without those that are regenerated."""
    root = media(server)
    return {
        path.relative_to(root).as_posix(): path.read_bytes()
        for path in root.rglob("*")
        if path.is_file() and not path.is_relative_to(root / "shown")
    }
