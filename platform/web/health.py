"""For operators: is the process up, and can it do its work."""

import tempfile

from django.conf import settings
from django.core.files.storage import storages
from django.db import DatabaseError, connection
from django.http import HttpRequest, HttpResponse, JsonResponse
from django.views.decorators.http import require_safe

from accounts.errors import DomainError
from config.object_storage import ObjectStorage
from jobs import engines


@require_safe
def healthz(request: HttpRequest) -> HttpResponse:  # noqa: ARG001
    """Answer as long as the process serves."""
    return HttpResponse("ok\n", content_type="text/plain")


@require_safe
def readyz(request: HttpRequest) -> JsonResponse:  # noqa: ARG001
    """Answer 200 when database, queue and storage work, else 503 naming what does not."""
    checks = {"database": _database(), "queue": _queue(), "storage": _storage()}
    return JsonResponse(checks, status=200 if all(value == "ok" for value in checks.values()) else 503)


def _database() -> str:
    try:
        with connection.cursor() as cursor:
            cursor.execute("SELECT 1")
    except DatabaseError as error:
        return f"failed: {type(error).__name__}"
    return "ok"


def _queue() -> str:
    trouble = engines.trouble()
    return f"failed: {trouble}" if trouble else "ok"


def _storage() -> str:
    storage = storages["default"]
    try:
        if isinstance(storage, ObjectStorage):
            storage.ping()
            return "ok"
        settings.MEDIA_ROOT.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=settings.MEDIA_ROOT):
            return "ok"
    except DomainError as error:
        return f"failed: {error.message}"
    except OSError as error:
        return f"failed: {error.strerror}"
