"""Teams of jobs that share one piece of work and are queued, cancelled and retried together."""

import uuid
from typing import Any

from django.db import transaction
from django.db.models import QuerySet

from accounts.models import User
from jobs.engine.queues import DEFAULT
from jobs.models import Job
from jobs.run.execution import enqueue

MOST_WORKERS = 64


@transaction.atomic
def enqueue_team(
    *,
    workers: int,
    kind: str,
    title: str,
    arguments: dict[str, Any],
    by: User | None,
    study_id: int | None = None,
    queue: str = DEFAULT,
) -> list[Job]:
    """Queue a job for each of `workers` workers as a team; for one worker, an ordinary job."""
    common: dict[str, Any] = {
        "kind": kind,
        "arguments": arguments,
        "by": by,
        "study_id": study_id,
        "queue": queue,
    }
    if workers == 1:
        return [enqueue(title=title, **common)]
    team = uuid.uuid4().hex
    return [
        enqueue(title=f"{title} ({number} of {workers})", team=team, **common)
        for number in range(1, workers + 1)
    ]


def team_of(job: Job) -> QuerySet[Job]:
    """Return the jobs of a job's team, itself included, the oldest first."""
    if not job.team:
        return Job.objects.filter(pk=job.pk).order_by("pk")
    return Job.objects.filter(team=job.team).order_by("pk")
