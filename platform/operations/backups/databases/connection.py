"""The database of this process."""

from pathlib import Path

from django.db import connection

from operations.backups.databases.base import Database
from operations.backups.databases.postgresql import PostgresDatabase
from operations.backups.databases.sqlite import SqliteDatabase


def current_database() -> Database:
    """Return the database in the settings, after closing Django's own connection."""
    connection.close()
    if connection.vendor == "postgresql":
        return PostgresDatabase(connection.settings_dict)
    return SqliteDatabase(Path(str(connection.settings_dict["NAME"])))
