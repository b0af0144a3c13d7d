"""Executing the requests of a run, in steps that survive interruptions."""

import time
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from decimal import Decimal

from django.db import transaction
from django.db.models import F
from django.utils import timezone

from foundation.errors import DomainError
from generation.backends import backend_named
from generation.backends.base import Drawn, DrawsInParallel, Model, ModelUnusable
from generation.images.storage import BlankImage, ImageFile, StorageUnusable, keep_drawn, record_image
from generation.models import GenerationRequest, GenerationRun, Image
from generation.runs.budget import give_back, reserve
from generation.runs.claims import Claims
from generation.runs.inference import Answer, Pool, answers, at_once
from generation.runs.planning import finish_planning
from jobs.models import Job
from jobs.progress.reporter import Progress
from jobs.run.teams import team_of

Outcome = GenerationRequest.Outcome
# A model that fails for 5 different prompts in a row is broken, and the other requests would only take time. A single
# prompt may be impossible to draw, but after 25 failures the run stops too: a study may have only one prompt.
_FAILED_PROMPTS = 5
_FAILURES_IN_A_ROW = 25
# Results that are not images (NaN, or a single colour) are never the fault of a prompt.
_NO_IMAGES_IN_A_ROW = 5
_NO_REMEDY = "Look at the images of a single prompt before you continue."
_SECONDS_BETWEEN_LOOKS = 3.0  # at the progress of the run's other jobs


@dataclass(frozen=True)
class RunResult:
    """The number of requests by outcome in this execution, and of requests left."""

    done: int = 0
    blanked: int = 0
    refused: int = 0
    failed: int = 0
    left: int = 0

    def __str__(self) -> str:
        images = f"{self.done:,} image{'' if self.done == 1 else 's'} made"
        without_image = [
            f"{count:,} {word}"
            for count, word in (
                (self.blanked, "blanked by the model's safety checker"),
                (self.refused, "refused"),
                (self.failed, "failed"),
                (self.left, "left to generate"),
            )
            if count
        ]
        return ", ".join([images, *without_image]) + "."


def run(
    *, run: GenerationRun, progress: Progress, limit: int | None = None, job: Job | None = None
) -> RunResult:
    """Make the pending images, at most `limit`. Each step is committed separately, so a kill loses at most one.

    A job makes only the requests it claims, since others may work on the run too, and its `until` replaces `limit`.
    """
    _wait_for_plan(run, job, progress)
    finish_planning(run=run, progress=progress)
    total = run.requests.filter(outcome=Outcome.PENDING).count()
    until = _until(run, limit, job)
    image_count = total if until is None else max(0, min(until - _ended(run), total))
    progress.start(image_count)
    if not image_count:
        return RunResult(left=total)
    # Created before loading, to count the images that other jobs make meanwhile.
    together = JobsProgress(run, job, progress, image_count)
    progress.step("Loading the model")
    model = backend_named(run.backend).load(
        model_id=run.model_id, parameters=run.parameters, revision=run.model_revision
    )
    _note_revision(run, model)
    progress.step("Making images")
    progress.start(image_count)
    counts = Making(run, model, Claims(run, job, until), together).make()
    return RunResult(**counts, left=run.requests.filter(outcome=Outcome.PENDING).count())


def _until(run: GenerationRun, limit: int | None, job: Job | None) -> int | None:
    """Return the number of ended requests of the run at which to stop; None for all."""
    if job is not None and job.arguments.get("until") is not None:
        return int(job.arguments["until"])
    return None if limit is None else _ended(run) + limit


def _ended(run: GenerationRun) -> int:
    return run.requests.exclude(outcome=Outcome.PENDING).count()


def _wait_for_plan(run: GenerationRun, job: Job | None, progress: Progress) -> None:
    """Wait while the first job of the team is running and writes the requests."""
    while job is not None and run.to_write.exists():
        planner = team_of(job).first()
        if planner is None or planner == job or planner.state != Job.State.RUNNING:
            return
        progress.check_cancelled()
        time.sleep(_SECONDS_BETWEEN_LOOKS)


@transaction.atomic
def reopen_failed(*, run: GenerationRun) -> int:
    """Make failed requests pending again; return their number. Blanked and refused requests are results."""
    return run.requests.filter(outcome=Outcome.FAILED).update(
        outcome=Outcome.PENDING, reason="", finished_at=None
    )


