"""Background work of this app: telling a study's leads of a notice by e-mail."""

import smtplib
from typing import Any

from django.conf import settings
from django.core.mail import EmailMessage
from django.urls import reverse

from accounts.models import User
from annotation.models import Notice
from annotation.watch.notices import NOTIFY
from foundation.errors import DomainError
from jobs.models import Job
from jobs.progress.reporter import Progress
from jobs.run.registry import register
from studies.access import LEAD

_SUBJECTS = {
    Notice.Kind.FINISHED: "“{name}” has all its answers",
    Notice.Kind.STUCK: "“{name}” is stuck",
    Notice.Kind.SHORTFALL: "“{name}” needs more people for its quotas",
    Notice.Kind.JUNK: "many people in “{name}” are flagged",
    Notice.Kind.LOW_PAY: "“{name}” pays too little for an hour of work",
    Notice.Kind.STOPPED: "“{name}” was stopped by a rule",
}


@register(NOTIFY)
def notify(job: Job, progress: Progress) -> dict[str, Any]:
    """Mail one notice to each lead who has an address; one that no longer holds is not sent."""
    notice = (
        Notice.objects.filter(pk=job.arguments["notice"], resolved_at=None)
        .select_related("campaign__study")
        .first()
    )
    if notice is None:
        return {"summary": "It was no longer so; nothing was sent."}
    study = notice.campaign.study
    leads = User.objects.filter(study_memberships__study=study, study_memberships__role=LEAD, is_active=True)
    addresses = sorted(set(leads.exclude(email="").values_list("email", flat=True)))
    progress.start(len(addresses))
    for address in addresses:
        try:
            _letter(notice, address).send()
        except (smtplib.SMTPException, OSError) as error:
            # The kind alone: what a mail server answers may hold addresses and more.
            raise DomainError(
                "mail_not_sent",
                f"The mail server took no letter ({type(error).__name__}). Check EMAIL_HOST and what goes with it.",
            ) from error
        progress.advance()
    return {"summary": f"Sent to {len(addresses)} lead{'' if len(addresses) == 1 else 's'}."}


def _letter(notice: Notice, address: str) -> EmailMessage:
    campaign = notice.campaign
    page = reverse("annotation:campaign", args=[campaign.study.slug, campaign.slug])
    lines = [
        f"The campaign “{campaign.name}” of the study “{campaign.study.name}”:",
        notice.details,
        f"{settings.SITE_URL}{page}" if settings.SITE_URL else f"See it on your server under {page}",
    ]
    subject = _SUBJECTS[Notice.Kind(notice.kind)].format(name=campaign.name)
    return EmailMessage(f"Stereoscope: {subject}", "\n\n".join(lines) + "\n", to=[address])
