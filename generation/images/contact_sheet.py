"""Data of the pages of a study's images: images, filter choices, and requests without an image."""

import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import islice

from django.db.models import Count, IntegerField, Q, QuerySet
from django.db.models.functions import Coalesce
from django.http import QueryDict

from generation.images.signed_urls import SMALL, image_url
from generation.models import Condition, GenerationRequest, Image
from studies.models import Study
from web.keyset import EDGES, LAST, KeyPage, beyond, page_between, read_key

Outcome = GenerationRequest.Outcome
NOT_MADE = (Outcome.BLANKED, Outcome.REFUSED, Outcome.FAILED)


@dataclass(frozen=True)
class ImageFilter:
    """A filter of images; "" in a field matches all images."""

    group: str = ""
    model: str = ""
    condition: str = ""
    attribute: str = ""
    phrase: str = ""

    @classmethod
    def parse(cls, query: Mapping[str, str]) -> "ImageFilter":
        """Return the filter of a query string; an unknown condition is ignored."""
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
        condition = Q()
        if self.group:
            condition &= Q(group__name=self.group)
        if self.model:
            condition &= Q(model_label=self.model)
        if self.condition:
            condition &= Q(condition=self.condition)
        if self.attribute:
            condition &= Q(attribute__text=self.attribute)
        if self.phrase:
            condition &= Q(phrase__name=self.phrase)
        return images.filter(condition)


@dataclass(frozen=True)
class Choices:
    """The filter choices that occur in a study's images, and image counts by group, model and condition."""

    groups: tuple[tuple[int, str, str], ...]  # key, name, display name
    models: tuple[str, ...]
    conditions: tuple[tuple[str, str], ...]
    attributes: tuple[str, ...]
    phrases: tuple[str, ...]
    counts: Mapping[tuple[int | None, str, str], int]


@dataclass(frozen=True)
class Print:
    """One image on the sheet, with its addresses and provenance."""

    image: Image
    small: str
    full: str
    provenance: tuple[tuple[str, str], ...]

    @property
    def heading(self) -> str:
        """Return the name of the image's group, else its phrase, else ""."""
        if self.image.group is not None:
            return self.image.group.display_name
        return self.image.phrase.name if self.image.phrase is not None else ""


def prints(images: Iterable[Image], *, viewer: str) -> list[Print]:
    """Return the images with the addresses and provenance that a page shows to `viewer`."""
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


def sheet_page(
    study: Study, filters: ImageFilter, choices: Choices, query: QueryDict, *, size: int
) -> KeyPage[Image]:
    """Return a page of the sheet, by group, then model; the database sorts one group at a time."""
    images = filters.of(Image.objects.filter(study=study))
    edge = Image.objects.select_related("phrase", "group").filter(study=study)
    after, before = (
        edge.filter(pk=key).first() if (key := read_key(query, name)) else None for name in EDGES
    )
    backwards = after is None and (before is not None or LAST in query)
    groups = [pk for pk, name, _ in choices.groups if filters.group in ("", name)]
    walk = _walk(images, [*groups, None], after or before, size + 1, backwards=backwards)
    images_and_next = list(islice(walk, size + 1))
    more, on_page = len(images_and_next) > size, images_and_next[:size]
    if backwards:
        return page_between(query, on_page[::-1], earlier=more, later=before is not None)
    return page_between(query, on_page, earlier=after is not None, later=more)


def _walk(
    images: QuerySet[Image], groups: list[int | None], edge: Image | None, most: int, *, backwards: bool
) -> Iterator[Image]:
    """Yield the images beyond `edge`, up to `most` of each group."""
    order = ("place", "model_label", "condition", "pk")
    # Not the unsigned type of `position`, for which Django would treat `place > -1` as always true.
    place = Coalesce("phrase__position", -1, output_field=IntegerField())
    images = images.annotate(place=place).order_by(*order)
    if backwards:
        images, groups = images.reverse(), groups[::-1]
    if edge is not None:
        groups = groups[groups.index(edge.group_id) if edge.group_id in groups else len(groups) :]
    for group in groups:
        of_group = images.filter(group=group)
        if edge is not None and group == edge.group_id:
            position = -1 if edge.phrase is None else edge.phrase.position
            values = (position, edge.model_label, edge.condition, edge.pk)
            of_group = of_group.filter(beyond(order, values, backwards=backwards))
        yield from of_group.select_related("group", "attribute", "phrase")[:most]


def choices_of(study: Study) -> Choices:
    """Return the choices for filters of the study's images; one read of an index gives groups, models and counts."""
    images = Image.objects.filter(study=study).order_by()
    cells = images.values_list("group", "model_label", "condition").annotate(number=Count("pk"))
    counts = {(group, model, condition): number for group, model, condition, number in cells}
    group_ids = {group for group, _, _ in counts}
    groups = study.groups.order_by("display_name", "pk").values_list("pk", "name", "display_name")
    conditions = {condition for _, _, condition in counts}
    return Choices(
        groups=tuple(row for row in groups if row[0] in group_ids),
        models=tuple(sorted({model for _, model, _ in counts})),
        conditions=tuple((value, words) for value, words in Condition.choices if value in conditions),
        attributes=_texts_of(study, "attribute__text"),
        phrases=_texts_of(study, "phrase__name"),
        counts=counts,
    )


def number_of(study: Study, filters: ImageFilter, choices: Choices) -> int:
    """Return the number of images that match the filters."""
    if filters.attribute or filters.phrase:
        return filters.of(Image.objects.filter(study=study)).count()
    keys = {pk for pk, name, _ in choices.groups if name == filters.group}
    return sum(
        number
        for (group, model, condition), number in choices.counts.items()
        if (not filters.group or group in keys)
        and filters.model in ("", model)
        and filters.condition in ("", condition)
    )


def _texts_of(study: Study, column: str) -> tuple[str, ...]:
    images = Image.objects.filter(study=study).exclude(**{column: None}).order_by(column)
    return tuple(images.values_list(column, flat=True).distinct())


def outcome_counts(study: Study) -> dict[str, int]:
    """Return the number of the study's requests by outcome, pending requests included."""
    requests = GenerationRequest.objects.filter(run__study=study).order_by()
    counts = dict(requests.values_list("outcome").annotate(Count("pk")))
    return {outcome: counts.get(outcome, 0) for outcome in Outcome.values}


def not_made(study: Study) -> QuerySet[GenerationRequest]:
    """Return the requests that ended without an image: blanked, refused or failed."""
    requests = GenerationRequest.objects.filter(run__study=study, outcome__in=NOT_MADE)
    return requests.select_related("run", "group", "attribute").order_by("-finished_at", "-pk")
