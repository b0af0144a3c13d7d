"""One answer to declared questions as its page shows it: the contents of the screen, and the answers in words."""

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass

from django.db.models import Prefetch, QuerySet
from django.utils.text import Truncator

from annotation.kinds.declaration import Kind
from annotation.models import Annotation, Box, Judgement, Point, TaskStimulus
from generation.images.signed_urls import image_url
from generation.models import Image

_RADIUS = 12  # of a point, in the units of the drawing


@dataclass(frozen=True)
class DrawnPlace:
    """A box, or a point as a small one, in the units of the drawing, 1000 to each side."""

    x: str
    y: str
    width: str
    height: str
    question: str


@dataclass(frozen=True)
class StimulusLine:
    """A stimulus of the screen, by its number, with the places that the annotator marked."""

    number: int
    image: Image | None
    url: str
    text: str
    places: tuple[DrawnPlace, ...]


def with_answers(annotations: QuerySet[Annotation]) -> QuerySet[Annotation]:
    """Prefetch everything that a list shows about annotations: three queries for any number of annotations."""
    stimuli = TaskStimulus.objects.select_related("image__group").order_by("position")
    return annotations.prefetch_related("judgements", Prefetch("task__stimuli", queryset=stimuli))


def stimulus_lines(annotation: Annotation, kind: Kind, *, viewer: str) -> list[StimulusLine]:
    """Return the contents of the screen in their order."""
    stimuli = list(annotation.task.stimuli.all())
    places = _places(annotation, kind, stimuli[0].pk)
    return [
        StimulusLine(
            number=stimulus.position + 1,
            image=stimulus.image,
            url=image_url(stimulus.image, viewer=viewer) if stimulus.image and stimulus.image.file else "",
            text=stimulus.text,
            places=tuple(places[stimulus.pk]),
        )
        for stimulus in stimuli
    ]


def about(stimuli: Iterable[TaskStimulus]) -> str:
    """Return the names of the identity groups that a screen shows, each once; for texts alone, the first one's
    words."""
    stimuli = list(stimuli)
    if stimuli and all(stimulus.image is None for stimulus in stimuli):
        return Truncator(stimuli[0].text).chars(60)
    images = [stimulus.image for stimulus in stimuli if stimulus.image is not None]
    names = dict.fromkeys(image.group.display_name for image in images if image.group is not None)
    return ", ".join(names)


def _places(annotation: Annotation, kind: Kind, first: int) -> dict[int, list[DrawnPlace]]:
    """Return places by their stimulus; a question about the only image names none."""
    labels = {question.name: question.label["en"] for question in kind.questions}
    drawn: dict[int, list[DrawnPlace]] = defaultdict(list)

    def add(judgement: Judgement, sides: tuple[float, float, float, float]) -> None:
        x, y, width, height = (f"{1000 * side:.1f}" for side in sides)
        label = labels.get(judgement.question, judgement.question)
        drawn[judgement.stimulus_id or first].append(DrawnPlace(x, y, width, height, label))

    for box in Box.objects.filter(judgement__annotation=annotation).select_related("judgement"):
        add(box.judgement, (box.x, box.y, box.width, box.height))
    side = 2 * _RADIUS / 1000
    for point in Point.objects.filter(judgement__annotation=annotation).select_related("judgement"):
        add(point.judgement, (point.x - side / 2, point.y - side / 2, side, side))
    return drawn
