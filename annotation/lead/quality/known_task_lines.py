"""Tasks with known answers as the lead's page lists them: the right answers, and how many people gave them."""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from django.db.models import Count, QuerySet

from annotation.kinds.registry import RATING_ORDER
from annotation.models import Annotation, Campaign, Instrument, Judgement, KnownAnswer, PracticeAnswer, Task
from catalog.models import Attribute
from studies.consent import withdrawn_from

# From this number of answers on, a majority of wrong answers casts doubt on the known answer.
DOUBTFUL_FROM = 5
DOUBTFUL_BELOW = 0.5

_Counts = Mapping[tuple[int, int], tuple[int, int]]


@dataclass(frozen=True)
class KnownLine:
    """One attribute or question of a task with known answers; `answered` and `agreed` count people."""

    text: str
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
    """One task with a line for each attribute."""

    task: Task
    lines: list[KnownLine]

    @property
    def doubtful(self) -> bool:
        return any(line.doubtful for line in self.lines)


def tasks_with_answers(campaign: Campaign, purpose: str = "") -> QuerySet[Task]:
    """Return the campaign's tasks that have known answers, practice first, then in the order they were made."""
    scored_tasks = KnownAnswer.objects.filter(task__campaign=campaign).values("task")
    tasks = Task.objects.filter(pk__in=scored_tasks, campaign=campaign)
    if purpose in Task.Purpose.values:
        tasks = tasks.filter(purpose=purpose)
    return tasks.select_related("image__group").order_by("-purpose", "pk")


def as_lines(campaign: Campaign, tasks: Sequence[Task]) -> list[KnownTask]:
    """Return the tasks of one page with their numbers, in four queries."""
    known_answers = {
        (row.task_id, row.attribute_id): row
        for row in KnownAnswer.objects.filter(task__in=[task.pk for task in tasks])
        if row.attribute_id is not None
    }
    instrument = campaign.instruments.first()
    counts: dict[tuple[int, int], tuple[int, int]] = {}
    counts.update(_gold_counts(campaign, tasks, known_answers))
    counts.update(_practice_counts(campaign, tasks, known_answers))
    tasks_with_attributes = Task.objects.filter(pk__in=[task.pk for task in tasks]).prefetch_related(
        "task_attributes__attribute"
    )
    attributes = {
        task.pk: [row.attribute for row in task.task_attributes.all()] for task in tasks_with_attributes
    }
    return [
        KnownTask(
            task,
            [
                _line(attribute, known_answers.get((task.pk, attribute.pk)), instrument, counts, task.pk)
                for attribute in attributes[task.pk]
            ],
        )
        for task in tasks
    ]


def right_words(known_answer: KnownAnswer, instrument: Instrument | None) -> str:
    """Return the right answer as text."""
    if known_answer.present is not None:
        return "Yes" if known_answer.present else "No"
    labels = instrument.labels if instrument else {}
    return " or ".join(
        labels.get(rating, rating) for rating in RATING_ORDER if int(rating) in known_answer.ratings
    )


def _line(
    attribute: Attribute,
    known_answer: KnownAnswer | None,
    instrument: Instrument | None,
    counts: _Counts,
    task_id: int,
) -> KnownLine:
    if known_answer is None:
        return KnownLine(attribute.text, scored=False, right="", explanation="")
    answered, agreed = counts.get((task_id, attribute.pk), (0, 0))
    right = right_words(known_answer, instrument)
    return KnownLine(attribute.text, True, right, known_answer.explanation, answered, agreed)


def _gold_counts(
    campaign: Campaign, tasks: Iterable[Task], known_answers: Mapping[tuple[int, int], KnownAnswer]
) -> _Counts:
    """Count the answers to gold tasks; each annotator answers one once."""
    rows = (
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
        known_answers, ((task, attribute, present, rating, n) for task, attribute, present, rating, n in rows)
    )


def _practice_counts(
    campaign: Campaign, tasks: Iterable[Task], known_answers: Mapping[tuple[int, int], KnownAnswer]
) -> _Counts:
    """Count the answers of first rounds; in later ones annotators know the right answers."""
    practised = [task.pk for task in tasks if task.purpose == Task.Purpose.PRACTICE]
    by_task = defaultdict(list)
    for task, attribute in known_answers:
        by_task[task].append(attribute)
    rows = (
        PracticeAnswer.objects.filter(task__in=practised, round__number=1)
        .exclude(round__enrolment__annotator__in=withdrawn_from(campaign.study))
        .values_list("task", "answer")
    )
    return _counted(
        known_answers,
        (
            (
                task,
                attribute,
                attribute in answer["ticked"] if "ticked" in answer else None,
                answer.get("rating"),
                1,
            )
            for task, answer in rows.iterator()
            for attribute in by_task[task]
        ),
    )


def _counted(
    known_answers: Mapping[tuple[int, int], KnownAnswer],
    rows: Iterator[tuple[int, int, bool | None, int | None, int]],
) -> _Counts:
    counts: dict[tuple[int, int], tuple[int, int]] = {}
    for task, attribute, present, rating, number in rows:
        right = known_answers.get((task, attribute))
        if right is None:
            continue
        agrees = present == right.present if right.present is not None else rating in right.ratings
        answered, agreed = counts.get((task, attribute), (0, 0))
        counts[task, attribute] = answered + number, agreed + number * agrees
    return counts
