"""Starting a planned run in a worker or in this process; never in two jobs at once."""

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
    """Queue the pending questions of a run, unless a job of the run is already queued or running."""
    run = _locked(run.pk)
    _refuse_imported(run)
    _refuse_beside(run.job)
    if not run.to_write and not run.answers.filter(outcome=Answer.Outcome.PENDING).exists():
        raise Conflict("nothing_to_ask", "Every question of this run has been answered.")
    return _given(run, enqueue(**_description(run, limit), by=by))


@transaction.atomic
def go_on(*, run: ProbeRun, by: User | None) -> Job:
    """Queue failed questions again, together with the remaining ones."""
    run = _locked(run.pk)
    _refuse_imported(run)
    reopen_failed(run=run)
    return start(run=run, by=by)


def start_here(*, run: ProbeRun, by: User | None, progress: Progress, limit: int | None = None) -> Job:
    """Ask pending questions in this process, including those that a killed process left."""
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
    """Return the run that a job is to work on. A retried old job may find that a newer job is working on it."""
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
        # A ceiling, not a number of answers: a later attempt asks only what the earlier one left.
        "arguments": {"run": run.pk, "until": None if limit is None else ended(run) + limit},
        "study_id": run.study_id,
        "queue": queue_for(answerer_named(run.backend).wants_gpu),
    }
