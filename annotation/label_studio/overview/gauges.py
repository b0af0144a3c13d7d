"""Gauges of Label Studio for operators: webhooks that have not been processed."""

from collections.abc import Iterator

from django.db.models import Count, Min
from django.utils import timezone
from prometheus_client.core import GaugeMetricFamily, Metric

from annotation.label_studio.models import LabelStudioEvent


def gauges() -> Iterator[Metric]:
    """Yield the number of waiting webhooks and the age of the oldest: one query."""
    now = timezone.now()
    events = LabelStudioEvent.objects.filter(done_at=None).aggregate(
        number=Count("pk"), since=Min("received_at")
    )
    yield GaugeMetricFamily(
        "stereoscope_label_studio_events",
        "Webhooks of Label Studio that have not been processed yet.",
        events["number"],
    )
    yield GaugeMetricFamily(
        "stereoscope_label_studio_events_oldest_seconds",
        "Age of the oldest webhook that has not been processed yet.",
        (now - (events["since"] or now)).total_seconds(),
    )
