"""Metrics of jobs, queues and workers for Prometheus."""

from collections.abc import Iterable, Iterator
from datetime import timedelta
from typing import Any, cast

from django.conf import settings
from django.db.models import Count, DurationField, ExpressionWrapper, F, Min, Q, Sum
from django.db.models.functions import Coalesce
from django.http import HttpRequest, HttpResponse, HttpResponseForbidden
from django.utils import timezone
from django.utils.crypto import constant_time_compare
from django.utils.module_loading import import_string
from prometheus_client import CollectorRegistry, generate_latest
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, HistogramMetricFamily, Metric
from prometheus_client.exposition import CONTENT_TYPE_PLAIN_0_0_4
from prometheus_client.registry import Collector

from accounts.rights import Capability, requires
from jobs.engine import workers
from jobs.engine.queues import QUEUES
from jobs.models import Job

_BUCKETS = (1, 10, 60, 600, 3_600, 21_600, 86_400)  # seconds: from 1 second to 1 day


@requires(get=Capability.BY_KEY)
def metrics(request: HttpRequest) -> HttpResponse:
    """Return metrics of jobs and workers, and those in METRIC_SOURCES.

    For signed-in administrators, or a scraper with `Authorization: Bearer` and METRICS_TOKEN.
    """
    if not _may_read(request):
        return HttpResponseForbidden(
            "This address is for administrators, or for requests with the METRICS_TOKEN.\n",
            content_type="text/plain",
        )
    registry = CollectorRegistry(auto_describe=False)
    registry.register(_JobMetrics())
    return HttpResponse(generate_latest(registry), content_type=CONTENT_TYPE_PLAIN_0_0_4)


def _may_read(request: HttpRequest) -> bool:
    expected, authorization = settings.METRICS_TOKEN, request.headers.get("Authorization", "")
    if expected and constant_time_compare(authorization, f"Bearer {expected}"):
        return True
    return bool(request.user.is_active and request.user.is_superuser)


class _JobMetrics(Collector):
    """Reads the database at each scrape, so that the metrics cover all processes."""

    def collect(self) -> Iterator[Metric]:
        yield _jobs()
        yield _waiting()
        yield from _workers()
        yield from _attempts()
        yield _durations()
        for source in settings.METRIC_SOURCES:
            yield from import_string(source)()

    def describe(self) -> Iterable[Metric]:
        return ()


def _gauge(name: str, words: str, values: Iterable[tuple[str, float]]) -> GaugeMetricFamily:
    gauge = GaugeMetricFamily(f"stereoscope_{name}", words, labels=["queue"])
    for queue, value in values:
        gauge.add_metric([queue], value)
    return gauge


def _jobs() -> Metric:
    gauge = GaugeMetricFamily(
        "stereoscope_jobs", "Number of background jobs by queue and state.", labels=["queue", "state"]
    )
    job_counts = {
        (queue, state): number
        for queue, state, number in Job.objects.order_by().values_list("queue", "state").annotate(Count("pk"))
    }
    for queue in QUEUES:
        for state in Job.State.values:
            gauge.add_metric([queue, state], job_counts.get((queue, state), 0))
    return gauge


def _waiting() -> Metric:
    queued = Job.objects.filter(state=Job.State.QUEUED).order_by()
    oldest = dict(queued.values_list("queue").annotate(since=Min(Coalesce("queued_at", "created_at"))))
    now = timezone.now()
    return _gauge(
        "oldest_queued_seconds",
        "How long the oldest queued job has waited.",
        ((queue, (now - oldest[queue]).total_seconds() if queue in oldest else 0.0) for queue in QUEUES),
    )


def _workers() -> Iterator[Metric]:
    rows = list(workers.alive().values_list("queues", "idle_since"))
    yield _gauge(
        "workers",
        "Number of workers that take jobs from the queue and have reported within a lease.",
        ((queue, sum(queue in queues for queues, _ in rows)) for queue in QUEUES),
    )
    yield _gauge(
        "workers_idle",
        "Number of workers of the queue that are idle.",
        ((queue, sum(queue in queues and idle is not None for queues, idle in rows)) for queue in QUEUES),
    )


def _attempts() -> Iterator[Metric]:
    by_queue = {
        queue: (attempts, given_up)
        for queue, attempts, given_up in Job.objects.order_by()
        .values_list("queue")
        .annotate(tried=Sum("attempts"), hopeless=Count("pk", filter=Q(error_code="given_up")))
    }
    attempts = CounterMetricFamily(
        "stereoscope_job_attempts",
        "Number of times that jobs were started, counting each attempt.",
        labels=["queue"],
    )
    for queue in QUEUES:
        attempts.add_metric([queue], by_queue.get(queue, (0, 0))[0])
    yield attempts
    yield _gauge(
        "jobs_given_up",
        "Number of jobs that were given up because workers repeatedly died while running them.",
        ((queue, by_queue.get(queue, (0, 0))[1]) for queue in QUEUES),
    )


def _durations() -> Metric:
    histogram = HistogramMetricFamily(
        "stereoscope_job_duration_seconds",
        "Time from the first start of a job to its success, by kind.",
        labels=["kind"],
    )
    ended = Job.objects.filter(state=Job.State.SUCCEEDED, started_at__isnull=False).annotate(
        took=ExpressionWrapper(F("finished_at") - F("started_at"), output_field=DurationField())
    )
    buckets = {f"le_{limit}": Count("pk", filter=Q(took__lte=timedelta(seconds=limit))) for limit in _BUCKETS}
    rows = ended.order_by("kind").values("kind").annotate(total=Count("pk"), took_all=Sum("took"), **buckets)
    for row in cast("Iterable[dict[str, Any]]", rows):
        counts = [(str(limit), row[f"le_{limit}"]) for limit in _BUCKETS]
        histogram.add_metric(
            [row["kind"]], [*counts, ("+Inf", row["total"])], row["took_all"].total_seconds()
        )
    return histogram
