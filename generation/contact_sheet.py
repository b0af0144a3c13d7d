"""What the page of a study's images shows: which images, which choices, which were never made."""

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from django.db.models import Count, Q, QuerySet

from generation.models import Condition, GenerationRequest, Image
from generation.serving import SMALL, image_url
from studies.models import Study

Outcome = GenerationRequest.Outcome
NOT_MADE = (Outcome.BLANKED, Outcome.REFUSED, Outcome.FAILED)


@dataclass(frozen=True)
class ImageFilter:
    """Which images someone wants to see; every field "" for all."""

    group: str = ""
    model: str = ""
    condition: str = ""
    attribute: str = ""
    phrase: str = ""

    @classmethod
    def parse(cls, query: Mapping[str, str]) -> "ImageFilter":
        """Read it from an address; a condition that does not exist asks for nothing special."""
        condition = query.get("condition", "")
        return cls(
            group=query.get("group", ""),
            model=query.get("model", ""),
            condition=condition if condition in Condition.values else "",
            attribute=query.get("attribute", ""),
            phrase=query.get("phrase", ""),
        )

    def __bool__(self) -> bool:
        return bool(self.group or self.model or self.condition or self.attribute or self.phrase)

    def of(self, images: QuerySet[Image]) -> QuerySet[Image]:
        wanted = Q()
        if self.group:
            wanted &= Q(group__name=self.group)
        if self.model:
            wanted &= Q(model_label=self.model)
        if self.condition:
            wanted &= Q(condition=self.condition)
        if self.attribute:
            wanted &= Q(attribute__text=self.attribute)
        if self.phrase:
            wanted &= Q(phrase__name=self.phrase)
        return images.filter(wanted)


@dataclass(frozen=True)
class Choices:
    """What can be filtered by: (value, words) with only what the study has."""

    groups: tuple[tuple[str, str], ...]
    models: tuple[str, ...]
    conditions: tuple[tuple[str, str], ...]
    attributes: tuple[str, ...]
    phrases: tuple[str, ...]


@dataclass(frozen=True)
class Print:
    """One image on the sheet: its addresses, and what is known of how it was made."""

    image: Image
    small: str
    full: str
    provenance: tuple[tuple[str, str], ...]

    @property
    def heading(self) -> str:
        """Return under what it stands: its group, else the phrase it was asked for."""
        if self.image.group is not None:
            return self.image.group.display_name
        return self.image.phrase.name if self.image.phrase is not None else ""


def prints(images: Iterable[Image], *, viewer: str) -> list[Print]:
    """Make the images ready for a page that `viewer` sees."""
    return [
        Print(
            image=image,
            small=image_url(image, viewer=viewer, size=SMALL),
            full=image_url(image, viewer=viewer),
            provenance=tuple(_said(image.provenance)),
        )
        for image in images
    ]


def _said(provenance: Mapping[str, object]) -> Iterable[tuple[str, str]]:
    for name, value in provenance.items():
        if name == "drawn" and isinstance(value, list):
            yield "Drawn", ", ".join(str(part["attribute"]) for part in value) or "no attribute"
        elif value not in ("", None, {}, []):
            words = name.replace("_", " ")
            plain = value if isinstance(value, str | int | float) else json.dumps(value, ensure_ascii=False)
            yield words[0].upper() + words[1:], str(plain)


def images_of(study: Study) -> QuerySet[Image]:
    """Return the study's images, by group, then model."""
    images = Image.objects.filter(study=study).select_related("group", "attribute", "phrase")
    return images.order_by("group__display_name", "phrase__position", "model_label", "condition", "pk")


def choices_of(study: Study) -> Choices:
    """Return what the images of the study can be filtered by."""
    cells = (
        Image.objects.filter(study=study)
        .order_by()
        .values_list("group__name", "group__display_name", "model_label", "condition")
    )
    found = set(cells.distinct())
    return Choices(
        groups=tuple(
            sorted({(name, words) for name, words, _, _ in found if name}, key=lambda pair: pair[1])
        ),
        models=tuple(sorted({model for _, _, model, _ in found})),
        conditions=tuple(
            (value, words) for value, words in Condition.choices if value in {c for *_, c in found}
        ),
        attributes=_texts_of(study, "attribute__text"),
        phrases=_texts_of(study, "phrase__name"),
    )


def _texts_of(study: Study, column: str) -> tuple[str, ...]:
    found = Image.objects.filter(study=study).exclude(**{column: None}).order_by(column)
    return tuple(found.values_list(column, flat=True).distinct())


def outcome_counts(study: Study) -> dict[str, int]:
    """Return how many of the study's requests ended how (or are pending)."""
    requests = GenerationRequest.objects.filter(run__study=study).order_by()
    counts = dict(requests.values_list("outcome").annotate(Count("pk")))
    return {outcome: counts.get(outcome, 0) for outcome in Outcome.values}


def not_made(study: Study) -> QuerySet[GenerationRequest]:
    """Return requests that left no image: blanked, refused or failed."""
    requests = GenerationRequest.objects.filter(run__study=study, outcome__in=NOT_MADE)
    return requests.select_related("run", "group", "attribute").order_by("-finished_at", "-pk")
