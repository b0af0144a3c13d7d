"""A planned run is handed to a worker, or done here; never by two jobs at once."""

from typing import Any

from django.db import transaction

from accounts.models import User
from foundation.errors import Conflict
from generation.answerers import ANSWERERS, answerer_named
from generation.models import Answer, ProbeRun
from generation.probing.execution import ended, reopen_failed
from jobs.engine.queues import queue_for
from jobs.models import Job
from jobs.progress.reporter import Progress
from jobs.run.control import put_down
from jobs.run.execution import enqueue, prepare, run_here


@transaction.atomic
def start(*, run: ProbeRun, by: User | None, limit: int | None = None) -> Job:
    """Queue what is pending of a run, unless a job of the run waits or is at work already."""
    run = _locked(run.pk)
    _refuse_imported(run)
    _refuse_beside(run.job)
    if not run.to_write and not run.answers.filter(outcome=Answer.Outcome.PENDING).exists():
        raise Conflict("nothing_to_ask", "Every question of this run has been answered.")
    return _given(run, enqueue(**_description(run, limit), by=by))


@transaction.atomic
def go_on(*, run: ProbeRun, by: User | None) -> Job:
    """Ask again what failed, and queue it with what is left."""
    run = _locked(run.pk)
    _refuse_imported(run)
    reopen_failed(run=run)
    return start(run=run, by=by)


def start_here(*, run: ProbeRun, by: User | None, progress: Progress, limit: int | None = None) -> Job:
    """Ask what is pending in this process; of a job whose process was killed, what it left."""
    with transaction.atomic():
        run = _locked(run.pk)
        if run.job is not None:
            put_down(job=run.job)
            run.job.refresh_from_db()
        _refuse_beside(run.job)
        job = _given(run, prepare(**_description(run, limit), by=by))
    return run_here(job, progress)


@transaction.atomic
def claim_run(*, job: Job) -> ProbeRun:
    """Return the run that a job is to work on. An old job that is tried again may find a newer one there."""
    run = _locked(job.arguments["run"])
    if run.job_id != job.pk:
        _refuse_beside(run.job)
        _given(run, job)
    return run


def _locked(pk: int) -> ProbeRun:
    return ProbeRun.objects.select_for_update(of=("self",)).select_related("job", "study").get(pk=pk)


def _refuse_imported(run: ProbeRun) -> None:
    if run.backend not in ANSWERERS:
        raise Conflict(
            "answers_imported",
            "The answers of this run were imported, so no further questions can be asked. Import the "
            "missing answers, or "
            "probe the model.",
        )


def _refuse_beside(job: Job | None) -> None:
    if job is not None and not job.ended:
        raise Conflict(
            "run_under_way", f"These questions are already being asked: see job {job.pk}, “{job}”."
        )


def _given(run: ProbeRun, job: Job) -> Job:
    run.job = job
    run.save(update_fields=["job"])
    return job


def _description(run: ProbeRun, limit: int | None) -> dict[str, Any]:
    return {
        "kind": "probe",
        "title": f"Ask {run.model_label} the questions {run.probe_set} for {run.study.name}",
        # A ceiling and no number of answers: an attempt that follows another asks only what that one left.
        "arguments": {"run": run.pk, "until": None if limit is None else ended(run) + limit},
        "study_id": run.study_id,
        "queue": queue_for(answerer_named(run.backend).wants_gpu),
    }
