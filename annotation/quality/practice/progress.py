"""Practice in numbers: an annotator's rounds, and how many annotators passed. Reads only."""

from dataclasses import dataclass

from django.db.models import Count, Exists, OuterRef, Q, QuerySet, Sum
from django.db.models.functions import Coalesce

from annotation.assignment.eligibility import State, state_of, task_ids
from annotation.kinds.options import Options
from annotation.models import Campaign, Enrolment, PracticeAnswer, PracticeRound, Task
from studies.consent import withdrawn_from


@dataclass(frozen=True)
class RoundResult:
    """The right and the scored answers of a round, so far or at its end."""

    number: int
    passed: bool | None
    answered: int
    correct: int
    scored: int


@dataclass(frozen=True)
class Practice:
    """An annotator's practice: tasks of a round, rounds begun of `attempts`, and the latest round."""

    state: State
    tasks: int
    pass_mark: float
    attempts: int
    begun: int = 0
    latest: RoundResult | None = None

    @property
    def left(self) -> int:
        """Return how many further rounds can be begun."""
        return max(self.attempts - self.begun, 0) if self.state == State.OPEN else 0

    @property
    def running(self) -> RoundResult | None:
        """Return the round that has not ended."""
        return self.latest if self.latest is not None and self.latest.passed is None else None


def practice_of(enrolment: Enrolment) -> Practice:
    """Return the practice of an annotator."""
    tasks = task_ids(enrolment.campaign_id)
    options = enrolment.campaign.options
    latest = enrolment.practice_rounds.order_by("-number").first()
    begun = enrolment.practice_rounds.count()
    allowed = int(options.get("practice_attempts") or Options.default("practice_attempts"))
    state = state_of(enrolment, tasks)
    running = latest is not None and latest.passed is None
    if state == State.OPEN and not running:
        allowed = max(allowed, begun + 1)
    mark = options.get("practice_pass_mark")
    return Practice(
        state=state,
        tasks=len(tasks),
        pass_mark=float(Options.default("practice_pass_mark") if mark is None else mark),
        attempts=max(allowed, begun),
        begun=begun,
        latest=result(latest) if latest is not None else None,
    )


def result(practice_round: PracticeRound) -> RoundResult:
    """Return the result of a round, without tasks that were removed since."""
    totals = standing_answers(practice_round).aggregate(
        answered=Count("pk"), correct=Coalesce(Sum("correct"), 0), scored=Coalesce(Sum("scored"), 0)
    )
    return RoundResult(number=practice_round.number, passed=practice_round.passed, **totals)


def standing_answers(practice_round: PracticeRound) -> QuerySet[PracticeAnswer]:
    """Return the answers of a round to tasks that are still practised."""
    return practice_round.answers.filter(task__withdrawn=False)


def outcomes(campaign: Campaign) -> dict[str, int]:
    """Return how many passed, are practising, and are paused after their last attempt.

    Annotators who withdrew consent are not counted.
    """
    rounds = PracticeRound.objects.filter(enrolment=OuterRef("pk"))
    enrolments = _consenting(campaign).annotate(
        has_passed=Exists(rounds.filter(passed=True)), has_practised=Exists(rounds)
    )
    practising = Q(has_practised=True, has_passed=False, state=Enrolment.State.ACTIVE)
    return {
        **enrolments.aggregate(
            passed=Count("pk", filter=Q(has_passed=True)), practising=Count("pk", filter=practising)
        ),
        "failed": failed(campaign).count(),
    }


def failed(campaign: Campaign) -> QuerySet[Enrolment]:
    """Return the enrolments that are paused, have not passed and have used all attempts."""
    attempts = int(campaign.options.get("practice_attempts") or Options.default("practice_attempts"))
    rounds = PracticeRound.objects.filter(enrolment=OuterRef("pk"))
    used_up = (
        PracticeRound.objects.filter(enrolment__campaign=campaign)
        .values("enrolment")
        .annotate(begun=Count("pk"))
        .filter(begun__gte=attempts)
        .order_by()
    )
    return _consenting(campaign).filter(
        ~Exists(rounds.filter(passed=True)),
        ~Exists(rounds.filter(passed=None)),
        state=Enrolment.State.PAUSED,
        pk__in=used_up.values("enrolment"),
    )


def _consenting(campaign: Campaign) -> QuerySet[Enrolment]:
    return campaign.enrolments.exclude(annotator__in=withdrawn_from(campaign.study))


def practice_tasks(campaign_id: int) -> list[Task]:
    """Return the campaign's practice tasks with their contents, in order."""
    tasks = Task.objects.filter(pk__in=task_ids(campaign_id)).select_related("campaign", "image")
    return list(tasks.order_by("pk"))
