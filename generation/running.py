"""A run's requests become images, step by step, whatever happens in between."""

from collections import Counter, deque
from dataclasses import dataclass
from decimal import Decimal

from django.db import transaction
from django.db.models import F, Sum
from django.utils import timezone

from accounts.errors import DomainError
from generation.asking import answers, at_once
from generation.backends import backend_named
from generation.backends.base import Drawn, Model, ModelUnusable
from generation.models import GenerationRequest, GenerationRun, Image
from generation.planning import finish_planning
from generation.storage import ImageFile, StorageUnusable, keep_drawn, record_image
from jobs.progress import Progress

Outcome = GenerationRequest.Outcome
# A model that fails for so many prompts in a row is broken, and asking it for the rest would only take time. One prompt
# alone may be what it cannot draw, but not for ever: a study may have no other.
_FAILED_PROMPTS = 5
_FAILURES_IN_A_ROW = 25
# Read ahead: one query for so many images.
_READ_AHEAD = 20


@dataclass(frozen=True)
class RunResult:
    """How many requests ended how, this time."""

    done: int = 0
    blanked: int = 0
    refused: int = 0
    failed: int = 0
    left: int = 0

    def __str__(self) -> str:
        made = f"{self.done:,} image{'' if self.done == 1 else 's'} made"
        others = [
            f"{count:,} {word}"
            for count, word in (
                (self.blanked, "blanked by the model's safety checker"),
                (self.refused, "refused"),
                (self.failed, "failed"),
                (self.left, "left to do"),
            )
            if count
        ]
        return ", ".join([made, *others]) + "."


def run(*, run: GenerationRun, progress: Progress, limit: int | None = None) -> RunResult:
    """Make the images that are pending, at most `limit`. Each step is committed by itself: a kill loses one."""
    finish_planning(run=run, progress=progress)
    total = run.requests.filter(outcome=Outcome.PENDING).count()
    wanted = total if limit is None else min(limit, total)
    progress.start(wanted)
    if not wanted:
        return RunResult(left=total)
    progress.step("Loading the model")
    model = backend_named(run.backend).load(
        model_id=run.model_id, parameters=run.parameters, revision=run.model_revision
    )
    _note_revision(run, model)
    progress.step("Making images")
    progress.start(wanted)
    counts = _Making(run, model, progress).make(wanted)
    return RunResult(**counts, left=run.requests.filter(outcome=Outcome.PENDING).count())


@transaction.atomic
def reopen_failed(*, run: GenerationRun) -> int:
    """Make failed requests pending again; return how many. Blanked and refused ones are results and stay."""
    return run.requests.filter(outcome=Outcome.FAILED).update(
        outcome=Outcome.PENDING, reason="", finished_at=None
    )


def spent(run: GenerationRun) -> Decimal:
    """Return what the run has cost so far, images that were under way when a worker died included."""
    return run.requests.aggregate(spent=Sum("cost"))["spent"] or Decimal(0)


