"""Planning a run: writing a request for each image."""

from collections.abc import Mapping, Sequence
from decimal import Decimal
from typing import Any

from django.db import transaction

from accounts.models import User
from foundation.errors import DomainError
from generation.backends import backend_named
from generation.models import GenerationRun, PromptTemplate
from generation.prompts import placeholders
from generation.prompts.sets import PromptSet
from generation.prompts.sets.apply import templates_of, use_prompt_set
from generation.runs.request_plan import Missing, parts_of
from jobs.progress.reporter import Progress, Unwatched
from studies import audit
from studies.models import Study
from studies.protocol.freeze import freeze

_MAX_MODEL_ID = 300
# Larger plans are written by the job, because neither the page nor other transactions should wait.
AT_ONCE = 5000


@transaction.atomic
def plan_run(
    *,
    study: Study,
    backend: str,
    model_id: str = "",
    by: User | None,
    parameters: Mapping[str, Any] | None = None,
    model_label: str = "",
    prompt_set: PromptSet | None = None,
    price: Decimal | None = None,
    budget: Decimal | None = None,
) -> GenerationRun:
    """Write a request for every image; for the same model and parameters, only the missing requests.

    With a prompt set, plan only its prompts, which are added to the study. A price or budget replaces the previous
    one. The job that makes the images writes large plans: see `finish_planning`.
    """
    chosen = backend_named(backend)
    model_id = clean_model_id(model_id, needed=chosen.needs_model_id)
    names = list(study.groups.values_list("name", flat=True))
    cleaned = chosen.clean(parameters or {}, groups=names)
    label = clean_label(model_label or default_label(backend, model_id))
    # Lock the study: two concurrent plans would both find the same requests missing.
    Study.objects.select_for_update().get(pk=study.pk)
    if prompt_set is not None:
        use_prompt_set(study=study, chosen=prompt_set, by=by)
    run = same_run(study, backend, model_id, cleaned, label=label)
    if run is None:
        run = GenerationRun.objects.create(
            study=study,
            backend=backend,
            model_id=model_id,
            model_label=label,
            parameters=cleaned,
            seed=study.seed,
            created_by=by,
        )
    if price is not None or budget is not None:
        _set_budget(run, price, budget)
    templates = templates_of(study, prompt_set)
    _freeze_attributes(study, templates, by)
    _write_requests(run, templates, by)
    return run


def _write_requests(run: GenerationRun, templates: Sequence[PromptTemplate], by: User | None) -> None:
    """Write the missing requests, or leave a large number of them to the job; keep an audit entry."""
    missing = Missing(run, parts_of(run.study, templates))
    if missing.images > AT_ONCE:
        run.to_write.add(*templates)
    else:
        missing.write(run, Unwatched())
    if missing.images:
        audit.record(
            by=by,
            action="generation.planned",
            subject=run,
            study=run.study,
            requests=missing.images,
            model=run.model_label,
        )


def finish_planning(*, run: GenerationRun, progress: Progress) -> None:
    """Write the requests that `plan_run` left to the job, in pieces, so that it can resume after a kill."""
    while templates := list(run.to_write.all()):
        progress.step("Planning the requests")
        missing = Missing(run, parts_of(run.study, templates))
        progress.start(missing.images)
        missing.write(run, progress)
        run.to_write.remove(*templates)


def _freeze_attributes(study: Study, templates: Sequence[PromptTemplate], by: User | None) -> None:
    """Freeze the associations once a prompt names an attribute: a later import would change the prompts."""
    if any("attr" in placeholders.check(template.text) for template in templates):
        study.frozen_at = freeze(study=study, by=by).frozen_at


def _set_budget(run: GenerationRun, price: Decimal | None, budget: Decimal | None) -> None:
    for name, value, limit in (("price", price, 10_000), ("budget", budget, 10_000_000)):
        if value is not None and not 0 <= value <= limit:
            message = f"The {name} must be from 0 to {limit:,}."
            raise DomainError(f"{name}_out_of_range", message, fields={name: message})
    if price is not None:
        run.price = price
    if budget is not None and not run.price:
        message = "A budget needs the price of an image."
        raise DomainError("budget_without_price", message, fields={"price": message})
    if budget is not None:
        run.budget = budget
    run.save(update_fields=["price", "budget"])


def default_label(backend: str, model_id: str) -> str:
    """Return the default name of a model in reports: the last part of its id."""
    return model_id.rstrip("/").rsplit("/", 1)[-1] or backend


def clean_label(label: str) -> str:
    """Return a model's label with normalised spaces; raise DomainError if it is invalid."""
    label = " ".join(label.split())
    if not label or len(label) > 120:
        message = "Enter a name of the model with 1 to 120 characters."
        raise DomainError("model_label_invalid", message, fields={"model_label": message})
    return label


def same_run(
    study: Study, backend: str, model_id: str, parameters: dict[str, Any], *, label: str
) -> GenerationRun | None:
    """Return the run of a study with the same model, parameters and label, or None."""
    runs = study.generation_runs.filter(backend=backend, model_id=model_id, model_label=label).order_by("pk")
    # Compared in Python, because SQLite and PostgreSQL differ on the equality of JSON objects.
    return next((run for run in runs if run.parameters == parameters), None)


def clean_model_id(model_id: str, *, needed: bool) -> str:
    """Return a model id without surrounding spaces; raise DomainError if it is missing or too long."""
    model_id = model_id.strip()
    message = ""
    if needed and not model_id:
        message = "Enter a model: a folder on the server, or an id on the hub."
    elif len(model_id) > _MAX_MODEL_ID:
        message = f"The model id is longer than {_MAX_MODEL_ID} characters."
    if message:
        raise DomainError("model_id_invalid", message, fields={"model_id": message})
    return model_id