class JobsProgress:
    """Reports the images of all jobs of a run as progress of each job."""

    def __init__(self, run: GenerationRun, job: Job | None, progress: Progress, image_count: int) -> None:
        self._run = run
        self._progress = progress
        self._shared = job is not None and bool(job.team)
        self._ended_before = _ended(run) if self._shared else 0
        self._wanted = image_count
        self._counted = 0
        self._looked_at = time.monotonic()

    def advance(self, message: str) -> None:
        """Count an image of this job and, every few seconds, the images of other jobs."""
        self._count(1, message)
        if self._shared and time.monotonic() - self._looked_at >= _SECONDS_BETWEEN_LOOKS:
            self.catch_up()

    def catch_up(self) -> None:
        """Count the images of other jobs."""
        if not self._shared:
            return
        self._looked_at = time.monotonic()
        by_others = _ended(self._run) - self._ended_before - self._counted
        self._count(max(0, by_others), "")

    def check_cancelled(self) -> None:
        self._progress.check_cancelled()

    def _count(self, number: int, message: str) -> None:
        number = min(number, self._wanted - self._counted)
        self._counted += number
        self._progress.advance(number, message)


class Making:
    """Makes the images of a run with a loaded model."""

    def __init__(self, run: GenerationRun, model: Model, claims: Claims, progress: JobsProgress) -> None:
        self._run = run
        self._model = model
        self._claims = claims
        self._progress = progress
        self._counts: Counter[str] = Counter()
        self._failed: list[str] = []  # prompts of consecutive failures
        self._paid: dict[int, Decimal] = {}  # cost recorded for each request, by key
        self._no_images = 0  # consecutive failures whose result was not an image

    def make(self) -> Counter[str]:
        if isinstance(self._model, DrawsInParallel):
            self._make_in_parallel(self._model)
        else:
            while self.make_step():
                pass
        self._progress.catch_up()
        return self._counts

    def make_step(self) -> bool:
        """Make the images of one call of the model; return False if none was left."""
        self._progress.check_cancelled()
        step = self._claims.take(at_once(self._model))
        if not step:
            return False
        paid = self._pay(step)
        self._claims.put_back(step[len(paid) :])
        problem = self._finish_all(answers(self._model, paid, paid=bool(self._run.price)))
        if problem is not None:
            raise problem
        return True

    def _make_in_parallel(self, model: DrawsInParallel) -> None:
        """Keep as many requests under way as the model accepts, until none is left or an error occurs.

        Then wait for the requests under way and store their results, which may have been paid for.
        """
        problem: Exception | None = None
        with Pool(model) as pool:
            while True:
                stopped = self._fill(pool) if problem is None else None
                if not isinstance(stopped, _NothingPaid):
                    problem = problem or stopped
                if problem is not None:
                    model.stop()
                if not pool.under_way:
                    break
                answer = pool.next_answer()
                broken = self._finish_all([answer]) if isinstance(answer, tuple) else answer
                problem = problem or broken
        reason = problem or stopped
        if reason is not None:
            raise reason

    def _fill(self, pool: Pool) -> Exception | None:
        """Send as many requests as there is room for; return the error that stops the run, or None."""
        try:
            self._progress.check_cancelled()
            while pool.room and (claimed := self._claims.take(1)):
                try:
                    self._pay(claimed)
                except DomainError:
                    self._claims.put_back(claimed)
                    raise
                pool.send(claimed[0], paid=bool(self._run.price))
        except Exception as error:
            return error  # raised after all results are stored
        return None

    def _finish_all(self, answered: Iterable[Answer]) -> Exception | None:
        """Store all results, even if one fails, as each may have been paid for. Return the first error, or None."""
        problem: Exception | None = None
        for request, drawn, seconds in answered:
            try:
                if isinstance(drawn, ModelUnusable):
                    self._refund(request)
                    raise drawn
                self._finish(request, drawn, seconds)
            except Exception as error:
                problem = problem or error
        return problem

    def _pay(self, step: list[GenerationRequest]) -> list[GenerationRequest]:
        """Record the cost of the step; return the requests that the budget covers."""
        # A lead may have changed price and budget meanwhile.
        self._refresh()
        price = self._run.price or Decimal(0)
        while price and step:
            with transaction.atomic():
                if reserve(self._run, price * len(step)):
                    keys = [request.pk for request in step]
                    GenerationRequest.objects.filter(pk__in=keys).update(cost=F("cost") + price)
                    self._paid.update(dict.fromkeys(keys, price))
                    return step
            self._refresh()
            room = int(((self._run.budget or Decimal(0)) - self._run.spent) / price)
            step = step[: max(0, min(room, len(step) - 1))]
        if price:
            raise _NothingPaid(
                "budget_spent",
                f"The budget of {self._run.budget or 0:,.2f} does not cover another image: "
                f"{self._run.spent:,.2f} has been spent. Raise the budget to continue.",
            )
        return step

    def _refresh(self) -> None:
        self._run.refresh_from_db(fields=["price", "budget", "spent"])

    def _refund(self, request: GenerationRequest) -> None:
        """Remove the recorded cost of an image that was certainly not charged."""
        if paid := self._paid.get(request.pk):
            with transaction.atomic():
                give_back(self._run, paid)
                GenerationRequest.objects.filter(pk=request.pk).update(cost=F("cost") - paid)

    def _finish(self, request: GenerationRequest, drawn: Drawn, seconds: float) -> None:
        file = None
        if drawn.outcome == Outcome.DONE:
            try:
                file = keep_drawn(drawn, subject="What the model made")
            except StorageUnusable:
                raise
            except DomainError as error:
                drawn = Drawn(
                    outcome=Outcome.FAILED,
                    reason=error.message,
                    charged=drawn.charged,
                    remedy=(drawn.remedy or _NO_REMEDY) if isinstance(error, BlankImage) else "",
                )
        try:
            written = _write(self._run, request, drawn, file, seconds)
        finally:
            if not drawn.charged:
                self._refund(request)
        if not written:
            return  # another worker has finished the request
        self._counts[drawn.outcome] += 1
        self._note_failure(request, drawn)
        self._progress.advance(request.prompt)

    def _note_failure(self, request: GenerationRequest, drawn: Drawn) -> None:
        if drawn.outcome != Outcome.FAILED:
            self._failed.clear()
            self._no_images = 0
            return
        self._failed.append(request.prompt)
        failures = len(self._failed)
        self._no_images = self._no_images + 1 if drawn.remedy else 0
        if self._no_images >= _NO_IMAGES_IN_A_ROW:
            raise DomainError(
                "model_makes_no_images",
                f"Stopped after {self._no_images} results in a row that are not images: {drawn.reason} "
                f"{drawn.remedy}",
            )
        if len(set(self._failed)) >= _FAILED_PROMPTS or failures >= _FAILURES_IN_A_ROW:
            raise DomainError(
                "model_keeps_failing", f"Stopped after {failures} failures in a row: {drawn.reason}"
            )


