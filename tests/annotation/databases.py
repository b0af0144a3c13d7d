"""A database that threads can share: PostgreSQL as it is, SQLite as a file with the settings of a server."""

import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from django.db import connection, connections


@contextmanager
def shared_database(folder: Path) -> Iterator[None]:
    """Make the default database one that every thread of this process reaches by connections of its own.

    The test database of SQLite lives in memory and has one connection, so it is copied into a file.
    """
    if connection.vendor == "postgresql":
        yield
        return
    settings = connections.settings["default"]
    in_memory, name = connections["default"], settings["NAME"]
    in_memory.ensure_connection()
    path = folder / "shared.sqlite3"
    with sqlite3.connect(path) as copy:
        in_memory.connection.backup(copy)
    copy.close()
    settings["NAME"] = str(path)
    connections["default"] = connections.create_connection("default")
    try:
        yield
    finally:
        connections["default"].close()
        settings["NAME"] = name
        connections["default"] = in_memory
