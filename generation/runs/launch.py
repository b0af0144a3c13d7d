"""Starting a planned run on workers or in this process; no two independent jobs work on a run."""

from typing import Any

from django.db import transaction

from accounts.models import User
from foundation.errors import Conflict, DomainError
from generation.backends import backend_named
from generation.models import GenerationRequest, GenerationRun
from generation.runs.execution import reopen_failed
from jobs.engine.queues import queue_for
from jobs.models import Job
from jobs.progress.reporter import Progress
from jobs.run.control import put_down
from jobs.run.execution import prepare, run_here
from jobs.run.teams import MOST_WORKERS, enqueue_team, team_of

Outcome = GenerationRequest.Outcome


@transaction.atomic
def start(*, run: GenerationRun, by: User | None, limit: int | None = None, workers: int = 1) -> Job:
    """Queue the pending images of a run for `workers` workers; return the first job.

    Raises Conflict if a job of the run is queued or running, or if no image is pending.
    """
    if not 1 <= workers <= MOST_WORKERS:
        message = f"A run can be spread over 1 to {MOST_WORKERS} workers, not {workers}."
        raise DomainError("workers_out_of_range", message, fields={"workers": message})
    run = _locked(run.pk)
    _refuse_beside(run.job)
    if not run.requests.filter(outcome=Outcome.PENDING).exists() and not run.to_write.exists():
        raise Conflict("nothing_to_generate", "Every image of this run has been generated.")
    return _given(run, enqueue_team(**_description(run, limit), by=by, workers=workers)[0])


@transaction.atomic
def go_on(*, run: GenerationRun, by: User | None) -> Job:
    """Queue the failed and pending images of a run again, for as many workers as before."""
    run = _locked(run.pk)
    reopen_failed(run=run)
    workers = team_of(run.job).count() if run.job is not None else 1
    return start(run=run, by=by, workers=max(1, workers))


def start_here(*, run: GenerationRun, by: User | None, progress: Progress, limit: int | None = None) -> Job:
    """Make the pending images of a run in this process, including those of a job whose process was killed."""
    with transaction.atomic():
        run = _locked(run.pk)
        for job in team_of(run.job) if run.job is not None else ():
            put_down(job=job)
        _refuse_beside(run.job)
        job = _given(run, prepare(**_description(run, limit), by=by))
    return run_here(job, progress)


@transaction.atomic
def claim_run(*, job: Job) -> GenerationRun:
    """Return the run of a job, locked. Raises Conflict if a newer job of the run is queued or running."""
    run = _locked(job.arguments["run"])
    if run.job is None or not team_of(run.job).filter(pk=job.pk).exists():
        _refuse_beside(run.job)
        _given(run, job)
    return run


def _locked(pk: int) -> GenerationRun:
    runs = GenerationRun.objects.select_for_update(of=("self",)).select_related("job", "study")
    return runs.get(pk=pk)


def _refuse_beside(job: Job | None) -> None:
    """Raise Conflict if the job, or another job of its team, has not ended."""
    if job is None:
        return
    active = team_of(job).filter(state__in=[Job.State.QUEUED, Job.State.RUNNING]).first()
    if active is not None:
        raise Conflict(
            "run_under_way", f"These images are already being generated: see job {active.pk}, “{active}”."
        )


def _given(run: GenerationRun, job: Job) -> Job:
    run.job = job
    run.save(update_fields=["job"])
    return job


def _description(run: GenerationRun, limit: int | None) -> dict[str, Any]:
    return {
        "kind": "generate",
        "title": f"Generate images of {run.study.name} with {run.model_label}",
        # `until` is a total, not a number of images, so that a second attempt makes only what the first left.
        "arguments": {"run": run.pk, "until": None if limit is None else _ended(run) + limit},
        "study_id": run.study_id,
        "queue": queue_for(backend_named(run.backend).wants_gpu),
    }


def _ended(run: GenerationRun) -> int:
    return run.requests.exclude(outcome=Outcome.PENDING).count()
