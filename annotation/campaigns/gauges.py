"""Gauges for operators while people answer: counts that identify no campaign or person."""

from collections.abc import Iterator
from datetime import timedelta

from django.utils import timezone
from prometheus_client.core import GaugeMetricFamily, Metric

from annotation.models import Annotation, Assignment, Campaign

_RECENT = timedelta(minutes=5)
_MOST_RECENT = 100_000  # answers that are counted


def gauges() -> Iterator[Metric]:
    """Yield recent answers, the age of the last one, open leases and open campaigns: one query each."""
    now = timezone.now()
    open_campaigns = Campaign.objects.filter(state=Campaign.State.OPEN).count()
    yield _gauge("campaigns_open", "Campaigns in which people can answer.", open_campaigns)
    leases = Assignment.objects.filter(state=Assignment.State.LEASED, expires_at__gt=now).count()
    yield _gauge("leases_open", "Screens that somebody has open.", leases)
    latest = Annotation.objects.order_by("-pk").values_list("submitted_at", flat=True).first()
    if latest is not None:
        age = max((now - latest).total_seconds(), 0.0)
        yield _gauge("last_answer_age_seconds", "Time since the last answer was stored.", age)
    # The newest by their numbers, which are in order of time except for imports, so that no index on time is needed.
    newest = Annotation.objects.order_by("-pk").values_list("submitted_at", flat=True)[:_MOST_RECENT]
    recent = 0
    for submitted_at in newest.iterator(chunk_size=1000):
        if submitted_at < now - _RECENT:
            break
        recent += 1
    yield _gauge("answers_recent", "Answers stored in the last five minutes.", recent)


def _gauge(name: str, words: str, value: float) -> Metric:
    gauge = GaugeMetricFamily(f"stereoscope_{name}", words)
    gauge.add_metric([], value)
    return gauge
