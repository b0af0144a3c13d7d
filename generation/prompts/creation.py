"""Prompts of a study, and studies created together with their prompts."""

from collections.abc import Iterable
from typing import Any

from django.db import transaction
from django.db.models import Q

from accounts.models import User
from foundation.errors import Conflict, DomainError
from generation.models import Condition, PromptTemplate
from generation.prompts.placeholders import FORMS, check, render
from studies import audit
from studies.models import Study
from studies.protocol.creation import create_study

MOST_IMAGES_PER_PROMPT = 1000
_SOMEONE = dict.fromkeys(FORMS, "someone")


def create_study_with_prompts(
    *, templates: Iterable[str], images_per_prompt: int, by: User | None, **settings: Any
) -> Study:
    """Create a study and its prompts in one transaction; `settings` as for `studies.protocol.creation.create_study`."""
    with transaction.atomic():
        study = create_study(by=by, **settings)
        set_prompts(study=study, templates=templates, images_per_prompt=images_per_prompt, by=by)
        return study


@transaction.atomic
def set_prompts(
    *,
    study: Study,
    templates: Iterable[str],
    images_per_prompt: int,
    by: User | None,
    condition: str = Condition.DEFAULT,
) -> list[PromptTemplate]:
    """Replace the prompts of one condition, unless a request has been made with them."""
    texts = clean_templates(templates, condition=condition)
    if not 1 <= images_per_prompt <= MOST_IMAGES_PER_PROMPT:
        message = f"Images per prompt must be 1 to {MOST_IMAGES_PER_PROMPT}."
        raise DomainError("images_per_prompt_out_of_range", message, fields={"images_per_prompt": message})
    old = study.prompt_templates.filter(condition=condition, prompt_set="")
    uses_old = Q(requests__template__in=old) | Q(to_write__in=old)
    if study.generation_runs.filter(uses_old).exists():
        raise Conflict(
            "prompts_in_use",
            "Images were already requested with these prompts, so the prompts can no longer change.",
        )
    old.delete()
    prompts = PromptTemplate.objects.bulk_create(
        PromptTemplate(
            study=study,
            text=text,
            condition=condition,
            images_per_prompt=images_per_prompt,
            position=position,
        )
        for position, text in enumerate(texts)
    )
    audit.record(
        by=by, action="study.prompts_set", subject=study, study=study, prompts=texts, condition=condition
    )
    return prompts


def clean_templates(
    templates: Iterable[str], *, condition: str = Condition.DEFAULT, of_scenarios: bool = False
) -> list[str]:
    """Return the prompts without blank lines and duplicates; an unknown placeholder is refused with its line."""
    lines = [" ".join(line.split()) for line in templates]
    texts = list(dict.fromkeys(line for line in lines if line))
    if not texts:
        raise _refusal("prompts_missing", "Write at least one prompt.")
    for number, line in enumerate(lines, start=1):
        if line:
            places = _check(number, line)
            if of_scenarios:
                _check_scenario(number, places)
            else:
                _check_places(number, places, condition)
    return texts


def _check(number: int, line: str) -> frozenset[str]:
    limit = PromptTemplate._meta.get_field("text").max_length
    if limit is not None and len(line) > limit:
        raise _refusal("prompt_too_long", f"Prompt {number} is longer than {limit} characters.")
    try:
        places = check(line)
        # {a_an} needs a word after it.
        render(line, group="Somewhere", attribute="something", phrase="someone", forms=_SOMEONE)
    except DomainError as error:
        raise _refusal(error.code, error.message) from None
    return places


def _check_scenario(number: int, places: frozenset[str]) -> None:
    if "person" not in places:
        raise _refusal(
            "prompt_without_person",
            f"Prompt {number} must contain {{person}}, because the images of a scenario differ in the person.",
        )
    if places & {"id", "attr", "phrase"}:
        raise _refusal(
            "prompt_beside_person",
            f"Prompt {number} has {{person}}, so its only other placeholders can be {{a_an}} and {{A_an}}.",
        )


def _check_places(number: int, places: frozenset[str], condition: str) -> None:
    if "person" in places:
        raise _refusal(
            "prompt_with_person", f"Prompt {number} has {{person}}, which is only for prompts of scenarios."
        )
    if condition in {Condition.TARGET, Condition.ATTRIBUTE}:
        if "phrase" not in places:
            raise _refusal("prompt_without_phrase", f"Prompt {number} must contain {{phrase}}.")
        return
    if "phrase" in places:
        raise _refusal(
            "prompt_with_phrase",
            f"Prompt {number} has {{phrase}}, which is only for targets and attribute sets.",
        )
    if not places & {"id", *FORMS}:
        raise _refusal(
            "prompt_without_group",
            f"Prompt {number} must contain {{id}}, where the group is named, or {{singular}} or {{plural}}.",
        )
    if condition == Condition.DEFAULT and "attr" in places:
        raise _refusal(
            "prompt_with_attribute",
            f"Prompt {number} has {{attr}}, but a default prompt must not name an attribute.",
        )


def _refusal(code: str, message: str) -> DomainError:
    return DomainError(code, message, fields={"templates": message})
