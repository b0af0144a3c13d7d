"""The jobs of this app: letters to a study's leads after an administrator opened it by break-glass."""

from functools import partial
from typing import Any

from django.conf import settings
from django.core.mail import EmailMessage
from django.urls import reverse
from django.utils import timezone

from foundation.errors import NotFound
from jobs.models import Job
from jobs.progress.reporter import Progress
from jobs.run.registry import register
from studies.membership.break_glass import LETTER
from studies.membership.letters import send_to_leads
from studies.models import BreakGlass


@register(LETTER)
def tell_leads(job: Job, progress: Progress) -> dict[str, Any]:
    """Write to each lead with an address who opened the study, why, and until when."""
    rows = BreakGlass.objects.select_related("study", "user").filter(pk=job.arguments["break_glass"])
    glass = rows.first()
    if glass is None:
        raise NotFound("study_not_found", "The study of this job was deleted.")
    summary = send_to_leads(study=glass.study, letter=partial(_letter, glass), progress=progress)
    return {"summary": summary}


def _letter(glass: BreakGlass, address: str) -> EmailMessage:
    study, page = glass.study, reverse("studies:history", args=[glass.study.slug])
    until = timezone.localtime(glass.ends_at)
    lines = [
        f"{glass.user}, an administrator of this server, opened the study “{study.name}” by break-glass and can read "
        f"everything in it until {until:%Y-%m-%d %H:%M} ({until:%Z}). Without break-glass, "
        "administrators who are not members of a study see none of its labels or results.",
        f"Reason: {glass.reason}",
        "The study’s history shows what was downloaded, and when the access ended:",
        f"{settings.SITE_URL}{page}" if settings.SITE_URL else f"See this page on your server: {page}",
    ]
    subject = f"Stereoscope: an administrator opened “{study.name}”"
    return EmailMessage(subject, "\n\n".join(lines) + "\n", to=[address])
