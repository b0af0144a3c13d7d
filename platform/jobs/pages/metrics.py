"""What operators watch: jobs, queues and workers as Prometheus reads them."""

from collections.abc import Iterable, Iterator
from datetime import timedelta
from typing import Any, cast

from django.conf import settings
from django.db.models import Count, DurationField, ExpressionWrapper, F, Min, Q, Sum
from django.db.models.functions import Coalesce
from django.http import HttpRequest, HttpResponse, HttpResponseForbidden
from django.utils import timezone
from django.utils.crypto import constant_time_compare
from django.views.decorators.http import require_safe

from jobs.engine import workers
from jobs.engine.queues import QUEUES
from jobs.models import Job

_BUCKETS = (1, 10, 60, 600, 3_600, 21_600, 86_400)  # seconds: from a page's work to a night's


@require_safe
def metrics(request: HttpRequest) -> HttpResponse:
    """Jobs by queue and state, how long they wait and take, how often they are tried, and who is there to do them.

    For an administrator who is signed in, or a scraper with `Authorization: Bearer` and METRICS_TOKEN.
    """
    if not _may_read(request):
        return HttpResponseForbidden(
            "For administrators, or with METRICS_TOKEN.\n", content_type="text/plain"
        )
    text = "\n".join([*_jobs(), *_waiting(), *_workers(), *_attempts(), *_durations(), ""])
    return HttpResponse(text, content_type="text/plain; version=0.0.4; charset=utf-8")


def _may_read(request: HttpRequest) -> bool:
    expected, given = settings.METRICS_TOKEN, request.headers.get("Authorization", "")
    if expected and constant_time_compare(given, f"Bearer {expected}"):
        return True
    return bool(request.user.is_active and request.user.is_superuser)


def _head(name: str, kind: str, words: str) -> list[str]:
    return [f"# HELP stereoscope_{name} {words}", f"# TYPE stereoscope_{name} {kind}"]


def _by_queue(name: str, values: Iterable[tuple[str, object]]) -> Iterator[str]:
    for queue, value in values:
        yield f'stereoscope_{name}{{queue="{queue}"}} {value}'


def _jobs() -> Iterator[str]:
    yield from _head("jobs", "gauge", "Background jobs by queue and state.")
    counted = {
        (queue, state): number
        for queue, state, number in Job.objects.order_by().values_list("queue", "state").annotate(Count("pk"))
    }
    for queue in QUEUES:
        for state in Job.State.values:
            yield f'stereoscope_jobs{{queue="{queue}",state="{state}"}} {counted.get((queue, state), 0)}'


def _waiting() -> Iterator[str]:
    yield from _head("oldest_queued_seconds", "gauge", "How long the oldest queued job has waited.")
    queued = Job.objects.filter(state=Job.State.QUEUED).order_by()
    oldest = dict(queued.values_list("queue").annotate(since=Min(Coalesce("queued_at", "created_at"))))
    now = timezone.now()
    waited = ((now - oldest[queue]).total_seconds() if queue in oldest else 0.0 for queue in QUEUES)
    yield from _by_queue("oldest_queued_seconds", zip(QUEUES, (f"{one:.3f}" for one in waited), strict=True))


def _workers() -> Iterator[str]:
    rows = list(workers.alive().values_list("queues", "idle_since"))
    yield from _head("workers", "gauge", "Workers heard of within a lease that take jobs of the queue.")
    yield from _by_queue("workers", ((queue, sum(queue in queues for queues, _ in rows)) for queue in QUEUES))
    yield from _head("workers_idle", "gauge", "Those of them that have nothing to do.")
    yield from _by_queue(
        "workers_idle",
        ((queue, sum(queue in queues and idle is not None for queues, idle in rows)) for queue in QUEUES),
    )


def _attempts() -> Iterator[str]:
    tried = {
        queue: (attempts, given_up)
        for queue, attempts, given_up in Job.objects.order_by()
        .values_list("queue")
        .annotate(tried=Sum("attempts"), hopeless=Count("pk", filter=Q(error_code="given_up")))
    }
    yield from _head("job_attempts_total", "counter", "How often jobs were begun, counting each attempt.")
    yield from _by_queue("job_attempts_total", ((queue, tried.get(queue, (0, 0))[0]) for queue in QUEUES))
    yield from _head("jobs_given_up", "gauge", "Jobs given up because workers died of them again and again.")
    yield from _by_queue("jobs_given_up", ((queue, tried.get(queue, (0, 0))[1]) for queue in QUEUES))


def _durations() -> Iterator[str]:
    name = "job_duration_seconds"
    yield from _head(name, "histogram", "Time from the first start of a job to its success, by kind.")
    ended = Job.objects.filter(state=Job.State.SUCCEEDED, started_at__isnull=False).annotate(
        took=ExpressionWrapper(F("finished_at") - F("started_at"), output_field=DurationField())
    )
    buckets = {f"le_{limit}": Count("pk", filter=Q(took__lte=timedelta(seconds=limit))) for limit in _BUCKETS}
    rows = ended.order_by("kind").values("kind").annotate(total=Count("pk"), took_all=Sum("took"), **buckets)
    for row in cast("Iterable[dict[str, Any]]", rows):
        kind = f'kind="{row["kind"]}"'
        for limit in _BUCKETS:
            yield f'stereoscope_{name}_bucket{{{kind},le="{limit}"}} {row[f"le_{limit}"]}'
        yield f'stereoscope_{name}_bucket{{{kind},le="+Inf"}} {row["total"]}'
        yield f"stereoscope_{name}_sum{{{kind}}} {row['took_all'].total_seconds():.3f}"
        yield f"stereoscope_{name}_count{{{kind}}} {row['total']}"
