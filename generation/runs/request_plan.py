"""The requests of a study's prompts: counted without listing them, and written in pieces."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice

from django.db import transaction
from django.db.models import Count
from django.db.models.functions import Coalesce

from catalog.models import Attribute
from foundation.errors import DomainError
from generation.models import GenerationRequest, GenerationRun, Phrase, PromptTemplate
from generation.prompts import placeholders
from generation.prompts.attributes import attributes_by_condition
from generation.runs.seeds import image_seed
from jobs.progress.reporter import Progress
from studies.models import Study, StudyGroup
from studies.protocol.descriptors import forms_of

# Requests per transaction, which keeps the wait of other writers short.
_PIECE = 2000
_OF_GROUPS = frozenset({"id", "attr", "person", *placeholders.FORMS})


@dataclass(frozen=True)
class TemplatePart:
    """A template and the values of its placeholders: groups, their attributes, and phrases."""

    template: PromptTemplate
    groups: Sequence[StudyGroup | None]
    attributes: (
        Mapping[int, Sequence[Attribute]] | None
    )  # by key of group; None if the prompt names no attribute
    phrases: Sequence[Phrase | None]

    def attributes_of(self, group: StudyGroup | None) -> Sequence[Attribute | None]:
        if self.attributes is None or group is None:
            return [None]
        return self.attributes.get(group.pk, [])

    def prompts_of(self, group: StudyGroup | None) -> int:
        return len(self.attributes_of(group)) * len(self.phrases)

    def images_of(self, group: StudyGroup | None) -> int:
        return self.prompts_of(group) * self.template.images_per_prompt

    @property
    def prompts(self) -> int:
        return sum(map(self.prompts_of, self.groups))

    @property
    def images(self) -> int:
        return self.prompts * self.template.images_per_prompt

    def sentence(self, number: int) -> str:
        """Return the prompt at index `number`, without rendering those before it."""
        for group in self.groups:
            if number < self.prompts_of(group):
                attribute, phrase = divmod(number, len(self.phrases))
                return self.render(group, self.attributes_of(group)[attribute], self.phrases[phrase])
            number -= self.prompts_of(group)
        raise IndexError(number)

    def render(self, group: StudyGroup | None, attribute: Attribute | None, phrase: Phrase | None) -> str:
        return placeholders.render(
            self.template.text,
            group=group.display_name if group else None,
            attribute=attribute.text if attribute else None,
            phrase=phrase.text if phrase else None,
            forms=forms_of(group) if group else None,
        )


def parts_of(study: Study, templates: Sequence[PromptTemplate]) -> list[TemplatePart]:
    """Return the placeholder values of each template; raise DomainError if a placeholder has none."""
    groups = list(study.groups.all())
    phrases = list(study.phrases.all())
    if not templates:
        raise DomainError(
            "prompts_missing", f"The study “{study}” has no prompts yet, so there is nothing to generate."
        )
    naming = [template.condition for template in templates if "attr" in placeholders.check(template.text)]
    attributes = attributes_by_condition(study, naming)
    return [_part(study, template, groups, phrases, attributes) for template in templates]


def _part(
    study: Study,
    template: PromptTemplate,
    groups: Sequence[StudyGroup],
    phrases: Sequence[Phrase],
    attributes: Mapping[str, Mapping[int, Sequence[Attribute]]],
) -> TemplatePart:
    places = placeholders.check(template.text)
    chosen = [phrase for phrase in phrases if phrase.condition == template.condition]
    if places & _OF_GROUPS and not groups:
        raise _nothing_for(study, "groups", "identity groups")
    if "phrase" in places and not chosen:
        raise _nothing_for(study, "phrases", f"{template.get_condition_display()} phrases")
    # A descriptor without a singular form is left out of prompts with the singular.
    named = [group for group in groups if (places & set(placeholders.FORMS)) <= set(forms_of(group))]
    return TemplatePart(
        template,
        named if places & _OF_GROUPS else [None],
        attributes[template.condition] if "attr" in places else None,
        chosen if "phrase" in places else [None],
    )


def _nothing_for(study: Study, missing: str, words: str) -> DomainError:
    return DomainError(f"{missing}_missing", f"The study “{study}” has no {words} for its prompts.")


class Missing:
    """The images that a run has no request for, by template and group; one query compares a whole run."""

    def __init__(self, run: GenerationRun | None, parts: Sequence[TemplatePart]) -> None:
        written = _known(run) if run is not None else {}
        self._blocks: list[tuple[TemplatePart, StudyGroup | None]] = []
        self.images = 0
        for part in parts:
            for group in part.groups:
                written_count = written.get((part.template.pk, group.pk if group else 0), 0)
                if written_count < part.images_of(group):
                    self._blocks.append((part, group))
                    self.images += part.images_of(group) - written_count

    def write(self, run: GenerationRun, progress: Progress) -> None:
        """Write the requests in pieces; pieces written before an interruption are kept."""
        requests = (
            request for part, group in self._blocks for request in _requests(run, run.study, part, group)
        )
        while piece := list(islice(requests, _PIECE)):
            progress.check_cancelled()
            with transaction.atomic():
                # A group that was written in part already has some requests.
                GenerationRequest.objects.bulk_create(piece, batch_size=500, ignore_conflicts=True)
            progress.advance(len(piece))


def _known(run: GenerationRun) -> dict[tuple[int, int], int]:
    # The same expression as in the unique index, so that only the index is read.
    counted = run.requests.order_by().annotate(of=Coalesce("group", 0)).values_list("template", "of")
    return {(template, group): number for template, group, number in counted.annotate(number=Count("pk"))}


def _requests(
    run: GenerationRun, study: Study, part: TemplatePart, group: StudyGroup | None
) -> Iterator[GenerationRequest]:
    for attribute in part.attributes_of(group):
        for phrase in part.phrases:
            prompt = part.render(group, attribute, phrase)
            for index in range(part.template.images_per_prompt):
                seed = image_seed(
                    study_seed=study.seed,
                    template=part.template.text,
                    condition=part.template.condition,
                    # The images of a scenario start from the same noise.
                    group=group.name if group and not part.template.scenario else "",
                    attribute=attribute.text if attribute else "",
                    phrase=(phrase.attribute_set, phrase.name) if phrase else (),
                    index=index,
                )
                yield GenerationRequest(
                    run=run,
                    template=part.template,
                    group=group,
                    attribute=attribute,
                    phrase=phrase,
                    prompt=prompt,
                    experiment=part.template.experiment,
                    scenario=part.template.scenario,
                    index=index,
                    seed=seed,
                )