class _Making:
    """A model at work on a run."""

    def __init__(self, run: GenerationRun, model: Model, progress: Progress) -> None:
        self._run = run
        self._model = model
        self._progress = progress
        self._counts: Counter[str] = Counter()
        self._failed: list[str] = []  # prompts that failed in a row
        self._ahead: deque[GenerationRequest] = deque()
        self._again = False  # whether what failed before is asked for now: last, so that it holds up nothing
        self._last = 0

    def make(self, wanted: int) -> Counter[str]:
        while wanted > 0:
            self._progress.check_cancelled()
            step = self._take(min(at_once(self._model), wanted))
            if not step:
                break
            paid = self._pay(step)
            self._ahead.extendleft(reversed(step[len(paid) :]))
            wanted -= len(paid)
            self._draw(paid)
        return self._counts

    def _draw(self, step: list[GenerationRequest]) -> None:
        """Ask for a step, and store every answer, whatever happens to one of them: each may have been paid."""
        problem: Exception | None = None
        check = self._progress.check_cancelled
        for request, drawn, seconds in answers(self._model, step, paid=bool(self._run.price), check=check):
            try:
                if isinstance(drawn, ModelUnusable):
                    _refund(self._run, request)
                    raise drawn
                self._finish(request, drawn, seconds)
            except Exception as error:
                problem = problem or error
        if problem is not None:
            raise problem

    def _take(self, most: int) -> list[GenerationRequest]:
        while True:
            while len(self._ahead) < most and self._read_ahead(most):
                pass
            step = [self._ahead.popleft() for _ in range(min(most, len(self._ahead)))]
            # Those read ahead a while ago may have ended meanwhile: a worker may sleep longer than its lease.
            left = self._run.requests.filter(pk__in=[one.pk for one in step], outcome=Outcome.PENDING)
            pending = set(left.values_list("pk", flat=True))
            if pending or not step:
                return [one for one in step if one.pk in pending]

    def _read_ahead(self, most: int) -> bool:
        """Read some more that are pending; return whether there may be others."""
        pending = self._run.requests.filter(outcome=Outcome.PENDING, pk__gt=self._last).order_by("pk")
        # One that has taken time was asked for before, and failed.
        pending = pending.filter(seconds__isnull=not self._again)
        related = ("group", "attribute", "phrase", "template")
        found = pending.select_related(*related)[: max(most, _READ_AHEAD)]
        self._ahead.extend(found)
        if found:
            self._last = self._ahead[-1].pk
            return True
        if self._again:
            return False
        self._again, self._last = True, 0
        return True

    def _pay(self, step: list[GenerationRequest]) -> list[GenerationRequest]:
        """Write down what the step will cost, and leave out what the budget does not cover."""
        # Price and budget may have been changed on the page meanwhile.
        self._run.refresh_from_db(fields=["price", "budget"])
        if not self._run.price:
            return step
        with transaction.atomic():
            run = GenerationRun.objects.select_for_update().get(pk=self._run.pk)
            self._run.price, self._run.budget = run.price, run.budget
            price = run.price or Decimal(0)
            if run.budget is not None and price:
                already = spent(run)
                step = step[: max(0, int((run.budget - already) / price))]
                if not step:
                    raise DomainError(
                        "budget_spent",
                        f"The budget of {run.budget:,.2f} does not cover another image: {already:,.2f} is spent. "
                        "Raise the budget to go on.",
                    )
            keys = [request.pk for request in step]
            GenerationRequest.objects.filter(pk__in=keys).update(cost=F("cost") + price)
        return step

    def _finish(self, request: GenerationRequest, drawn: Drawn, seconds: float) -> None:
        file = None
        if drawn.outcome == Outcome.DONE:
            try:
                file = keep_drawn(drawn, what="What the model made")
            except StorageUnusable:
                raise
            except DomainError as error:
                drawn = Drawn(outcome=Outcome.FAILED, reason=error.message, charged=drawn.charged)
        if not _write(self._run, request, drawn, file, seconds):
            return  # Another worker was faster.
        self._counts[drawn.outcome] += 1
        self._note_failure(request, drawn)
        self._progress.advance(1, request.prompt)

    def _note_failure(self, request: GenerationRequest, drawn: Drawn) -> None:
        if drawn.outcome != Outcome.FAILED:
            self._failed.clear()
            return
        self._failed.append(request.prompt)
        failures = len(self._failed)
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
    finally:
        if not drawn.charged:
            _refund(run, request)
    return True


def _refund(run: GenerationRun, request: GenerationRequest) -> None:
    """Take back what was written down for an image that was certainly not made."""
    if run.price:
        GenerationRequest.objects.filter(pk=request.pk).update(cost=F("cost") - run.price)


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
    if run.model_revision and run.model_revision != model.revision:
        raise DomainError(
            "model_changed",
            f"The run began with revision {run.model_revision} of {run.model_id}, but "
            f"{model.revision or 'none'} is there now; start a run of its own for it.",
        )
    if model.revision and not run.model_revision:
        run.model_revision = model.revision
        run.save(update_fields=["model_revision"])
