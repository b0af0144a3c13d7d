"""Writes a campaign of a kind of questions with its answers, as planning and submitting leave them."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

from django.utils import timezone

from accounts.models import Annotator
from annotation.kinds.declaration import Kind
from annotation.kinds.registry import frozen
from annotation.models import Annotation, Campaign, Enrolment, Judgement, Point, Task, TaskStimulus
from generation.models import Image
from studies.models import Study


@dataclass(frozen=True)
class Given:
    """The value of a judgement, with its stimulus (by position) and points."""

    question: str
    stimulus: int | None = None
    values: dict[str, Any] = field(default_factory=dict)
    points: tuple[tuple[float, float], ...] = ()

    @classmethod
    def of(cls, question: str, stimulus: int | None = None, **values: Any) -> "Given":
        return cls(question, stimulus, values)


# The answers of a person about the images of a screen.
Answering = Callable[[int, Sequence[Image]], Iterable[Given]]


def images_of(
    study: Study, *, models: Sequence[str], prompts: int, words: str = "a kite over water"
) -> list[Image]:
    """An image of each prompt by each model, the prompts dealt to the study's groups in turn."""
    groups = list(study.groups.order_by("pk"))
    images = [
        Image(
            study=study,
            group=groups[prompt % len(groups)],
            model_label=model,
            prompt=f"{words} {prompt}",
            sha256=(digest := f"{model}-{prompt}".encode().hex().ljust(64, "0")[:64]),
            file=f"images/{digest}.png",
            width=512,
            height=512,
        )
        for prompt in range(prompts)
        for model in models
    ]
    Image.objects.bulk_create(images)
    return list(Image.objects.filter(study=study).order_by("pk"))


def people(study: Study, number: int, *, first: int = 0) -> list[Annotator]:
    names = [f"p{place:03}" for place in range(first, first + number)]
    return [Annotator.objects.create(source=study.slug, source_id=name) for name in names]


def open_campaign(study: Study, kind: Kind, annotators: Sequence[Annotator], slug: str = "") -> Campaign:
    campaign = Campaign.objects.create(
        study=study,
        slug=slug or kind.key,
        name=kind.name,
        kind=kind.key,
        declaration=frozen(kind),
        state=Campaign.State.CLOSED,
        seed=1,
        opened_at=timezone.now(),
        closed_at=timezone.now(),
    )
    Enrolment.objects.bulk_create(Enrolment(campaign=campaign, annotator=person) for person in annotators)
    return campaign


def label(
    campaign: Campaign,
    screens: Iterable[Sequence[Image]],
    annotators: Sequence[Annotator],
    answering: Answering,
    *,
    each: int | None = None,
    prompt_shown: bool = False,
) -> None:
    """Have every screen answered by `each` of the people in turn (by default by all of them)."""
    turn = 0
    annotations: list[Annotation] = []
    judgements: list[Judgement] = []
    points: list[Point] = []
    for images in screens:
        task = Task.objects.create(campaign=campaign, wanted=each or len(annotators))
        shown = [TaskStimulus(task=task, position=place, image=image) for place, image in enumerate(images)]
        if prompt_shown:
            shown.append(TaskStimulus(task=task, position=len(shown), text=images[0].prompt))
        stimuli = TaskStimulus.objects.bulk_create(shown)
        for _ in range(each or len(annotators)):
            place = turn % len(annotators)
            turn += 1
            annotation = Annotation(
                campaign=campaign, task=task, annotator=annotators[place], active_seconds=10.0
            )
            annotations.append(annotation)
            for given in answering(place, images):
                stimulus = None if given.stimulus is None else stimuli[given.stimulus]
                judgement = Judgement(
                    annotation=annotation, question=given.question, stimulus=stimulus, **given.values
                )
                judgements.append(judgement)
                points += [Point(judgement=judgement, x=x, y=y) for x, y in given.points]
    Annotation.objects.bulk_create(annotations)
    Judgement.objects.bulk_create(judgements)
    Point.objects.bulk_create(points)
