"""What a study asks of a model: one request for each image, counted before and written once."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
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


@dataclass(frozen=True)
class Estimate:
    """How many images a run comes to, before anything is started."""

    images: int
    prompts: int
    groups: int
    by_condition: dict[str, int]
    new: int  # of them not yet asked of this model with these parameters
    pending: int  # of them asked but not made
    samples: tuple[str, ...]  # some of the sentences the model will be given

    @property
    def to_make(self) -> int:
        return self.new + self.pending


def estimate(
    *, study: Study, backend: str, model_id: str = "", parameters: Mapping[str, Any] | None = None
) -> Estimate:
    """Count what `plan_run` would ask for; write nothing."""
    chosen = backend_named(backend)
    model_id = _clean_model_id(model_id, needed=chosen.needs_model_id)
    cleaned = chosen.clean(parameters or {}, groups=_group_names(study))
    requests = list(_requests(study))
    run = _same_run(study, backend, model_id, cleaned)
    known = _known(run) if run else set()
    by_condition = Counter(request.template.condition for request in requests)
    distinct = dict.fromkeys(request.prompt for request in requests)
    return Estimate(
        images=len(requests),
        prompts=len(distinct),
        groups=len({request.group.pk for request in requests if request.group}),
        by_condition=dict(by_condition),
        new=sum(request.key not in known for request in requests),
        pending=run.requests.filter(outcome=GenerationRequest.Outcome.PENDING).count() if run else 0,
        samples=_spread(list(distinct), 6),
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
) -> GenerationRun:
    """Write down every image to ask for; again for the same model and parameters, only what is missing."""
    chosen = backend_named(backend)
    model_id = _clean_model_id(model_id, needed=chosen.needs_model_id)
    cleaned = chosen.clean(parameters or {}, groups=_group_names(study))
    label = clean_label(model_label or default_label(backend, model_id))
    # The study's row is the lock: two plans at once would both find the same requests missing.
    Study.objects.select_for_update().get(pk=study.pk)
    run = _same_run(study, backend, model_id, cleaned, label=label)
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
    known = _known(run)
    missing = [request for request in _requests(study) if request.key not in known]
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


def _requests(study: Study) -> Iterator[PlannedRequest]:
    templates = list(study.prompt_templates.all())
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


def _same_run(
    study: Study, backend: str, model_id: str, parameters: dict[str, Any], *, label: str | None = None
) -> GenerationRun | None:
    runs = study.generation_runs.filter(backend=backend, model_id=model_id).order_by("pk")
    if label is not None:
        runs = runs.filter(model_label=label)
    # Compared here: SQLite and PostgreSQL disagree on when two JSON objects are equal.
    return next((run for run in runs if run.parameters == parameters), None)


def _known(run: GenerationRun) -> set[Key]:
    return set(run.requests.values_list("template", "group", "attribute", "phrase", "index"))


def _group_names(study: Study) -> list[str]:
    return list(study.groups.values_list("name", flat=True))


def _clean_model_id(model_id: str, *, needed: bool) -> str:
    model_id = model_id.strip()
    message = ""
    if needed and not model_id:
        message = "Name the model: a folder on the server, or its id on the hub."
    elif len(model_id) > _MAX_MODEL_ID:
        message = f"The model id is longer than {_MAX_MODEL_ID} characters."
    if message:
        raise DomainError("model_id_invalid", message, fields={"model_id": message})
    return model_id


def _spread(sentences: list[str], most: int) -> tuple[str, ...]:
    step = max(1, len(sentences) // most)
    return tuple(sentences[::step][:most])
