"""Answers to gold tasks and repeats of declared questions, with the right and the earlier answers."""

from collections import defaultdict
from collections.abc import Collection, Iterator
from typing import Any, NamedTuple

from django.db.models import Prefetch, QuerySet

from annotation.answers.questions.known_answers import Part, part_of, value_at, verdicts
from annotation.answers.questions.validation import QuestionAnswers
from annotation.answers.questions.values import JudgementValue
from annotation.kinds.declaration import Kind
from annotation.kinds.registry import kind_of
from annotation.models import Annotation, Assignment, Campaign, Judgement, KnownAnswer, Task

Status = Annotation.Status


class CheckedPart(NamedTuple):
    """One answered question of a check: whether the answer is right, or equal to the earlier one."""

    annotator_id: int
    task_id: int
    part: Part
    correct: bool


class GivenAnswers(NamedTuple):
    """A person's answers on one screen, in the format of clients."""

    annotator_id: int
    task_id: int
    answers: dict[str, Any]


def gold_answers(campaign: Campaign, annotators: Collection[int] | None = None) -> Iterator[CheckedPart]:
    """Yield the scored answers to gold tasks, of these annotators or all: by annotator, in order of submission.

    Parts with a known answer are scored by the present known answer, without retracted images. Four queries.
    """
    kind = kind_of(campaign)
    answered = _checks(campaign, Status.GOLD, annotators)
    known_by_task = known_answers(campaign.tasks.filter(purpose=Task.Purpose.GOLD, withdrawn=False))
    refs = shown_refs(campaign.tasks.filter(pk__in=known_by_task))
    for screen_answers in given_answers(answered, kind):
        if screen_answers.task_id in known_by_task:
            for part, correct in verdicts(
                kind,
                refs[screen_answers.task_id],
                known_by_task[screen_answers.task_id],
                screen_answers.answers,
            ):
                yield CheckedPart(screen_answers.annotator_id, screen_answers.task_id, part, correct)


def repeated_answers(campaign: Campaign, annotators: Collection[int] | None = None) -> Iterator[CheckedPart]:
    """Yield for each question that these annotators, or all, were asked twice whether both answers are equal.

    Texts are not compared. A question that was asked only once of the two times was not answered alike. Four queries.
    """
    kind = kind_of(campaign)
    repeats = _checks(campaign, Status.REPEAT, annotators)
    first = campaign.annotations.filter(
        assignment__purpose=Assignment.Purpose.LABEL,
        is_latest=True,
        task__in=repeats.order_by().values("task"),
    )
    if annotators is not None:
        first = first.filter(annotator__in=annotators)
    before = {
        (screen_answers.annotator_id, screen_answers.task_id): screen_answers.answers
        for screen_answers in given_answers(first, kind)
    }
    compared = [question for question in kind.questions if question.type != "text"]
    for screen_answers in given_answers(repeats, kind):
        earlier = before.get((screen_answers.annotator_id, screen_answers.task_id))
        if earlier is None:
            continue
        for question in compared:
            both = (earlier.get(question.name), screen_answers.answers.get(question.name))
            refs = sorted({*(both[0] or ()), *(both[1] or ())}) if question.each else [""]
            for part in (Part(question.name, ref) for ref in refs):
                values = [value_at(kind, part, answers) for answers in (earlier, screen_answers.answers)]
                if values != [None, None]:
                    yield CheckedPart(
                        screen_answers.annotator_id, screen_answers.task_id, part, values[0] == values[1]
                    )


def known_answers(tasks: QuerySet[Task]) -> dict[int, dict[Part, KnownAnswer]]:
    """Return the known answers of tasks by their part, in stored order."""
    by_task: dict[int, dict[Part, KnownAnswer]] = defaultdict(dict)
    rows = KnownAnswer.objects.filter(task__in=tasks, attribute=None).select_related("stimulus")
    for row in rows.order_by("task", "pk"):
        by_task[row.task_id][part_of(row)] = row
    return dict(by_task)


def shown_refs(tasks: QuerySet[Task]) -> dict[int, list[str]]:
    """Return the names of the stimuli of each task; that of a prompt, which is never asked about, among them."""
    refs: dict[int, list[str]] = defaultdict(list)
    places = tasks.order_by("pk", "stimuli__position").values_list(
        "pk", "stimuli__image", "stimuli__position"
    )
    pictured: set[int] = set()
    for task, image, position in places:
        if image is not None:
            pictured.add(task)
        elif task in pictured:
            continue  # a prompt beside images comes after them
        refs[task].append(f"s{position + 1}")
    return refs


def given_answers(annotations: QuerySet[Annotation], kind: Kind) -> Iterator[GivenAnswers]:
    """Yield the answers of annotations, by annotator in order of submission. Two queries."""
    judgements = Judgement.objects.select_related("stimulus").order_by("pk")
    rows = annotations.order_by("annotator", "pk").prefetch_related(
        Prefetch("judgements", queryset=judgements)
    )
    for annotation in rows:
        values = tuple(map(_value, annotation.judgements.all()))
        answers = QuestionAnswers(values).as_json(kind)["answers"]
        yield GivenAnswers(annotation.annotator_id, annotation.task_id, answers)


def _value(judgement: Judgement) -> JudgementValue:
    stimulus = judgement.stimulus
    return JudgementValue(
        judgement.question,
        None if stimulus is None else f"s{stimulus.position + 1}",
        judgement.present,
        judgement.rating,
        judgement.code,
        judgement.rank,
        judgement.text,
    )


def _checks(campaign: Campaign, status: str, annotators: Collection[int] | None) -> QuerySet[Annotation]:
    answered = campaign.annotations.filter(status=status, is_latest=True, task__withdrawn=False)
    return answered if annotators is None else answered.filter(annotator__in=annotators)
