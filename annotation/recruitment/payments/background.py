"""The job that sends payments."""

from typing import Any

from django.db.models import F
from django.urls import reverse
from django.utils import timezone

from annotation.recruitment.models import PanelPayment, Recruitment
from annotation.recruitment.payments import panel_api, send
from annotation.recruitment.payments.job_queue import PAY
from foundation.errors import NotFound
from jobs.models import Job
from jobs.progress.reporter import Progress, Resting
from jobs.run.registry import register

# The job waits for payments that are due within this time; a new job is queued for later ones.
_WAITS = 120.0
_LEAST_WAIT = 1.0


@register(PAY)
def pay(job: Job, progress: Progress) -> dict[str, Any]:
    """Send planned payments and look up sent ones, until nothing is due soon."""
    recruitment = (
        Recruitment.objects.select_related("campaign__study", "provider")
        .filter(pk=job.arguments["recruitment"])
        .first()
    )
    if recruitment is None:
        raise NotFound("recruitment_not_found", "The recruitment was deleted.")
    progress.step("Paying")
    with panel_api.client_of(recruitment) as client:
        send.send_due(send.Outbox(recruitment, client))
    payments = PanelPayment.objects.filter(place__recruitment=recruitment)
    moments = payments.filter(settled_at__isnull=True)
    first = moments.order_by(F("next_try_at").asc(nulls_first=True)).first()
    if first is not None:
        moment = first.next_try_at or timezone.now()
        seconds = (moment - timezone.now()).total_seconds()
        if seconds < _WAITS:
            raise Resting(max(_LEAST_WAIT, seconds))
    confirmed = payments.filter(state=PanelPayment.State.CONFIRMED).count()
    campaign = recruitment.campaign
    return {
        "summary": f"{confirmed:,} of {payments.count():,} payments are confirmed.",
        "url": reverse(
            "annotation:recruitment_review", args=[campaign.study.slug, campaign.slug, recruitment.pk]
        ),
    }
