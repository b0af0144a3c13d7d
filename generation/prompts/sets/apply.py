"""Use of a prompt set's templates in a study."""

from django.db import transaction

from accounts.models import User
from foundation.errors import DomainError
from generation.models import Condition, PromptTemplate
from generation.prompts.creation import clean_templates
from generation.prompts.sets import PromptSet
from studies import audit
from studies.models import Study


def templates_of(study: Study, chosen: PromptSet | None) -> list[PromptTemplate]:
    """Return the study's templates, all or those of a set; templates of a set not yet in use are unsaved."""
    if chosen is None:
        return list(study.prompt_templates.all())
    stored = study.prompt_templates.filter(prompt_set__in=["", chosen.name])
    by_key = {(template.prompt_set, template.text, template.condition): template for template in stored}
    templates = []
    for template in _templates(study, chosen):
        used, unassigned = (
            by_key.get((name, template.text, template.condition)) for name in (chosen.name, "")
        )
        # `use_prompt_set` assigns the lead's own prompt to the set if it makes as many images.
        if (
            used is None
            and unassigned is not None
            and unassigned.images_per_prompt == template.images_per_prompt
        ):
            used = unassigned
        templates.append(used or template)
    return templates


@transaction.atomic
def use_prompt_set(*, study: Study, chosen: PromptSet, by: User | None) -> None:
    """Add a set's missing templates to the study. Repeating it changes nothing."""
    Study.objects.select_for_update().get(pk=study.pk)
    new = []
    for template in _templates(study, chosen):
        key = {"text": template.text, "condition": template.condition}
        if study.prompt_templates.filter(prompt_set=chosen.name, **key).exists():
            continue
        # The lead may have written the published prompts when the study was created.
        unassigned = study.prompt_templates.filter(
            prompt_set="", images_per_prompt=template.images_per_prompt, **key
        )
        if not unassigned.update(prompt_set=chosen.name):
            new.append(template)
    PromptTemplate.objects.bulk_create(new)
    if new:
        audit.record(
            by=by,
            action="study.prompt_set_used",
            subject=study,
            study=study,
            prompt_set=chosen.name,
            prompts=[template.text for template in new],
        )


def _templates(study: Study, chosen: PromptSet) -> list[PromptTemplate]:
    if chosen.has_phrases and study.protocol != Study.Protocol.MCAS:
        raise DomainError(
            "prompt_set_needs_mcas",
            f"The prompt set {chosen.name} has targets and attribute sets, which only MCAS studies use.",
        )
    templates = _of_scenarios(study, chosen)
    for prompts in chosen.prompts:
        if prompts.condition not in Condition.values:
            raise DomainError(
                "condition_unknown", f"The prompt set {chosen.name} has no condition “{prompts.condition}”."
            )
        for text in clean_templates(prompts.templates, condition=prompts.condition):
            template = PromptTemplate(
                study=study,
                prompt_set=chosen.name,
                text=text,
                condition=prompts.condition,
                images_per_prompt=prompts.images_per_prompt,
                position=len(templates),
            )
            templates.append(template)
    return templates


def _of_scenarios(study: Study, chosen: PromptSet) -> list[PromptTemplate]:
    if not chosen.scenarios:
        return []
    texts = clean_templates([scenario.text for scenario in chosen.scenarios], of_scenarios=True)
    return [
        PromptTemplate(
            study=study,
            prompt_set=chosen.name,
            text=text,
            experiment=scenario.experiment,
            scenario=scenario.name,
            images_per_prompt=1,
            position=position,
        )
        for position, (scenario, text) in enumerate(zip(chosen.scenarios, texts, strict=True))
    ]
