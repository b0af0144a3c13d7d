"""Health checks for operators: whether the process is running, and whether it is ready."""

from pathlib import Path

from django.conf import settings
from django.core.files.storage import storages
from django.db import DatabaseError, connection
from django.http import HttpRequest, HttpResponse, JsonResponse

from accounts.rights import Capability, requires
from foundation.disks import disk_trouble
from foundation.errors import DomainError
from jobs.engine import backends
from operations.backups.databases.base import MARKER


@requires(get=Capability.ANYONE)
def healthz(request: HttpRequest) -> HttpResponse:  # noqa: ARG001
    """Return 200 while the process serves requests."""
    return HttpResponse("ok\n", content_type="text/plain")


@requires(get=Capability.ANYONE)
def readyz(request: HttpRequest) -> JsonResponse:  # noqa: ARG001
    """Return 200 if database, queue and storage work, else 503 with the failures."""
    checks = {"database": _database(), "queue": _queue(), "storage": _storage()}
    return JsonResponse(checks, status=200 if all(value == "ok" for value in checks.values()) else 503)


def _database() -> str:
    try:
        with connection.cursor() as cursor:
            cursor.execute("SELECT 1")
            if connection.vendor == "postgresql":
                cursor.execute("SHOW transaction_read_only")
                if cursor.fetchone() == ("on",):
                    return "failed: it is read-only"
            if MARKER in connection.introspection.table_names(cursor):
                return "failed: a restore was interrupted"
    except DatabaseError as error:
        return f"failed: {type(error).__name__}"
    return _said(_database_disk())


def _database_disk() -> str:
    """Return the problem of the folder with the SQLite file and its journal, or ""."""
    name = str(connection.settings_dict["NAME"])
    if connection.vendor != "sqlite" or "memory" in name:
        return ""
    return disk_trouble(Path(name).resolve().parent)


def _queue() -> str:
    return _said(backends.trouble())


def _storage() -> str:
    # Recognised by its method, because importing its class loads libraries that only servers with a bucket need.
    ping = getattr(storages["default"], "ping", None)
    if ping is None:
        return _said(disk_trouble(Path(settings.MEDIA_ROOT)))
    try:
        ping()
    except DomainError as error:
        return f"failed: {error.message}"
    return "ok"


def _said(trouble: str) -> str:
    return f"failed: {trouble}" if trouble else "ok"
