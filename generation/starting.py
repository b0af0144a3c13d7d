"""A planned run is handed to a worker, or done here; never by two jobs at once."""

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
from jobs.steering import put_down

Outcome = GenerationRequest.Outcome


@transaction.atomic
def start(*, run: GenerationRun, by: User | None, limit: int | None = None) -> Job:
    """Queue the pending images of a run, unless a job of the run is waiting or at work already."""
    run = _locked(run.pk)
    _refuse_beside(run.job)
    if not run.requests.filter(outcome=Outcome.PENDING).exists() and not run.to_write.exists():
        raise Conflict(
            "nothing_to_generate", "Every image of this run was made already; nothing is left to do."
        )
    return _given(run, enqueue(**_description(run, limit), by=by))


@transaction.atomic
def go_on(*, run: GenerationRun, by: User | None) -> Job:
    """Ask again for what failed, and queue it with what is left."""
    reopen_failed(run=run)
    return start(run=run, by=by)


def start_here(*, run: GenerationRun, by: User | None, progress: Progress, limit: int | None = None) -> Job:
    """Make the pending images of a run in this process; of a job whose process was killed, what it left."""
    with transaction.atomic():
        run = _locked(run.pk)
        if run.job is not None and not put_down(job=run.job):
            _refuse_beside(run.job)
        job = _given(run, prepare(**_description(run, limit), by=by))
    return run_here(job, progress)


@transaction.atomic
def claim_run(*, job: Job) -> GenerationRun:
    """Return the run that a job is to work on. An old job that is tried again may find a newer one there."""
    run = _locked(job.arguments["run"])
    if run.job != job:
        _refuse_beside(run.job)
        _given(run, job)
    return run


def images_to_make(run: GenerationRun, job: Job) -> int | None:
    """Return how many images a job may still make, whatever its earlier attempts made; None: all."""
    until = job.arguments["until"]
    return None if until is None else max(0, until - _ended(run))


def _locked(pk: int) -> GenerationRun:
    runs = GenerationRun.objects.select_for_update(of=("self",)).select_related("job", "study")
    return runs.get(pk=pk)


def _refuse_beside(job: Job | None) -> None:
    if job is not None and not job.ended:
        raise Conflict("run_under_way", f"These images are being made already: see job {job.pk}, “{job}”.")


def _given(run: GenerationRun, job: Job) -> Job:
    run.job = job
    run.save(update_fields=["job"])
    return job


def _description(run: GenerationRun, limit: int | None) -> dict[str, Any]:
    return {
        "kind": "generate",
        "title": f"Generate images of {run.study.name} with {run.model_label}",
        # A ceiling and no number of images: an attempt that follows another makes only what that one left.
        "arguments": {"run": run.pk, "until": None if limit is None else _ended(run) + limit},
        "study_id": run.study_id,
        "queue": queue_for(backend_named(run.backend).wants_gpu),
    }


def _ended(run: GenerationRun) -> int:
    return run.requests.exclude(outcome=Outcome.PENDING).count()
