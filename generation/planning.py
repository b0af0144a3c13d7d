"""What a study asks of a model: one request for each image, counted before and written once."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from itertools import product
from typing import Any

from django.db import transaction

from accounts.errors import DomainError
from accounts.models import User
from catalog.models import Attribute
from generation import prompts
from generation.attributes import attributes_by_group
from generation.backends import backend_named
from generation.models import GenerationRequest, GenerationRun, Phrase, PromptTemplate
from generation.prompt_sets import PromptSet
from generation.prompt_sets.applying import templates_of, use_prompt_set
from generation.seeds import image_seed
from studies import audit
from studies.models import Study, StudyGroup

_MAX_MODEL_ID = 300
# Template, group, attribute, phrase, index.
Key = tuple[int, int | None, int | None, int | None, int]


@dataclass(frozen=True)
class PlannedRequest:
    """One image to ask for."""

    template: PromptTemplate
    group: StudyGroup | None
    attribute: Attribute | None
    phrase: Phrase | None
    prompt: str
    index: int
    seed: int

    @property
    def key(self) -> Key:
        """What makes it the same request within a run."""
        return (
            self.template.pk,
            self.group.pk if self.group else None,
            self.attribute.pk if self.attribute else None,
            self.phrase.pk if self.phrase else None,
            self.index,
        )


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

    With a prompt set only its prompts, which the study is given. Price and budget are those stated last.
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
    known = known_requests(run)
    missing = [
        request for request in requests_of(study, templates_of(study, prompt_set)) if request.key not in known
    ]
    GenerationRequest.objects.bulk_create(
        (
            GenerationRequest(
                run=run,
                template=request.template,
                group=request.group,
                attribute=request.attribute,
                phrase=request.phrase,
                prompt=request.prompt,
                index=request.index,
                seed=request.seed,
            )
            for request in missing
        ),
        batch_size=500,
    )
    if missing:
        audit.record(
            by=by,
            action="generation.planned",
            subject=run,
            study=study,
            requests=len(missing),
            model=run.model_label,
        )
    return run


def _set_budget(run: GenerationRun, price: Decimal | None, budget: Decimal | None) -> None:
    for name, value, limit in (("price", price, 10_000), ("budget", budget, 10_000_000)):
        if value is not None and not 0 <= value <= limit:
            message = f"The {name} must be from 0 to {limit:,}."
            raise DomainError(f"{name}_out_of_range", message, fields={name: message})
    if price is not None:
        run.price = price
    if budget is not None and not run.price:
        message = "A budget needs the price of an image, or nothing would count against it."
        raise DomainError("budget_without_price", message, fields={"price": message})
    if budget is not None:
        run.budget = budget
    run.save(update_fields=["price", "budget"])


def default_label(backend: str, model_id: str) -> str:
    """Return how reports name the model when nobody said: the last part of its id."""
    return model_id.rstrip("/").rsplit("/", 1)[-1] or backend


def clean_label(label: str) -> str:
    """Return a model's label as it is stored."""
    label = " ".join(label.split())
    if not label or len(label) > 120:
        message = "Name the model in 1 to 120 characters."
        raise DomainError("model_label_invalid", message, fields={"model_label": message})
    return label


def requests_of(study: Study, templates: Sequence[PromptTemplate]) -> Iterator[PlannedRequest]:
    """Yield a request for each template, group, attribute, phrase and image."""
    groups = list(study.groups.all())
    phrases = list(study.phrases.all())
    if not templates:
        raise DomainError(
            "prompts_missing", f"The study “{study}” has no prompts yet, so there is nothing to generate."
        )
    for template in templates:
        places = prompts.check(template.text)
        chosen = [phrase for phrase in phrases if phrase.condition == template.condition]
        if places & {"id", "attr"} and not groups:
            raise _nothing_for(study, "groups", "identity groups")
        if "phrase" in places and not chosen:
            raise _nothing_for(study, "phrases", f"{template.get_condition_display()} phrases")
        attributes = attributes_by_group(study, template.condition) if "attr" in places else {}
        for group in groups if places & {"id", "attr"} else [None]:
            found: Sequence[Attribute | None] = (
                attributes.get(group.pk, []) if group and "attr" in places else [None]
            )
            for attribute, phrase in product(found, chosen if "phrase" in places else [None]):
                yield from _of_prompt(study, template, group, attribute, phrase)


def _nothing_for(study: Study, what: str, words: str) -> DomainError:
    return DomainError(f"{what}_missing", f"The study “{study}” has no {words} to put into its prompts.")


def _of_prompt(
    study: Study,
    template: PromptTemplate,
    group: StudyGroup | None,
    attribute: Attribute | None,
    phrase: Phrase | None,
) -> Iterator[PlannedRequest]:
    prompt = prompts.render(
        template.text,
        group=group.display_name if group else None,
        attribute=attribute.text if attribute else None,
        phrase=phrase.text if phrase else None,
    )
    for index in range(template.images_per_prompt):
        seed = image_seed(
            study_seed=study.seed,
            template=template.text,
            condition=template.condition,
            group=group.name if group else "",
            attribute=attribute.text if attribute else "",
            phrase=(phrase.attribute_set, phrase.name) if phrase else (),
            index=index,
        )
        yield PlannedRequest(template, group, attribute, phrase, prompt, index, seed)


def same_run(
    study: Study, backend: str, model_id: str, parameters: dict[str, Any], *, label: str | None = None
) -> GenerationRun | None:
    runs = study.generation_runs.filter(backend=backend, model_id=model_id).order_by("pk")
    if label is not None:
        runs = runs.filter(model_label=label)
    # Compared here: SQLite and PostgreSQL disagree on when two JSON objects are equal.
    return next((run for run in runs if run.parameters == parameters), None)


def known_requests(run: GenerationRun) -> set[Key]:
    """Return the keys of what was asked in a run already."""
    return set(run.requests.values_list("template", "group", "attribute", "phrase", "index"))


def clean_model_id(model_id: str, *, needed: bool) -> str:
    """Return a model's id as it is stored."""
    model_id = model_id.strip()
    message = ""
    if needed and not model_id:
        message = "Name the model: a folder on the server, or its id on the hub."
    elif len(model_id) > _MAX_MODEL_ID:
        message = f"The model id is longer than {_MAX_MODEL_ID} characters."
    if message:
        raise DomainError("model_id_invalid", message, fields={"model_id": message})
    return model_id
