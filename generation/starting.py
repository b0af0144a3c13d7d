"""A planned run is handed to a worker, or done here."""

from typing import Any

from django.db import transaction

from accounts.errors import Conflict
from accounts.models import User
from generation.backends import backend_named
from generation.models import GenerationRequest, GenerationRun
from generation.running import reopen_failed
from jobs.models import Job
from jobs.progress import Progress
from jobs.queues import queue_for
from jobs.running import enqueue, prepare, run_here


@transaction.atomic
def start(*, run: GenerationRun, by: User | None, limit: int | None = None) -> Job:
    """Queue the pending images of a run, unless a job of the run is waiting or at work already."""
    run = GenerationRun.objects.select_for_update(of=("self",)).select_related("job", "study").get(pk=run.pk)
    if run.job is not None and run.job.state in {Job.State.QUEUED, Job.State.RUNNING}:
        raise Conflict(
            "run_under_way", f"These images are being made already: see the job “{run.job.title}”."
        )
    if not run.requests.filter(outcome=GenerationRequest.Outcome.PENDING).exists():
        raise Conflict(
            "nothing_to_generate", "Every image of this run was made already; nothing is left to do."
        )
    job = enqueue(**_description(run, limit), by=by, queue=queue_for(backend_named(run.backend).wants_gpu))
    run.job = job
    run.save(update_fields=["job"])
    return job


@transaction.atomic
def go_on(*, run: GenerationRun, by: User | None) -> Job:
    """Ask again for what failed, and queue it with what is left."""
    reopen_failed(run=run)
    return start(run=run, by=by)


def start_here(*, run: GenerationRun, by: User | None, progress: Progress, limit: int | None = None) -> Job:
    """Make the pending images of a run in this process."""
    job = prepare(**_description(run, limit), by=by)
    return run_here(job, progress)


def _description(run: GenerationRun, limit: int | None) -> dict[str, Any]:
    return {
        "kind": "generate",
        "title": f"Generate images of {run.study.name} with {run.model_label}",
        "arguments": {"run": run.pk, "limit": limit},
        "study_id": run.study_id,
    }
