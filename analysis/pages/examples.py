"""Example images with each annotator's boxes and answers."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from django.db.models import Exists, OuterRef, QuerySet
from django.utils.html import format_html_join
from django.utils.safestring import SafeString

from analysis.pages.results_page import ResultsPage
from annotation.models import Annotation, Box, Judgement
from generation.images.signed_urls import SMALL, image_url
from generation.models import Condition, Image
from studies.models import StudyGroup

# Distinct styles of boxes on a picture; further annotators reuse them in order.
STYLES = 5
# Annotators of a picture with their own switch (results.css); further annotators share the last switch.
SWITCHES = 20
SIDE = 1000
# Space for an attribute's name in units of the overlay: line height and width of a letter.
NAME_HEIGHT, LETTER = 54, 27
_BOX = (
    '<g><title>{0} · {1}</title><rect class="box-halo" x="{2}" y="{3}" width="{4}" height="{5}"></rect>'
    '<rect class="label-{6}" x="{2}" y="{3}" width="{4}" height="{5}"></rect></g>'
)


@dataclass(frozen=True)
class OverlayBox:
    """A box in units of the picture's overlay."""

    attribute: str
    x: float
    y: float
    width: float
    height: float
    # Position of the attribute's name; set for one box of each attribute in a picture.
    name_at: tuple[float, float] | None = None


@dataclass
class Drawer:
    """An annotator on one picture, with the style of their boxes and the switch that hides them."""

    pseudonym: str
    style: int = STYLES
    switch: int = SWITCHES
    boxes: list[OverlayBox] = field(default_factory=list)

    @property
    def drawing(self) -> SafeString:
        """The boxes as SVG: a halo, the line of the annotator's style, and a title."""
        return format_html_join("", _BOX, (self._parts(box) for box in self.boxes))

    @property
    def names(self) -> SafeString:
        """The names of the attributes as SVG texts."""
        parts = (
            (f"{box.name_at[0]:.1f}", f"{box.name_at[1]:.1f}", box.attribute)
            for box in self.boxes
            if box.name_at
        )
        return format_html_join("", '<text class="box-name" x="{}" y="{}">{}</text>', parts)

    def _parts(self, box: OverlayBox) -> tuple[object, ...]:
        # Built here because a page has hundreds, and a template would write 1,5 in some languages.
        place = (f"{value:.1f}" for value in (box.x, box.y, box.width, box.height))
        return (box.attribute, self.pseudonym, *place, self.style)


@dataclass(frozen=True)
class Example:
    """A picture and its overlay. `url` is empty if the file was not released."""

    image: Image
    url: str
    height: int
    drawers: list[Drawer]

    @property
    def drew(self) -> list[Drawer]:
        return [drawer for drawer in self.drawers if drawer.boxes]

    @property
    def drew_nothing(self) -> int:
        return len(self.drawers) - len(self.drew)

    @property
    def middle(self) -> int:
        return self.height // 2


@dataclass(frozen=True)
class AnnotatorAnswer:
    """One annotator's answer about one attribute of one image."""

    pseudonym: str
    present: bool


def judged_images(page: ResultsPage, group: StudyGroup) -> QuerySet[Image]:
    """Return the group's default images by the model shown that have at least one annotation."""
    labels = Annotation.objects.filter(status__in=Annotation.LABELS)
    judged = labels.filter(task__image=OuterRef("pk"))
    return Image.objects.filter(
        Exists(judged),
        study=page.study,
        group=group,
        model_label=page.model,
        condition=Condition.DEFAULT,
        retracted_at=None,
    ).order_by("pk")


def with_boxes(
    page: ResultsPage, images: Sequence[Image], *, attribute: str = "", size: int = SMALL
) -> list[Example]:
    """Return each image with all its annotators and their boxes, optionally of one attribute only."""
    marks = page.marks(images)
    people: dict[int, dict[str, Drawer]] = {image.pk: {} for image in images}
    for image_id, pseudonym in marks.order_by("pk").values_list("task__image", "annotator__pseudonym"):
        people[image_id].setdefault(pseudonym, Drawer(pseudonym))
    heights = {image.pk: round(SIDE * (image.height or 1) / (image.width or 1)) for image in images}
    boxes = Box.objects.filter(judgement__annotation__in=marks).order_by("pk")
    if attribute:
        boxes = boxes.filter(judgement__attribute__text=attribute)
    names: dict[int, dict[str, tuple[float, float]]] = {image.pk: {} for image in images}
    for image_id, pseudonym, text, x, y, width, height in boxes.values_list(
        "judgement__annotation__task__image",
        "judgement__annotation__annotator__pseudonym",
        "judgement__attribute__text",
        "x",
        "y",
        "width",
        "height",
    ):
        tall = heights[image_id]
        placed = (x * SIDE, y * tall, width * SIDE, height * tall)
        name_at = None
        if text not in names[image_id]:
            name_at = names[image_id][text] = _place_name(text, placed, tall, names[image_id])
        people[image_id][pseudonym].boxes.append(OverlayBox(text, *placed, name_at=name_at))
    for drawers in people.values():
        for place, drawer in enumerate(annotator for annotator in drawers.values() if annotator.boxes):
            drawer.style, drawer.switch = place % STYLES + 1, min(place + 1, SWITCHES)
    return [
        Example(
            image=image,
            url=image_url(image, viewer=page.viewer, size=size),
            height=heights[image.pk],
            drawers=list(people[image.pk].values()),
        )
        for image in images
    ]


def _place_name(
    text: str, box: tuple[float, ...], tall: int, others: Mapping[str, tuple[float, float]]
) -> tuple[float, float]:
    """Return the position of a name: the upper left corner of its box, or below names already there."""
    width = LETTER * len(text)
    x = max(0.0, min(box[0] + 8, SIDE - width))
    y = box[1] + NAME_HEIGHT * 0.8
    in_the_way = sorted(
        other_y
        for other, (other_x, other_y) in others.items()
        if other_x < x + width and x < other_x + LETTER * len(other)
    )
    for other_y in in_the_way:
        if abs(other_y - y) < NAME_HEIGHT:
            y = other_y + NAME_HEIGHT
    return x, min(y, tall - 8.0)


def answers_of(
    page: ResultsPage, images: Sequence[Image], attributes: Iterable[str]
) -> dict[tuple[str, str], list[AnnotatorAnswer]]:
    """Return annotators' answers by (public id of the image, attribute)."""
    judgements = (
        Judgement.objects.filter(
            annotation__in=page.marks(images),
            attribute__text__in=set(attributes),
            present__isnull=False,
        )
        .order_by("pk")
        .values_list(
            "annotation__task__image__public_id",
            "attribute__text",
            "annotation__annotator__pseudonym",
            "present",
        )
    )
    answers: dict[tuple[str, str], list[AnnotatorAnswer]] = {}
    for image, attribute, pseudonym, present in judgements:
        answers.setdefault((str(image), attribute), []).append(AnnotatorAnswer(pseudonym, bool(present)))
    return answers
