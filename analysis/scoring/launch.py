"""Planning, starting and removing scorers; they run on a worker or in this process."""

import hashlib
from collections.abc import Mapping
from decimal import Decimal
from typing import Any

from django.db import transaction
from django.utils import timezone

from accounts.models import User
from analysis.models import AssociationScore, AttributeScore, Caption, ScoredImage, Scorer, TextScore
from analysis.models.vector_types import FLOAT16, FLOAT32
from analysis.scoring import parameters as chosen
from analysis.scoring.backends.choices import ENDPOINT, NGRAMS
from analysis.scoring.backends.model_files import short_name
from foundation.errors import Conflict, DomainError
from jobs.engine.queues import queue_for
from jobs.models import Job
from jobs.progress.reporter import Progress
from jobs.run.execution import enqueue, prepare, run_here
from studies import audit
from studies.models import Study

JOB_KIND = "score"
Kind = Scorer.Kind
_NAMES = {Kind.CLIP: "CLIP", Kind.PULL: "Pull", Kind.MCAS: "MCAS"}


@transaction.atomic
def plan_scorer(
    *,
    study: Study,
    kind: str,
    model_id: str = "",
    parameters: Mapping[str, Any] | None = None,
    label: str = "",
    by: User | None,
) -> Scorer:
    """Get or create the scorer of this configuration; `label`, if given, is part of the configuration."""
    model_id, stated = chosen.clean(kind, model_id, parameters or {})
    cleaned, money = chosen.without_money(stated)
    label = _clean_label(label)
    # The study's row is the lock: two simultaneous calls would both find the scorer missing.
    study = Study.objects.select_for_update().get(pk=study.pk)
    text = chosen.digestible(kind, model_id, cleaned) + label
    configuration = hashlib.sha256(text.encode()).hexdigest()
    existing_scorer = Scorer.objects.filter(study=study, configuration=configuration).first()
    if existing_scorer is not None:
        return _with_money(existing_scorer, money)
    scorer = Scorer.objects.create(
        study=study,
        kind=kind,
        model_id=model_id,
        model_label=_free_label(study, label, _default_label(kind, model_id, cleaned)),
        parameters=cleaned,
        configuration=configuration,
        created_by=by,
        **money,
    )
    audit.record(
        by=by, action="scorer.planned", subject=scorer, study=study, kind=kind, label=scorer.model_label
    )
    return scorer


def _with_money(scorer: Scorer, money: Mapping[str, Decimal]) -> Scorer:
    """Save the given prices and budget, and return the scorer."""
    for name, amount in money.items():
        setattr(scorer, name, amount)
    if money:
        scorer.save(update_fields=list(money))
    return scorer


def has_rounded_vectors(scorer: Scorer) -> bool:
    """Return whether the scorer's vectors are rounded to float16."""
    return bool(scorer.parameters.get("vectors") == FLOAT16)


def plan_unrounded(*, scorer: Scorer, by: User | None) -> Scorer:
    """Get or create the same scorer with float32 vectors; the rounded scorer is kept."""
    return plan_scorer(
        study=scorer.study,
        kind=scorer.kind,
        model_id=scorer.model_id,
        parameters=scorer.parameters | {"vectors": FLOAT32},
        by=by,
    )


@transaction.atomic
def start(*, scorer: Scorer, by: User | None, device: str = "", batch_size: int | None = None) -> Job:
    """Queue a job for the missing scores; raise Conflict if the scorer's job is queued or running."""
    scorer = _claimable(scorer)
    wants_gpu = scorer.parameters.get("captioner") != ENDPOINT and scorer.kind != Kind.JUDGE
    job = enqueue(**_description(scorer, device, batch_size), by=by, queue=queue_for(wants_gpu=wants_gpu))
    return _noted(scorer, job)


def start_here(
    *, scorer: Scorer, by: User | None, progress: Progress, device: str = "", batch_size: int | None = None
) -> Job:
    """Compute the missing scores in this process; raise Conflict if the scorer's job is queued or running."""
    with transaction.atomic():
        scorer = _claimable(scorer)
        job = _noted(scorer, prepare(**_description(scorer, device, batch_size), by=by))
    return run_here(job, progress)


@transaction.atomic
def remove_scorer(*, scorer: Scorer, by: User | None) -> None:
    """Delete a scorer and its scores, but not its vectors: other scorers and studies use them."""
    scorer = _claimable(scorer)
    audit.record(
        by=by,
        action="scorer.removed",
        subject=scorer,
        study=scorer.study,
        kind=scorer.kind,
        label=scorer.model_label,
    )
    # One statement per table: there may be millions of rows, and none is loaded.
    captions = Caption.objects.filter(scorer=scorer)
    for rows in (
        TextScore.objects.filter(scorer=scorer),
        TextScore.objects.filter(caption__in=captions),
        captions,
        AttributeScore.objects.filter(scorer=scorer),
        AssociationScore.objects.filter(scorer=scorer),
        ScoredImage.objects.filter(scorer=scorer),
    ):
        rows._raw_delete(rows.db)
    scorer.delete()


def is_under_way(job: Job) -> bool:
    """Return whether a job is queued or running; a running job whose lease has expired does not count."""
    if job.state != Job.State.RUNNING:
        return job.state == Job.State.QUEUED
    return job.lease_expires_at is not None and job.lease_expires_at > timezone.now()


def _claimable(scorer: Scorer) -> Scorer:
    scorer = Scorer.objects.select_for_update(of=("self",)).select_related("job", "study").get(pk=scorer.pk)
    if scorer.job is not None and is_under_way(scorer.job):
        raise Conflict(
            "scorer_under_way", f"These images are already being scored. See the job “{scorer.job.title}”."
        )
    return scorer


def _noted(scorer: Scorer, job: Job) -> Job:
    scorer.job = job
    scorer.save(update_fields=["job"])
    return job


def _description(scorer: Scorer, device: str, batch_size: int | None) -> dict[str, Any]:
    return {
        "kind": JOB_KIND,
        "title": f"Score {scorer.study.name} with {scorer.model_label}",
        "arguments": {"scorer": scorer.pk, "device": device, "batch_size": batch_size},
        "study_id": scorer.study_id,
    }


def _default_label(kind: str, model_id: str, cleaned: chosen.Parameters) -> str:
    if kind in _NAMES:
        choice = chosen.encoder_choice(model_id, cleaned)
        return f"{_NAMES[Kind(kind)]} {choice.label}"
    name = short_name(model_id)
    if cleaned.get("captioner") == NGRAMS:
        clip = chosen.encoder_choice(model_id, cleaned).label
        return f"{name} over {clip}"
    return name


def _free_label(study: Study, requested: str, default: str) -> str:
    """Return a label that is unique in the study; raise Conflict if the requested label is taken."""
    used = set(Scorer.objects.filter(study=study).values_list("model_label", flat=True))
    if requested and requested in used:
        message = f"Another scorer of the study is called “{requested}”: choose another label."
        raise Conflict("label_taken", message, fields={"label": message})
    base = (requested or default)[:110]
    numbered = (base, *(f"{base} ({number})" for number in range(2, len(used) + 3)))
    return next(label for label in numbered if label not in used)


def _clean_label(label: str) -> str:
    label = " ".join(label.split())
    if len(label) > 110:
        message = "A label can have at most 110 characters."
        raise DomainError("label_invalid", message, fields={"label": message})
    return label
