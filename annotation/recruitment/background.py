"""Jobs of recruitment: compare places with the panel's places, and process the panel's events."""

from datetime import timedelta
from typing import Any

from django.core.cache import cache
from django.db.models import Exists, OuterRef
from django.urls import reverse

from accounts.models import User
from annotation.recruitment.models import PanelEvent, Provider, Recruitment
from annotation.recruitment.payments import background as _payments  # noqa: F401 - registers its jobs
from annotation.recruitment.prolific import reconcile, webhooks
from foundation.errors import NotFound
from jobs.models import Job
from jobs.progress.reporter import Progress
from jobs.run.execution import enqueue
from jobs.run.registry import register

COMPARE = "recruitment.compare"
EVENTS = "recruitment.events"
EVERY = timedelta(minutes=15)
_ON_A_VISIT = timedelta(seconds=30)
_SWEPT = "annotation.recruitment.background.swept"
_SWEEP_SECONDS = 20
_KEPT_JOBS = 20


@register(COMPARE)
def compare(job: Job, progress: Progress) -> dict[str, Any]:
    """Compare the places of a recruitment with the panel's."""
    recruitment = (
        Recruitment.objects.select_related("provider", "campaign__study")
        .filter(pk=job.arguments["recruitment"])
        .exclude(remote_study="")
        .first()
    )
    if recruitment is None:
        raise NotFound("recruitment_not_found", "This recruitment was deleted.")
    progress.start(1)
    report = reconcile.compare(recruitment)
    progress.advance()
    study, campaign = recruitment.campaign.study, recruitment.campaign
    return {
        "summary": f"{report.submissions:,} places at the panel, {report.changed:,} of them changed in Stereoscope.",
        "url": reverse("annotation:recruitment", args=[study.slug, campaign.slug, recruitment.pk]),
    }


@register(EVENTS)
def events(job: Job, _progress: Progress) -> dict[str, Any]:
    """Process the events of a panel."""
    provider = Provider.objects.filter(pk=job.arguments["provider"]).first()
    if provider is None:
        raise NotFound("panel_not_found", "This panel was deleted.")
    number = webhooks.handle(provider)
    if provider.events.filter(handled_at=None).exists():
        wake(provider)
    return {"summary": f"{number:,} events were handled."}


def wake(provider: Provider) -> None:
    """Queue the processing of events, unless a job for it is waiting."""
    if not _waits(EVENTS, provider=provider.pk):
        enqueue(
            kind=EVENTS,
            title=f"Process events from {provider.name}",
            arguments={"provider": provider.pk},
            by=None,
            study_id=provider.study_id,
        )


def compare_soon(recruitment: Recruitment, *, interval: timedelta = _ON_A_VISIT) -> None:
    """Queue the comparison of a recruitment, unless it was done recently."""
    if reconcile.is_due(recruitment, interval=interval):
        compare_now(recruitment, by=None)


def compare_now(recruitment: Recruitment, *, by: User | None) -> None:
    """Queue the comparison of a recruitment, unless a job for it is waiting."""
    if not _waits(COMPARE, recruitment=recruitment.pk):
        enqueue(
            kind=COMPARE,
            title=f"Compare “{recruitment.name}” with {recruitment.provider.name}",
            arguments={"recruitment": recruitment.pk},
            by=by,
            study_id=recruitment.campaign.study_id,
        )


def sweep() -> None:
    """Compare every recruitment that is due, process remaining events, and delete old records."""
    if not cache.add(_SWEPT, 1, timeout=_SWEEP_SECONDS):
        return
    webhooks.forget_old()
    waiting = PanelEvent.objects.filter(provider=OuterRef("pk"), handled_at=None)
    for provider in Provider.objects.filter(Exists(waiting)):
        wake(provider)
    compared = Recruitment.objects.exclude(provider__kind=Provider.Kind.LINKS).exclude(remote_study="")
    for recruitment in compared.filter(settled_at=None).select_related("provider", "campaign"):
        compare_soon(recruitment, interval=EVERY)
        _forget_jobs(recruitment.campaign.study_id)


def _waits(kind: str, **arguments: int) -> bool:
    return Job.objects.filter(kind=kind, state=Job.State.QUEUED, arguments=arguments).exists()


def _forget_jobs(study_id: int) -> None:
    """Keep only the newest finished jobs: there is one for each event."""
    for kind in (COMPARE, EVENTS):
        ended = Job.objects.filter(study_id=study_id, kind=kind, finished_at__isnull=False).order_by("-pk")
        oldest = ended.values_list("pk", flat=True)[_KEPT_JOBS : _KEPT_JOBS + 1].first()
        if oldest is not None:
            ended.filter(pk__lte=oldest).delete()
