"""A run's requests become images, one at a time, whatever happens in between."""

from dataclasses import dataclass

from django.db import transaction
from django.utils import timezone

from accounts.errors import DomainError
from generation.backends import backend_named
from generation.backends.base import Drawn, ImageRequest, Model
from generation.models import GenerationRequest, GenerationRun
from generation.storage import store_image
from jobs.progress import Progress

Outcome = GenerationRequest.Outcome
# A model that fails this often in a row is broken, and asking it for the rest would only take time.
_FAILURES_IN_A_ROW = 5


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
    """Make the images that are pending, at most `limit`. Each is committed by itself: a kill loses one."""
    total = run.requests.filter(outcome=Outcome.PENDING).count()
    wanted = total if limit is None else min(limit, total)
    progress.start(wanted)
    if not wanted:
        return RunResult(left=total)
    model = backend_named(run.backend).load(model_id=run.model_id, parameters=run.parameters)
    _note_revision(run, model)
    counts: dict[str, int] = {}
    failures, last = 0, 0
    for _ in range(wanted):
        progress.check_cancelled()
        request = _next(run, after=last)
        if request is None:
            break
        last = request.pk
        outcome, reason = _make(request, model, run)
        if outcome is None:
            continue
        counts[outcome] = counts.get(outcome, 0) + 1
        failures = failures + 1 if outcome == Outcome.FAILED else 0
        if failures == _FAILURES_IN_A_ROW:
            raise DomainError("model_keeps_failing", f"Stopped after {failures} failures in a row: {reason}")
        progress.advance(1, request.prompt)
    return RunResult(**counts, left=run.requests.filter(outcome=Outcome.PENDING).count())


@transaction.atomic
def reopen_failed(*, run: GenerationRun) -> int:
    """Make failed requests pending again; return how many. Blanked and refused ones are results and stay."""
    return run.requests.filter(outcome=Outcome.FAILED).update(
        outcome=Outcome.PENDING, reason="", finished_at=None
    )


def _next(run: GenerationRun, *, after: int) -> GenerationRequest | None:
    pending = run.requests.filter(outcome=Outcome.PENDING, pk__gt=after).order_by("pk")
    return pending.select_related("group", "attribute", "phrase", "template").first()


def _make(request: GenerationRequest, model: Model, run: GenerationRun) -> tuple[str | None, str]:
    """Ask the model for one image and store what came; (None, "") when another worker was faster."""
    asked = ImageRequest(
        prompt=request.prompt,
        seed=request.seed,
        group=request.group.name if request.group else None,
        attribute=request.attribute.text if request.attribute else None,
    )
    try:
        return _finish(request, run, drawn=model.draw(asked))
    except DomainError as error:
        return _finish(request, run, drawn=Drawn(outcome=Outcome.FAILED, reason=error.message))


@transaction.atomic
def _finish(request: GenerationRequest, run: GenerationRun, *, drawn: Drawn) -> tuple[str | None, str]:
    locked = GenerationRequest.objects.select_for_update().filter(pk=request.pk, outcome=Outcome.PENDING)
    if not locked.exists():
        return None, ""
    image = None
    if drawn.outcome == Outcome.DONE:
        image = store_image(
            study=run.study,
            data=drawn.data,
            group=request.group,
            model_label=run.model_label,
            condition=request.template.condition,
            attribute=request.attribute,
            phrase=request.phrase,
            prompt=request.prompt,
            provenance=_provenance(request, run, drawn),
            what="What the model made",
        ).image
    locked.update(outcome=drawn.outcome, reason=drawn.reason[:300], image=image, finished_at=timezone.now())
    return drawn.outcome, drawn.reason


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
