"""Rehearsing a restore into a temporary database and folder."""

import json
import os
import subprocess
import sys
import tempfile
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import quote

import psycopg
from django.conf import settings
from django.db import connection
from psycopg import sql

from foundation.errors import DomainError
from jobs.progress.reporter import Progress, Unwatched
from operations.backups.folder import BackupFolder
from operations.backups.manifest import Manifest
from operations.backups.restore import check_manifest

# Passed to the process as values, so that no file overrides them.
_SET = ("DATABASE_URL", "SECRET_KEY", "SECRET_KEY_FALLBACKS", "MEDIA_ROOT", "STEREOSCOPE_VAR")
# Settings through which the rehearsal could contact other systems.
_UNSET = (
    "FILES_BUCKET",
    "CELERY_BROKER_URL",
    "EMAIL_HOST",
    "OPENAI_API_KEY",
    "VISION_API_KEY",
    "TASKS_BACKEND",
)


@dataclass(frozen=True)
class VerifyReport:
    """The result of a rehearsal, with study and digest of the report that was computed again, or "".

    Only a report that was current at the backup's moment can be compared.
    """

    backup_name: str
    manifest: Manifest
    study: str
    inputs_digest: str


def verify(
    *,
    folder: Path,
    backup_name: str = "",
    database_url: str = "",
    scratch: Path | None = None,
    progress: Progress | None = None,
) -> VerifyReport:
    """Restore a backup separately, compare its rows and files with the backup, and compute one report again.

    On PostgreSQL, a temporary database is created on the server, unless `database_url` names an empty one.
    """
    progress = progress or Unwatched()
    backups = BackupFolder(folder)
    with backups.locked(exclusive=False):
        backup_name = backups.choose(backup_name)
        manifest = check_manifest(backups, backup_name)
        progress.step("Restoring to a separate location")
        progress.start()
        with (
            tempfile.TemporaryDirectory(prefix="stereoscope-verify-", dir=scratch) as place,
            _scratch_database(manifest, Path(place), database_url) as url,
        ):
            outcome = _rehearse(backups.path, backup_name, url, Path(place))
    return VerifyReport(backup_name, manifest, outcome["study"], outcome["inputs_digest"])


def _rehearse(folder: Path, backup_name: str, url: str, place: Path) -> dict[str, Any]:
    root = Path(settings.ROOT)
    values = {
        "DATABASE_URL": url,
        "SECRET_KEY": settings.SECRET_KEY,
        "SECRET_KEY_FALLBACKS": ",".join(settings.SECRET_KEY_FALLBACKS),
        "MEDIA_ROOT": str(place / "media"),
        "STEREOSCOPE_VAR": str(place / "var"),
        "PYTHONPATH": os.pathsep.join([str(root / "platform"), str(root)]),
    }
    kept = {
        name: value
        for name, value in os.environ.items()
        if name.removesuffix("_FILE") not in {*_SET, *_UNSET}
    }
    process = subprocess.run(  # noqa: S603 -- our own module
        [sys.executable, "-m", "operations.backups.rehearsal", str(folder), backup_name],
        cwd=root,
        env=kept | values,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=False,
    )
    outcome = _outcome(process.stdout)
    if outcome is None:
        lines = process.stderr.strip().splitlines() or ["no reason given"]
        raise DomainError(
            "rehearsal_failed", f"The rehearsal ended before it was complete: {lines[-1][:300]}"
        )
    if "code" in outcome:
        raise DomainError(outcome["code"], outcome["message"])
    return outcome


def _outcome(printed: str) -> dict[str, Any] | None:
    try:
        outcome = json.loads(printed.strip().rpartition("\n")[2])
    except json.JSONDecodeError:
        return None
    return outcome if isinstance(outcome, dict) else None


@contextmanager
def _scratch_database(manifest: Manifest, place: Path, database_url: str) -> Iterator[str]:
    if database_url or manifest.engine == "sqlite":
        yield database_url or f"sqlite:///{place / 'verify.sqlite3'}"
        return
    if connection.vendor != "postgresql":
        raise DomainError(
            "scratch_database_missing",
            "The backup contains a PostgreSQL database: name an empty PostgreSQL database for the rehearsal "
            "(--database).",
        )
    name = f"{connection.settings_dict['NAME'][:40]}_verify_{uuid.uuid4().hex[:8]}"
    with _server() as server:
        server.execute(sql.SQL("CREATE DATABASE {} TEMPLATE template0").format(sql.Identifier(name)))
    try:
        yield _url(name)
    finally:
        with _server() as server:
            server.execute(sql.SQL("DROP DATABASE {} WITH (FORCE)").format(sql.Identifier(name)))


@contextmanager
def _server() -> Iterator["psycopg.Connection[Any]"]:
    try:
        with psycopg.connect(_url(connection.settings_dict["NAME"]), autocommit=True) as server:
            yield server
    except psycopg.Error as error:
        reason = str(error).strip().splitlines()[0]
        raise DomainError(
            "scratch_database_refused",
            f"PostgreSQL refused to create a database for the rehearsal ({reason}): create an empty database and "
            f"name the database with --database.",
        ) from None


def _url(name: str) -> str:
    database = connection.settings_dict
    password = f":{quote(str(database['PASSWORD']), safe='')}" if database["PASSWORD"] else ""
    port = f":{database['PORT']}" if database["PORT"] else ""
    user = quote(str(database["USER"]), safe="")
    options = "&".join(
        f"{key}={quote(str(value), safe='')}"
        for key, value in database.get("OPTIONS", {}).items()
        if isinstance(value, str)
    )
    return f"postgresql://{user}{password}@{database['HOST']}{port}/{quote(name)}" + (
        f"?{options}" if options else ""
    )
