"""A migrated, empty database that all processes of a test run copy.

Migrating takes ten seconds of processor time, a copy milliseconds. The database is kept between runs and recreated
when a migration or the engine changes. On SQLite it is a file in the folder of the tests, on PostgreSQL a database.
"""

import fcntl
import hashlib
import os
import sqlite3
import subprocess
import sys
from collections.abc import Iterator
from contextlib import closing, contextmanager
from functools import cache
from pathlib import Path

import django
from django.apps import apps
from django.conf import settings

from tests.foundation.database.postgres import on_postgres, postgres_url, run_on_server

ROOT = Path(__file__).resolve().parents[3]


@cache
def migrated_database() -> str:
    """Return the file (SQLite) or the name (PostgreSQL) of the migrated database; create it if it does not exist."""
    folder = Path(settings.VAR) / "migrated"
    folder.mkdir(parents=True, exist_ok=True)
    with _lock(folder / "lock"):
        return _on_server() if on_postgres() else _in_file(folder)


def load_into(name: str) -> sqlite3.Connection:
    """Copy the migrated file into an SQLite database in memory, which lives as long as the returned connection."""
    memory = sqlite3.connect(name, uri=True, check_same_thread=False)
    with closing(sqlite3.connect(migrated_database())) as file:
        file.backup(memory)
    return memory


def _in_file(folder: Path) -> str:
    file = folder / f"{fingerprint()}.sqlite3"
    if not file.exists():
        for outdated in folder.glob("*.sqlite3*"):
            outdated.unlink()
        unfinished = folder / "unfinished.sqlite3"
        migrate(f"sqlite:///{unfinished}", folder)
        unfinished.rename(file)
    return str(file)


def _on_server() -> str:
    # Per checkout, so that checkouts do not drop each other's databases.
    prefix = f"migrated_{hashlib.sha256(str(ROOT).encode()).hexdigest()[:8]}_"
    name = prefix + fingerprint()
    databases = {row[0] for row in run_on_server("SELECT datname FROM pg_database")}
    if name not in databases:
        for outdated in databases:
            if outdated.startswith(prefix):
                run_on_server(f'DROP DATABASE "{outdated}" WITH (FORCE)')
        unfinished = f"{prefix}unfinished"
        run_on_server(f'CREATE DATABASE "{unfinished}"')
        migrate(postgres_url(unfinished), Path(settings.VAR))
        run_on_server(f'ALTER DATABASE "{unfinished}" RENAME TO "{name}"')
    return name


def fingerprint() -> str:
    """Return a text that changes when the result of `migrate` may change."""
    digest = hashlib.sha256(f"{django.VERSION} {sys.version} {settings.INSTALLED_APPS}".encode())
    folders = [Path(app.path) / "migrations" for app in apps.get_app_configs()]
    folders.append(ROOT / "platform" / "foundation" / "database")
    for folder in folders:
        for file in sorted(folder.rglob("*.py")):
            digest.update(str(file).encode() + file.read_bytes())
    return digest.hexdigest()[:16]


def migrate(url: str, folder: Path) -> None:
    """Migrate the database at `url` in a process whose files are in `folder`."""
    environment = {
        "PATH": os.environ["PATH"],
        "STEREOSCOPE_VAR": str(folder),
        "DATABASE_URL": url,
        "SECRET_KEY": "a key for tests only, long enough to be one",
    }
    command = [sys.executable, "manage.py", "migrate", "-v", "0"]
    migration = subprocess.run(
        command, cwd=ROOT, env=environment, capture_output=True, text=True, check=False
    )
    if migration.returncode:
        raise AssertionError(f"migrate ended with {migration.returncode}: {migration.stderr}")


@contextmanager
def _lock(file: Path) -> Iterator[None]:
    """Wait until no other process is creating the database."""
    with file.open("w") as opened:
        fcntl.flock(opened, fcntl.LOCK_EX)
        yield
