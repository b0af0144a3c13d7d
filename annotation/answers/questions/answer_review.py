"""People's review of models' answers: two people code each answer independently, and a third decides if they disagree.

Their answers become codings, by their pseudonym, as soon as all of them have answered.
"""

from collections import defaultdict
from collections.abc import Collection, Iterable
from functools import partial
from typing import NamedTuple
from uuid import UUID

from django.db import transaction
from django.db.models import QuerySet

from annotation.answers.inclusion import counted
from annotation.kinds.options import FROM_ANSWERS
from annotation.kinds.registry import coding_question, kind_of
from annotation.models import Annotation, Campaign, Judgement, ReviewedCoding, Task
from generation.models import Coding
from generation.probing.coding import CODES, Outcome
from generation.probing.codings import DECIDING, decided
from studies.models import Study

_OTHER: dict[str, Outcome] = {"plus": "minus", "minus": "plus"}
_BLOCK = 500


class PersonCoding(NamedTuple):
    """One person's coding of an answer."""

    coder: str  # pseudonym
    outcome: str


def reviews_of(study: Study) -> QuerySet[Campaign]:
    """Return the campaigns in which people read models' answers again."""
    return study.campaigns.filter(options__texts_from=FROM_ANSWERS, opened_at__isnull=False)


def answered(task: Task) -> None:
    """Follow up a stored answer: ask a third person, or store people's answers as codings.

    It runs in a separate transaction, so that the second of two simultaneous answers sees the first.
    """
    if task.campaign.options.get("texts_from") == FROM_ANSWERS:
        transaction.on_commit(partial(_follow_up, task.pk), robust=True)


def _follow_up(task_id: int) -> None:
    campaign = Campaign.objects.select_related("study").get(tasks=task_id)
    with transaction.atomic():
        Task.objects.select_for_update(no_key=True).get(pk=task_id)
        _settle(campaign, [task_id])


@transaction.atomic
def collect(*, study: Study) -> int:
    """Store people's counted answers in reviews of the study as codings; return the number of new codings."""
    number = 0
    for campaign in reviews_of(study).select_related("study").order_by("pk"):
        tasks = campaign.tasks.filter(purpose=Task.Purpose.LABEL)
        keys = list(tasks.select_for_update(no_key=True).order_by("pk").values_list("pk", flat=True))
        for start in range(0, len(keys), _BLOCK):
            number += _settle(campaign, keys[start : start + _BLOCK])
    return number


def adjudicated(study: Study) -> dict[int, str]:
    """Return people's decisions about answers, by the answer's key.

    The majority decides. Among three or more people without a majority the last one decides; two who disagree decide
    nothing.
    """
    outcomes = {
        answer: decided([coding.outcome for coding in codings])
        for answer, codings in codings_by_people(study).items()
    }
    return {answer: outcome for answer, outcome in outcomes.items() if outcome}


def codings_by_people(study: Study) -> dict[int, list[PersonCoding]]:
    """Return each person's coding of answers, by the answer's key, in order of submission.

    Codings that no longer count, for example after a withdrawal, are left out.
    """
    void: set[str] = set()
    for campaign in reviews_of(study).select_related("study"):
        kept = set(counted(campaign).values_list("submission_id", flat=True))
        given = campaign.annotations.values_list("submission_id", flat=True)
        void |= {str(submission) for submission in given if submission not in kept}
    codings = Coding.objects.filter(answer__run__study=study, coder=Coding.Coder.PERSON)
    by_answer: dict[int, dict[str, PersonCoding]] = defaultdict(dict)
    for answer, source, coder, outcome in codings.order_by("pk").values_list(
        "answer", "source", "version", "outcome"
    ):
        if source not in void:
            by_answer[answer][source] = PersonCoding(coder, outcome)
    return {answer: list(said.values()) for answer, said in by_answer.items()}


def void_sources(sources: Collection[str]) -> set[str]:
    """Return which of these sources of codings are annotations that count no longer."""
    ids = [submission for source in sources if (submission := _submission(source)) is not None]
    given = Annotation.objects.filter(submission_id__in=ids)
    void: set[str] = set()
    for campaign in Campaign.objects.filter(pk__in=given.values("campaign")).select_related("study"):
        kept = counted(campaign).filter(submission_id__in=ids).values_list("submission_id", flat=True)
        theirs = given.filter(campaign=campaign).values_list("submission_id", flat=True)
        void |= {str(submission) for submission in {*theirs} - {*kept}}
    return void


def _submission(source: str) -> UUID | None:
    try:
        return UUID(source)
    except ValueError:  # of a coding that was made elsewhere
        return None


def _settle(campaign: Campaign, task_ids: Iterable[int]) -> int:
    """Ask a third person if two disagree, and store codings of screens that everybody has answered."""
    answers = _answers_by_task(campaign, task_ids)
    number = 0
    for task_id, coded in answers.items():
        disputed = len({code for _, code in coded}) > 1
        if disputed and len(coded) == 2:
            Task.objects.filter(pk=task_id, wanted=2).update(wanted=DECIDING)
        elif len(coded) >= campaign.annotators_per_task:
            number += _keep(task_id, coded)
    return number


def _answers_by_task(campaign: Campaign, task_ids: Iterable[int]) -> dict[int, list[tuple[Annotation, str]]]:
    question = coding_question(kind_of(campaign))
    annotations = counted(campaign).filter(task__in=task_ids, task__purpose=Task.Purpose.LABEL)
    judgements = Judgement.objects.filter(annotation__in=annotations, question=question, code__isnull=False)
    answers: dict[int, list[tuple[Annotation, str]]] = defaultdict(list)
    for judgement in judgements.select_related("annotation__annotator").order_by("annotation"):
        answers[judgement.annotation.task_id].append((judgement.annotation, judgement.code or ""))
    return answers


def _keep(task_id: int, coded: list[tuple[Annotation, str]]) -> int:
    reviews = ReviewedCoding.objects.filter(stimulus__task=task_id).select_related("coding")
    codings = []
    for review in reviews:
        for annotation, code in coded:
            outcome = _outcome(code, review.first)
            codings.append(
                Coding(
                    answer_id=review.coding.answer_id,
                    coder=Coding.Coder.PERSON,
                    version=annotation.annotator.pseudonym,
                    source=str(annotation.submission_id),
                    outcome=outcome,
                    code=CODES[outcome],
                    sure=True,
                )
            )
    kept = Coding.objects.filter(source__in={coding.source for coding in codings})
    before = kept.count()
    Coding.objects.bulk_create(codings, ignore_conflicts=True)
    return kept.count() - before


def _outcome(code: str, first: str) -> Outcome:
    """Return the outcome of a code: the first and second option are those of the question as asked."""
    if code == "first":
        return "plus" if first == "plus" else "minus"
    if code == "second":
        return _OTHER[first]
    return "both" if code == "both" else "refused" if code == "refused" else "other"
