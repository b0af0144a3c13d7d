"""Running a probe run: its single job loads the model, asks the pending questions, and reports the result."""

from collections import Counter
from dataclasses import dataclass

from django.db import transaction

from foundation.errors import DomainError
from generation.answerers import answerer_named
from generation.answerers.base import Answerer
from generation.answerers.chat import ChatAnswerer
from generation.models import Answer, ProbeBatch, ProbeRun
from generation.probing.execution.ask import MOST_SERVED, Asking, served_by
from generation.probing.execution.batches.run import BatchAsking
from generation.probing.planning import finish_planning
from generation.probing.totals import counts_of, served_models
from jobs.models import Job
from jobs.progress.reporter import Progress

Outcome = Answer.Outcome


@dataclass(frozen=True)
class ProbeResult:
    """The number of requests by outcome, for this job."""

    done: int = 0
    reused: int = 0
    declined: int = 0
    failed: int = 0
    left: int = 0
    served: tuple[str, ...] = ()  # the models that the endpoint named, over all answers of the run

    def __str__(self) -> str:
        parts = [f"{self.done:,} answer{'' if self.done == 1 else 's'}"]
        parts += [
            f"{count:,} {words}"
            for count, words in (
                (self.reused, "reused from earlier runs"),
                (self.declined, "declined by a filter"),
                (self.failed, "failed"),
                (self.left, "left to ask"),
            )
            if count
        ]
        sentence = ", ".join(parts) + "."
        if len(self.served) > 1:
            sentence += f" The model changed during the run: {', '.join(self.served[:MOST_SERVED])}."
        return sentence


def run(
    *, run: ProbeRun, progress: Progress, limit: int | None = None, job: Job | None = None
) -> ProbeResult:
    """Ask pending questions, at most `limit`. Answers are committed as they arrive: a kill loses only running
    requests."""
    finish_planning(run=run, progress=progress)
    total = counts_of(run).pending
    until = _until(run, limit, job)
    wanted = total if until is None else max(0, min(until - ended(run), total))
    progress.start(wanted)
    if not wanted:
        return ProbeResult(left=total)
    progress.step("Loading the model")
    model = answerer_named(run.backend).load(
        model_id=run.model_id, parameters=run.parameters, revision=run.model_revision
    )
    _note_revision(run, model)
    progress.step("Asking")
    progress.start(wanted)
    counts = _ask(run, model, progress, wanted)
    models = served_models(run, most=MOST_SERVED)
    served = {served_by(model.name, model.fingerprint) for model in models} - {""}
    return ProbeResult(**counts, left=counts_of(run).pending, served=tuple(sorted(served)))


def _ask(run: ProbeRun, model: Answerer, progress: Progress, wanted: int) -> Counter[str]:
    """Ask in batches or one by one; existing batches are awaited first."""
    counts: Counter[str] = Counter()
    if isinstance(model, ChatAnswerer) and (
        run.batch_parameters or run.batches.exclude(state=ProbeBatch.State.ENDED).exists()
    ):
        batches = BatchAsking(run, model, progress, wanted)
        batches.ask_all()
        counts = batches.counts
    if not run.batch_parameters:
        asking = Asking(run, model, progress, wanted - counts.total())
        asking.ask_all()
        counts += asking.counts
    return counts


def ended(run: ProbeRun) -> int:
    """Return the number of requests with an outcome."""
    return counts_of(run).ended


@transaction.atomic
def reopen_failed(*, run: ProbeRun) -> int:
    """Make failed requests pending again; return their number. Declined requests are results and do not change."""
    return run.answers.filter(outcome=Outcome.FAILED).update(
        outcome=Outcome.PENDING, reason="", finished_at=None
    )


def _until(run: ProbeRun, limit: int | None, job: Job | None) -> int | None:
    """Return the number of finished requests at which this job stops."""
    if job is not None and job.arguments.get("until") is not None:
        return int(job.arguments["until"])
    return None if limit is None else ended(run) + limit


def _note_revision(run: ProbeRun, model: Answerer) -> None:
    """Pin the revision that the run's first job loaded; refuse to continue with another."""
    if model.revision and not run.model_revision:
        run.model_revision = model.revision
        run.save(update_fields=["model_revision"])
    if run.model_revision != model.revision:
        raise DomainError(
            "model_changed",
            f"The run began with revision {run.model_revision} of {run.model_id}, but "
            f"{model.revision or 'none'} is on the server now. Start a new run for the new revision.",
        )
