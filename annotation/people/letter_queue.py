"""The job that sends the letters of a campaign: queued once, and again when letters are due."""

from django.db import transaction
from django.db.models import Q, QuerySet
from django.utils import timezone

from accounts.models import User
from annotation.models import Campaign, InvitationLetter
from jobs.models import Job
from jobs.run.execution import enqueue, hurry, may_enqueue

SEND = "annotation.send_letters"
State = InvitationLetter.State


def due(campaign: Campaign | None = None) -> QuerySet[InvitationLetter]:
    """Return the letters that are due, oldest first."""
    letters = InvitationLetter.objects.filter(state=State.PLANNED)
    if campaign is not None:
        letters = letters.filter(mailing__campaign=campaign)
    return letters.filter(Q(next_try_at__isnull=True) | Q(next_try_at__lte=timezone.now())).order_by("pk")


def wake(campaign: Campaign, *, by: User | None) -> None:
    """Queue the sending of letters: the waiting job does it, or a new one. Call it in the transaction that plans
    them."""
    job = _jobs(campaign).filter(state=Job.State.QUEUED).select_for_update().first()
    if job is None:
        enqueue(
            kind=SEND,
            title=f"Send personal links of “{campaign.name}”",
            arguments={"campaign": campaign.pk},
            by=by,
            study_id=campaign.study_id,
        )
    else:
        hurry(job)


def sweep() -> None:
    """Mark letters whose worker died while sending as unknown, and queue a job for each campaign with due letters."""
    give_up_lost()
    campaigns = Campaign.objects.filter(pk__in=due().order_by().values("mailing__campaign"))
    for campaign in campaigns:
        if may_enqueue(_jobs(campaign)):
            with transaction.atomic():
                wake(campaign, by=None)


def give_up_lost() -> int:
    """Say of letters that a worker claimed long ago that they may have been sent; return how many."""
    lost = InvitationLetter.objects.filter(state=State.SENDING, next_try_at__lte=timezone.now())
    return lost.update(
        state=State.UNKNOWN,
        next_try_at=None,
        problem="The server stopped while it sent this e-mail. The e-mail may have been sent.",
    )


def _jobs(campaign: Campaign) -> QuerySet[Job]:
    jobs = Job.objects.filter(study_id=campaign.study_id, kind=SEND)
    return jobs.filter(arguments__campaign=campaign.pk).order_by("-pk")
