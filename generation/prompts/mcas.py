"""MCAS studies: two attribute sets, targets, and the images of both."""

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from django.db import transaction
from django.db.models import Count

from accounts.models import User
from foundation.errors import DomainError
from generation.models import Condition, Phrase, PromptTemplate
from generation.prompts.creation import set_prompts
from generation.prompts.sets import AttributeSet, PromptSet, Target
from generation.prompts.sets.apply import use_prompt_set
from studies.models import Study
from studies.protocol.creation import create_study


@dataclass(frozen=True)
class McasPlan:
    """The sets and targets of an MCAS study, as a lead edits them."""

    sets: tuple[AttributeSet, ...]
    targets: tuple[Target, ...]
    template: str
    images_per_target: int
    images_per_phrase: int

    @classmethod
    def of(cls, published: PromptSet) -> "McasPlan":
        return cls(
            sets=published.sets,
            targets=published.targets,
            template=published.prompts[0].templates[0],
            images_per_target=published.images_of(Condition.TARGET),
            images_per_phrase=published.images_of(Condition.ATTRIBUTE),
        )

    @property
    def target_images(self) -> int:
        return len(self.targets) * self.images_per_target

    @property
    def attribute_images(self) -> int:
        return sum(len(attribute_set.phrases) for attribute_set in self.sets) * self.images_per_phrase

    @property
    def images(self) -> int:
        return self.target_images + self.attribute_images

    @property
    def categories(self) -> list[tuple[str, int]]:
        return list(Counter(target.category for target in self.targets).items())


def clean(plan: McasPlan) -> McasPlan:
    """Return the plan without blanks and duplicates; refuse an unusable plan, naming the field."""
    sets = tuple(
        AttributeSet(_line(attribute_set.name), _lines(attribute_set.texts), _lines(attribute_set.phrases))
        for attribute_set in plan.sets
    )
    if len(sets) != 2 or sets[0].name == sets[1].name:
        raise _refusal("sets", "Enter two attribute sets with different names.")
    for letter, attribute_set in zip("ab", sets, strict=True):
        for field, value, expected in (
            ("name", attribute_set.name, "a name"),
            ("texts", attribute_set.texts, "at least one text"),
            ("phrases", attribute_set.phrases, "at least one phrase for images"),
        ):
            if not value:
                raise _refusal(f"{field}_{letter}", f"Give attribute set {letter.upper()} {expected}.")
        _check_length(f"name_{letter}", attribute_set.name, 60)
        for phrase in attribute_set.phrases:
            _check_length(f"phrases_{letter}", phrase, 120)
    targets = tuple(
        Target(_line(target.name), _line(target.text), _line(target.category), _line(target.expected))
        for target in plan.targets
    )
    _check_targets(targets, {attribute_set.name for attribute_set in sets})
    return replace(plan, sets=sets, targets=targets)


def _check_targets(targets: Sequence[Target], sets: set[str]) -> None:
    if not targets:
        raise _refusal("targets", "Enter at least one target.")
    for name, times in Counter(target.name for target in targets).items():
        if times > 1:
            raise _refusal("targets", f"The target “{name}” appears {times} times.")
    for target in targets:
        if not target.name or not target.text:
            raise _refusal("targets", "Every target needs a name and a phrase.")
        if target.expected and target.expected not in sets:
            raise _refusal(
                "targets",
                f"“{target.expected}”, expected for {target.name}, is not one of the attribute sets.",
            )
        for text, limit in ((target.name, 120), (target.text, 300), (target.category, 60)):
            _check_length("targets", text, limit)


def create_mcas_study(
    *, name: str, plan: McasPlan, by: User | None, description: str = "", seed: int | None = None
) -> Study:
    """Create an MCAS study with its sets, phrases and prompts, in one transaction."""
    plan = clean(plan)
    with transaction.atomic():
        study = _study(name, plan, by, description, seed)
        for condition, images in (
            (Condition.TARGET, plan.images_per_target),
            (Condition.ATTRIBUTE, plan.images_per_phrase),
        ):
            set_prompts(
                study=study,
                templates=[plan.template],
                images_per_prompt=images,
                by=by,
                condition=condition,
            )
        return study


def create_published_mcas_study(*, name: str, published: PromptSet, by: User | None) -> Study:
    """Create an MCAS study from an unchanged prompt set."""
    with transaction.atomic():
        study = _study(name, clean(McasPlan.of(published)), by, "", None)
        use_prompt_set(study=study, chosen=published, by=by)
        return study


def planned_images(studies: Iterable[Study]) -> dict[int, int]:
    """Return the number of images for all phrases of each MCAS study, for one model."""
    keys = [study.pk for study in studies if study.protocol == Study.Protocol.MCAS]
    if not keys:
        return {}
    rows = Phrase.objects.filter(study__in=keys).order_by().values_list("study", "condition")
    phrases = {(study, condition): number for study, condition, number in rows.annotate(Count("pk"))}
    images = dict.fromkeys(keys, 0)
    templates = PromptTemplate.objects.filter(study__in=keys).values_list(
        "study", "condition", "images_per_prompt"
    )
    for study, condition, number in templates:
        images[study] += number * phrases.get((study, condition), 0)
    return images


def _study(name: str, plan: McasPlan, by: User | None, description: str, seed: int | None) -> Study:
    study = create_study(
        name=name,
        resource=None,
        groups=[],
        by=by,
        description=description,
        seed=seed,
        protocol=Study.Protocol.MCAS,
        parameters={
            "mcas": {
                "sets": [
                    {"name": attribute_set.name, "texts": list(attribute_set.texts)}
                    for attribute_set in plan.sets
                ]
            }
        },
    )
    Phrase.objects.bulk_create(
        Phrase(study=study, position=position, **described)
        for position, described in enumerate(_phrases(plan))
    )
    return study


def _phrases(plan: McasPlan) -> list[dict[str, str]]:
    attributes = [
        {
            "condition": Condition.ATTRIBUTE.value,
            "attribute_set": attribute_set.name,
            "name": phrase,
            "text": phrase,
        }
        for attribute_set in plan.sets
        for phrase in attribute_set.phrases
    ]
    targets = [
        {
            "condition": Condition.TARGET.value,
            "category": target.category,
            "name": target.name,
            "text": target.text,
            "expected": target.expected,
        }
        for target in plan.targets
    ]
    return attributes + targets


def _line(text: str) -> str:
    return " ".join(text.split())


def _lines(texts: Sequence[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(line for line in map(_line, texts) if line))


def _check_length(field: str, text: str, limit: int) -> None:
    if len(text) > limit:
        raise _refusal(field, f"“{text[:40]}…” is longer than {limit} characters.")


def _refusal(field: str, message: str) -> DomainError:
    return DomainError("mcas_invalid", message, fields={field: message})
