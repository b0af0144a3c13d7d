"""The job that sends the payments of a recruitment: queued once, and again when payments are due."""

from django.db import transaction
from django.db.models import QuerySet
from django.utils import timezone

from accounts.models import User
from annotation.recruitment.models import Recruitment
from annotation.recruitment.payments import send
from jobs.models import Job
from jobs.run.execution import enqueue, hurry, may_enqueue

PAY = "recruitment.pay"


def wake(recruitment: Recruitment, *, by: User | None) -> None:
    """Queue the sending of payments: the waiting job does it, or a new one. Call it in the transaction that orders
    them."""
    job = _jobs(recruitment).filter(state=Job.State.QUEUED).select_for_update().first()
    if job is None:
        enqueue(
            kind=PAY,
            title=f"Pay people of “{recruitment}”",
            arguments={"recruitment": recruitment.pk},
            by=by,
            study_id=recruitment.campaign.study_id,
        )
    else:
        hurry(job)


def sweep() -> None:
    """Queue a job for each recruitment with payments that are due and that no job will send."""
    keys = send.due(timezone.now()).order_by().values_list("place__recruitment", flat=True).distinct()
    for recruitment in Recruitment.objects.filter(pk__in=keys).select_related("campaign"):
        if may_enqueue(_jobs(recruitment)):
            with transaction.atomic():
                wake(recruitment, by=None)


def _jobs(recruitment: Recruitment) -> QuerySet[Job]:
    # The study is in an index, and has few jobs.
    jobs = Job.objects.filter(study_id=recruitment.campaign.study_id, kind=PAY)
    return jobs.filter(arguments__recruitment=recruitment.pk).order_by("-pk")
