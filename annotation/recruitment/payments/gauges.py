"""Gauges of panels for operators: unconfirmed payments, and unprocessed events from panels."""

from collections.abc import Iterator

from django.db.models import Count, Min
from django.utils import timezone
from prometheus_client.core import GaugeMetricFamily, Metric

from annotation.recruitment.models import PanelEvent, PanelPayment


def gauges() -> Iterator[Metric]:
    """Yield the outbox of payments by state, and waiting events of panels: one query each."""
    now = timezone.now()
    open_payments = PanelPayment.objects.filter(state__in=PanelPayment.OPEN, settled_at=None).order_by()
    rows = {
        state: (number, oldest)
        for state, number, oldest in open_payments.values_list("state").annotate(
            Count("pk"), Min("created_at")
        )
    }
    counts = GaugeMetricFamily(
        "stereoscope_panel_payments",
        "Unconfirmed payments to people from panels, by state.",
        labels=["state"],
    )
    for state in PanelPayment.OPEN:
        counts.add_metric([state], rows.get(state, (0, now))[0])
    yield counts
    oldest = min((since for _, since in rows.values()), default=now)
    yield GaugeMetricFamily(
        "stereoscope_panel_payments_oldest_seconds",
        "Age of the oldest payment that is not confirmed.",
        (now - oldest).total_seconds(),
    )
    events = PanelEvent.objects.filter(handled_at=None).aggregate(
        number=Count("pk"), since=Min("received_at")
    )
    yield GaugeMetricFamily(
        "stereoscope_panel_events", "Events from panels that have not been processed yet.", events["number"]
    )
    yield GaugeMetricFamily(
        "stereoscope_panel_events_oldest_seconds",
        "Age of the oldest webhook that has not been processed yet.",
        (now - (events["since"] or now)).total_seconds(),
    )
