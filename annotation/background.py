"""Background work of this app: letters to a study's leads, and to people who get a personal link."""

from functools import partial
from typing import Any

from django.conf import settings
from django.core.mail import EmailMessage
from django.db.models import Count
from django.urls import reverse
from django.utils import timezone

from annotation.lead.campaigns.outcome import CLOSED
from annotation.models import Campaign, InvitationLetter, Notice
from annotation.people import letter_delivery
from annotation.people.letter_queue import SEND
from annotation.watch.notices import NOTIFY
from foundation.errors import NotFound
from jobs.models import Job
from jobs.progress.reporter import Progress, Resting
from jobs.run.registry import register
from studies.membership.letters import send_to_leads
from web.navigation import next_steps

_SUBJECTS = {
    Notice.Kind.FINISHED: "“{name}” has all its answers",
    Notice.Kind.STUCK: "“{name}” is stuck",
    Notice.Kind.SHORTFALL: "“{name}” needs more people for its quotas",
    Notice.Kind.JUNK: "many annotators of “{name}” are flagged",
    Notice.Kind.LOW_PAY: "“{name}” pays too little for an hour of work",
    Notice.Kind.STOPPED: "“{name}” was stopped by a rule",
}

# A letter that is due within so many seconds is waited for; for later ones a new job is queued.
_WAITS = 120.0


@register(NOTIFY)
def notify(job: Job, progress: Progress) -> dict[str, Any]:
    """Mail one notice to each lead who has an address. A notice that is no longer true is not sent."""
    notice = (
        Notice.objects.filter(pk=job.arguments["notice"], resolved_at=None)
        .select_related("campaign__study")
        .first()
    )
    if notice is None:
        return {"summary": "The notice no longer applied, so no e-mail was sent."}
    summary = send_to_leads(study=notice.campaign.study, letter=partial(_letter, notice), progress=progress)
    return {"summary": summary}


def _letter(notice: Notice, address: str) -> EmailMessage:
    campaign = notice.campaign
    page = reverse("annotation:campaign", args=[campaign.study.slug, campaign.slug])
    lines = [
        f"The campaign “{campaign.name}” of the study “{campaign.study.name}”:",
        notice.details,
        f"{settings.SITE_URL}{page}" if settings.SITE_URL else f"See this page on your server: {page}",
    ]
    if campaign.state == Campaign.State.CLOSED:
        lines += [f"{step.label}: {settings.SITE_URL}{step.url}" for step in next_steps(CLOSED, campaign)]
    subject = _SUBJECTS[Notice.Kind(notice.kind)].format(name=campaign.name)
    return EmailMessage(f"Stereoscope: {subject}", "\n\n".join(lines) + "\n", to=[address])


@register(SEND)
def send_letters(job: Job, progress: Progress) -> dict[str, Any]:
    """Send the personal links of a campaign that are due; wait where the mail server put some off for a minute."""
    campaign = Campaign.objects.select_related("study").filter(pk=job.arguments["campaign"]).first()
    if campaign is None:
        raise NotFound("campaign_not_found", "The campaign of this job was deleted.")
    letter_delivery.send_due(campaign, progress)
    letters = InvitationLetter.objects.filter(mailing__campaign=campaign)
    first = letters.filter(state=InvitationLetter.State.PLANNED).order_by("next_try_at").first()
    if first is not None and first.next_try_at is not None:
        seconds = (first.next_try_at - timezone.now()).total_seconds()
        if seconds < _WAITS:
            raise Resting(max(1.0, seconds))
    counts = dict(letters.order_by().values_list("state").annotate(number=Count("pk")))
    lines = [
        f"{counts[state]:,} {label}"
        for state, label in InvitationLetter.State.choices
        if state != InvitationLetter.State.SENT and counts.get(state)
    ]
    sent = counts.get(InvitationLetter.State.SENT, 0)
    return {
        "summary": f"{sent:,} of {sum(counts.values()):,} e-mails were sent.",
        "lines": lines,
        "url": reverse("annotation:invitations", args=[campaign.study.slug, campaign.slug]),
    }
