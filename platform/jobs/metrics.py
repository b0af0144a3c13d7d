"""What operators watch: jobs and queues as Prometheus reads them."""

from collections.abc import Iterator

from django.conf import settings
from django.db.models import Count, Min
from django.http import HttpRequest, HttpResponse, HttpResponseForbidden
from django.utils import timezone
from django.utils.crypto import constant_time_compare
from django.views.decorators.http import require_safe

from jobs.models import Job

QUEUES = ("default", "gpu")


@require_safe
def metrics(request: HttpRequest) -> HttpResponse:
    """Jobs by queue and state, and how long the oldest has waited.

    For an administrator who is signed in, or a scraper with `Authorization: Bearer` and METRICS_TOKEN.
    """
    if not _may_read(request):
        return HttpResponseForbidden(
            "For administrators, or with METRICS_TOKEN.\n", content_type="text/plain"
        )
    text = "\n".join([*_jobs(), *_waiting(), ""])
    return HttpResponse(text, content_type="text/plain; version=0.0.4; charset=utf-8")


def _may_read(request: HttpRequest) -> bool:
    expected, given = settings.METRICS_TOKEN, request.headers.get("Authorization", "")
    if expected and constant_time_compare(given, f"Bearer {expected}"):
        return True
    return bool(request.user.is_active and request.user.is_superuser)


def _jobs() -> Iterator[str]:
    yield "# HELP stereoscope_jobs Background jobs by queue and state."
    yield "# TYPE stereoscope_jobs gauge"
    counted = {
        (queue, state): number
        for queue, state, number in Job.objects.order_by().values_list("queue", "state").annotate(Count("pk"))
    }
    for queue in QUEUES:
        for state in Job.State.values:
            yield f'stereoscope_jobs{{queue="{queue}",state="{state}"}} {counted.get((queue, state), 0)}'


def _waiting() -> Iterator[str]:
    yield "# HELP stereoscope_oldest_queued_seconds How long the oldest queued job has waited."
    yield "# TYPE stereoscope_oldest_queued_seconds gauge"
    queued = Job.objects.filter(state=Job.State.QUEUED).order_by()
    oldest = dict(queued.values_list("queue").annotate(Min("created_at")))
    for queue in QUEUES:
        waited = (timezone.now() - oldest[queue]).total_seconds() if queue in oldest else 0.0
        yield f'stereoscope_oldest_queued_seconds{{queue="{queue}"}} {waited:.3f}'
