"""Screens of declared questions with known answers as the lead's page lists them."""

from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence

from annotation.answers.questions.check_answers import given_answers, known_answers, shown_refs
from annotation.answers.questions.known_answers import Part, verdicts
from annotation.campaigns.known_tasks import screen_parts
from annotation.kinds.declaration import Kind
from annotation.kinds.registry import kind_of
from annotation.lead.quality.known_question_forms import part_label, right_words
from annotation.lead.quality.known_task_lines import KnownLine, KnownTask
from annotation.models import Annotation, Campaign, KnownAnswer, PracticeAnswer, Task
from generation.models import Image
from studies.consent import withdrawn_from

_Known = Mapping[int, Mapping[Part, KnownAnswer]]


def as_question_lines(campaign: Campaign, tasks: Sequence[Task]) -> list[KnownTask]:
    """Return the tasks of one page with their numbers, for any scored parts; seven queries."""
    kind = kind_of(campaign)
    rows = Task.objects.filter(pk__in=[task.pk for task in tasks])
    known_by_task, refs = known_answers(rows), shown_refs(rows)
    counts: dict[tuple[int, Part], Counter[bool]] = defaultdict(Counter)
    for task, part, correct in _verdicts(campaign, kind, tasks, known_by_task, refs):
        counts[task, part][correct] += 1
    return [
        KnownTask(
            task,
            [
                _line(kind, part, known_by_task[task.pk].get(part), counts[task.pk, part])
                for part in screen_parts(kind, len(refs[task.pk]) + kind.stimuli.prompt_shown)
            ],
        )
        for task in tasks
    ]


def shown_of(tasks: Sequence[Task]) -> dict[int, list[tuple[Image | None, str]]]:
    """Return the image or the text of everything that each task shows."""
    rows = Task.objects.filter(pk__in=[task.pk for task in tasks]).prefetch_related("stimuli__image__group")
    return {task.pk: [(stimulus.image, stimulus.text) for stimulus in task.stimuli.all()] for task in rows}


def _line(kind: Kind, part: Part, known_answer: KnownAnswer | None, counts: Counter[bool]) -> KnownLine:
    text = part_label(kind, part)
    if known_answer is None:
        return KnownLine(text, scored=False, right="", explanation="")
    right = right_words(kind, part, known_answer.accepted)
    return KnownLine(text, True, right, known_answer.explanation, counts.total(), counts[True])


def _verdicts(
    campaign: Campaign,
    kind: Kind,
    tasks: Sequence[Task],
    known_by_task: _Known,
    refs: Mapping[int, Sequence[str]],
) -> Iterator[tuple[int, Part, bool]]:
    """Yield task, question and whether somebody answered right: in gold tasks, and in first rounds of practice."""
    withdrawn_annotators = withdrawn_from(campaign.study)
    golds = [task.pk for task in tasks if task.purpose == Task.Purpose.GOLD]
    answered = Annotation.objects.filter(task__in=golds, status=Annotation.Status.GOLD, is_latest=True)
    screen_answers = [
        (one.task_id, one.answers)
        for one in given_answers(answered.exclude(annotator__in=withdrawn_annotators), kind)
    ]
    practised = [task.pk for task in tasks if task.purpose == Task.Purpose.PRACTICE]
    first_round = PracticeAnswer.objects.filter(task__in=practised, round__number=1)
    rows = first_round.exclude(round__enrolment__annotator__in=withdrawn_annotators).values_list(
        "task", "answer"
    )
    screen_answers += [(task, answer["answers"]) for task, answer in rows.iterator()]
    for task, answers in screen_answers:
        for part, correct in verdicts(kind, refs[task], known_by_task[task], answers):
            yield task, part, correct
