"""For operators: is the process up, and can it do its work."""

import tempfile

from django.conf import settings
from django.db import DatabaseError, connection
from django.http import HttpRequest, HttpResponse, JsonResponse
from django.views.decorators.http import require_safe


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
    from django_tasks_db.models import DBTaskResult

    try:
        DBTaskResult.objects.only("pk").first()
    except DatabaseError as error:
        return f"failed: {type(error).__name__}"
    return "ok"


def _storage() -> str:
    try:
        settings.MEDIA_ROOT.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=settings.MEDIA_ROOT):
            return "ok"
    except OSError as error:
        return f"failed: {error.strerror}"
