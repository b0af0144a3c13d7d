"""A run is planned: a request for each image, counted before and written once."""

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
# More requests than these are written by the job: a page must not wait, nor others for its transaction.
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
    """Write down every image to ask for; again for the same model and parameters, only what is missing.

    With a prompt set only its prompts, which the study is given. Price and budget are those stated last. Many requests
    are written by the job that makes the images: see `finish_planning`.
    """
    chosen = backend_named(backend)
    model_id = clean_model_id(model_id, needed=chosen.needs_model_id)
    names = list(study.groups.values_list("name", flat=True))
    cleaned = chosen.clean(parameters or {}, groups=names)
    label = clean_label(model_label or default_label(backend, model_id))
    # The study's row is the lock: two plans at once would both find the same requests missing.
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
    missing = Missing(run, parts_of(study, templates))
    if missing.images > AT_ONCE:
        run.to_write.add(*templates)
    else:
        missing.write(run, Unwatched())
    if missing.images:
        audit.record(
            by=by,
            action="generation.planned",
            subject=run,
            study=study,
            requests=missing.images,
            model=run.model_label,
        )
    return run


def finish_planning(*, run: GenerationRun, progress: Progress) -> None:
    """Write what `plan_run` left to the job, each piece for itself; after a kill it goes on where it was."""
    while templates := list(run.to_write.all()):
        progress.step("Planning the requests")
        missing = Missing(run, parts_of(run.study, templates))
        progress.start(missing.images)
        missing.write(run, progress)
        run.to_write.remove(*templates)


def _freeze_attributes(study: Study, templates: Sequence[PromptTemplate], by: User | None) -> None:
    """Keep the associations as they are from the first prompt on that names them: another import would draw others."""
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
    """Return the stored label of a model."""
    label = " ".join(label.split())
    if not label or len(label) > 120:
        message = "Enter a name of the model with 1 to 120 characters."
        raise DomainError("model_label_invalid", message, fields={"model_label": message})
    return label


def same_run(
    study: Study, backend: str, model_id: str, parameters: dict[str, Any], *, label: str
) -> GenerationRun | None:
    """Return the run of a study that asks the same of the same model under the same label, if there is one."""
    runs = study.generation_runs.filter(backend=backend, model_id=model_id, model_label=label).order_by("pk")
    # Compared here: SQLite and PostgreSQL disagree on when two JSON objects are equal.
    return next((run for run in runs if run.parameters == parameters), None)


def clean_model_id(model_id: str, *, needed: bool) -> str:
    """Return the stored id of a model."""
    model_id = model_id.strip()
    message = ""
    if needed and not model_id:
        message = "Enter a model: a folder on the server, or an id on the hub."
    elif len(model_id) > _MAX_MODEL_ID:
        message = f"The model id is longer than {_MAX_MODEL_ID} characters."
    if message:
        raise DomainError("model_id_invalid", message, fields={"model_id": message})
    return model_id
