"""A run's requests become images, step by step, whatever happens in between."""

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
# A model that fails for so many prompts in a row is broken, and asking it for the rest would only take time. One prompt
# alone may be what it cannot draw, but not for ever: a study may have no other.
_FAILED_PROMPTS = 5
_FAILURES_IN_A_ROW = 25
# No prompt is to blame for what is not even an image: numbers that are not finite, or one colour.
_NO_IMAGES_IN_A_ROW = 5
_NO_REMEDY = "Look at the images of a single prompt before you continue."
_SECONDS_BETWEEN_LOOKS = 3.0  # at what the other jobs of a run do


@dataclass(frozen=True)
class RunResult:
    """How many requests ended how, this time."""

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
    """Make the images that are pending, at most `limit`. Each step is committed by itself: a kill loses one.

    With a job, only what it claims: others may work on the run too. Its own limit is what `until` allows.
    """
    _wait_for_plan(run, job, progress)
    finish_planning(run=run, progress=progress)
    total = run.requests.filter(outcome=Outcome.PENDING).count()
    until = _until(run, limit, job)
    image_count = total if until is None else max(0, min(until - _ended(run), total))
    progress.start(image_count)
    if not image_count:
        return RunResult(left=total)
    # What others make while the model is loaded counts too.
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
    """Return how many requests of the run may have ended when this stops."""
    if job is not None and job.arguments.get("until") is not None:
        return int(job.arguments["until"])
    return None if limit is None else _ended(run) + limit


def _ended(run: GenerationRun) -> int:
    return run.requests.exclude(outcome=Outcome.PENDING).count()


def _wait_for_plan(run: GenerationRun, job: Job | None, progress: Progress) -> None:
    """Let the first job of a team write down what to ask for, as long as it is at work."""
    while job is not None and run.to_write.exists():
        planner = team_of(job).first()
        if planner is None or planner == job or planner.state != Job.State.RUNNING:
            return
        progress.check_cancelled()
        time.sleep(_SECONDS_BETWEEN_LOOKS)


@transaction.atomic
def reopen_failed(*, run: GenerationRun) -> int:
    """Make failed requests pending again; return how many. Blanked and refused ones are results and stay."""
    return run.requests.filter(outcome=Outcome.FAILED).update(
        outcome=Outcome.PENDING, reason="", finished_at=None
    )


class JobsProgress:
    """Counts the images of all jobs of a run on the progress of each."""

    def __init__(self, run: GenerationRun, job: Job | None, progress: Progress, image_count: int) -> None:
        self._run = run
        self._progress = progress
        self._shared = job is not None and bool(job.team)
        self._ended_before = _ended(run) if self._shared else 0
        self._wanted = image_count
        self._counted = 0
        self._looked_at = time.monotonic()

    def advance(self, message: str) -> None:
        """Count one image of ours, and now and then those that others made meanwhile."""
        self._count(1, message)
        if self._shared and time.monotonic() - self._looked_at >= _SECONDS_BETWEEN_LOOKS:
            self.catch_up()

    def catch_up(self) -> None:
        """Count what others made."""
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
    """A model at work on a run."""

    def __init__(self, run: GenerationRun, model: Model, claims: Claims, progress: JobsProgress) -> None:
        self._run = run
        self._model = model
        self._claims = claims
        self._progress = progress
        self._counts: Counter[str] = Counter()
        self._failed: list[str] = []  # prompts that failed in a row
        self._paid: dict[int, Decimal] = {}  # what was written down for requests, by key
        self._no_images = 0  # of these, how many in a row were answered with what is no image

    def make(self) -> Counter[str]:
        if isinstance(self._model, DrawsInParallel):
            self._make_in_parallel(self._model)
        else:
            while self.make_step():
                pass
        self._progress.catch_up()
        return self._counts

    def make_step(self) -> bool:
        """Make what one call of the model makes; return whether anything was left to make."""
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
        """Keep as many requests under way as the model takes, until nothing is left or something is wrong.

        What is under way then is waited for and stored: it may have been paid.
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
        """Send what there is room for; return why it stops, if it does."""
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
            return error  # raised when every answer is stored
        return None

    def _finish_all(self, answered: Iterable[Answer]) -> Exception | None:
        """Store every answer, whatever happens to one of them: each may have been paid. Return what went wrong."""
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
        """Write down what the step will cost, and leave out what the budget does not cover."""
        # Price and budget may have been changed on the page meanwhile.
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
        """Take back what was written down for an image that was certainly not made."""
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
            return  # Another worker was faster.
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
    """Store how a request ended, unless that stands already: then nothing is written."""
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
    """The budget does not cover another image, unless one that is under way turns out not to be charged."""


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
    """Pin the revision that the first job of the run loaded; refuse to go on with another."""
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
