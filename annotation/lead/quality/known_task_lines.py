"""Tasks with known answers as the lead's page lists them: what is right, and how many people thought so too."""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from django.db.models import Count, QuerySet

from annotation.kinds.defaults import RATING_ORDER
from annotation.models import Annotation, Campaign, Instrument, Judgement, KnownAnswer, PracticeAnswer, Task
from catalog.models import Attribute
from studies.consent import withdrawn_from

# From as many answers on, more wrong than right ones cast doubt on what is called right.
DOUBTFUL_FROM = 5
DOUBTFUL_BELOW = 0.5

_Counts = Mapping[tuple[int, int], tuple[int, int]]


@dataclass(frozen=True)
class KnownLine:
    """One attribute of a task with known answers; `answered` and `agreed` count people."""

    attribute: Attribute
    scored: bool
    right: str
    explanation: str
    answered: int = 0
    agreed: int = 0

    @property
    def share(self) -> float | None:
        return self.agreed / self.answered if self.answered else None

    @property
    def doubtful(self) -> bool:
        return self.answered >= DOUBTFUL_FROM and self.agreed < DOUBTFUL_BELOW * self.answered


@dataclass(frozen=True)
class KnownTask:
    """One task with what is known about each of its attributes."""

    task: Task
    lines: list[KnownLine]

    @property
    def doubtful(self) -> bool:
        return any(line.doubtful for line in self.lines)


def known_tasks(campaign: Campaign, purpose: str = "") -> QuerySet[Task]:
    """Return the campaign's tasks that have known answers, practice first, then in the order they were made."""
    known = KnownAnswer.objects.filter(task__campaign=campaign).values("task")
    found = Task.objects.filter(pk__in=known, campaign=campaign)
    if purpose in Task.Purpose.values:
        found = found.filter(purpose=purpose)
    return found.select_related("image__group").order_by("-purpose", "pk")


def as_lines(campaign: Campaign, tasks: Sequence[Task]) -> list[KnownTask]:
    """Return the tasks of one page with their numbers: four queries, however many tasks."""
    known = {
        (one.task_id, one.attribute_id): one
        for one in KnownAnswer.objects.filter(task__in=[task.pk for task in tasks])
    }
    instrument = campaign.instruments.first()
    counts: dict[tuple[int, int], tuple[int, int]] = {}
    counts.update(_gold_counts(campaign, tasks, known))
    counts.update(_practice_counts(campaign, tasks, known))
    asked = Task.objects.filter(pk__in=[task.pk for task in tasks]).prefetch_related(
        "task_attributes__attribute"
    )
    attributes = {task.pk: [one.attribute for one in task.task_attributes.all()] for task in asked}
    return [
        KnownTask(
            task,
            [
                _line(attribute, known.get((task.pk, attribute.pk)), instrument, counts, task.pk)
                for attribute in attributes[task.pk]
            ],
        )
        for task in tasks
    ]


def right_words(known: KnownAnswer, instrument: Instrument | None) -> str:
    """Return what is right in the words of the answers."""
    if known.present is not None:
        return "Yes" if known.present else "No"
    labels = instrument.labels if instrument else {}
    return " or ".join(labels.get(one, one) for one in RATING_ORDER if int(one) in known.ratings)


def _line(
    attribute: Attribute,
    known: KnownAnswer | None,
    instrument: Instrument | None,
    counts: _Counts,
    task_id: int,
) -> KnownLine:
    if known is None:
        return KnownLine(attribute, scored=False, right="", explanation="")
    answered, agreed = counts.get((task_id, attribute.pk), (0, 0))
    right = right_words(known, instrument)
    return KnownLine(attribute, True, right, known.explanation, answered, agreed)


def _gold_counts(
    campaign: Campaign, tasks: Iterable[Task], known: Mapping[tuple[int, int], KnownAnswer]
) -> _Counts:
    """Count answers by what they say; one annotator answers a gold task once."""
    told = (
        Judgement.objects.filter(
            annotation__task__in=[task.pk for task in tasks if task.purpose == Task.Purpose.GOLD],
            annotation__status=Annotation.Status.GOLD,
            annotation__is_latest=True,
        )
        .exclude(annotation__annotator__in=withdrawn_from(campaign.study))
        .values_list("annotation__task", "attribute", "present", "rating")
        .annotate(number=Count("pk"))
        .order_by()
    )
    return _counted(
        known, ((task, attribute, present, rating, n) for task, attribute, present, rating, n in told)
    )


def _practice_counts(
    campaign: Campaign, tasks: Iterable[Task], known: Mapping[tuple[int, int], KnownAnswer]
) -> _Counts:
    """Count the answers of first rounds: later ones were given knowing what is right."""
    practised = [task.pk for task in tasks if task.purpose == Task.Purpose.PRACTICE]
    by_task = defaultdict(list)
    for task, attribute in known:
        by_task[task].append(attribute)
    told = (
        PracticeAnswer.objects.filter(task__in=practised, round__number=1)
        .exclude(round__enrolment__annotator__in=withdrawn_from(campaign.study))
        .values_list("task", "answer")
    )
    return _counted(
        known,
        (
            (
                task,
                attribute,
                attribute in answer["ticked"] if "ticked" in answer else None,
                answer.get("rating"),
                1,
            )
            for task, answer in told.iterator()
            for attribute in by_task[task]
        ),
    )


def _counted(
    known: Mapping[tuple[int, int], KnownAnswer],
    told: Iterator[tuple[int, int, bool | None, int | None, int]],
) -> _Counts:
    counts: dict[tuple[int, int], tuple[int, int]] = {}
    for task, attribute, present, rating, number in told:
        right = known.get((task, attribute))
        if right is None:
            continue
        agrees = present == right.present if right.present is not None else rating in right.ratings
        answered, agreed = counts.get((task, attribute), (0, 0))
        counts[task, attribute] = answered + number, agreed + number * agrees
    return counts