def _write(
    run: GenerationRun, request: GenerationRequest, drawn: Drawn, file: ImageFile | None, seconds: float
) -> bool:
    """Store the outcome of a pending request; return False, and write nothing, if it has already ended."""
    try:
        with transaction.atomic():
            image = _record(run, request, drawn, file) if file is not None else None
            ended = GenerationRequest.objects.filter(pk=request.pk, outcome=Outcome.PENDING).update(
                outcome=drawn.outcome,
                reason=drawn.reason[:300],
                image=image,
                seconds=seconds,
                finished_at=timezone.now(),
            )
            if not ended:
                raise _Overtaken
    except _Overtaken:
        return False
    return True


class _NothingPaid(DomainError):
    """The budget covers no further image, unless a request under way is not charged."""


class _Overtaken(Exception):
    """Another worker has finished the request."""


def _record(run: GenerationRun, request: GenerationRequest, drawn: Drawn, file: ImageFile) -> Image:
    return record_image(
        file,
        study=run.study,
        group=request.group,
        model_label=run.model_label,
        condition=request.template.condition,
        attribute=request.attribute,
        phrase=request.phrase,
        prompt=request.prompt,
        experiment=request.experiment,
        scenario=request.scenario,
        provenance=_provenance(request, run, drawn),
    ).image


def _provenance(request: GenerationRequest, run: GenerationRun, drawn: Drawn) -> dict[str, object]:
    return {
        "backend": run.backend,
        "model_id": run.model_id,
        "model_revision": run.model_revision,
        "parameters": run.parameters,
        "seed": request.seed,
        "index": request.index,
        **drawn.provenance,
    }


def _note_revision(run: GenerationRun, model: Model) -> None:
    """Pin the revision that the first job of the run loaded; refuse to continue with another."""
    if model.revision:
        unpinned = GenerationRun.objects.filter(pk=run.pk, model_revision="")
        unpinned.update(model_revision=model.revision)
        run.refresh_from_db(fields=["model_revision"])
    if run.model_revision and run.model_revision != model.revision:
        raise DomainError(
            "model_changed",
            f"The run began with revision {run.model_revision} of {run.model_id}, but "
            f"{model.revision or 'none'} is on the server now. Start a new run for the new revision.",
        )
