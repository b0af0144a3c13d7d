"""Whether people found the images of a scenario alike except for the person."""

from collections import Counter, defaultdict
from collections.abc import Iterable
from dataclasses import dataclass
from typing import NamedTuple

from django.db import DEFAULT_DB_ALIAS
from django.db.models import Count, TextChoices

from annotation.answers.inclusion import counted
from annotation.kinds.registry import (
    ALIKE,
    DIFFERENT,
    SMALL_DIFFERENCES,
    kind_of,
    likeness_question,
)
from annotation.models import Campaign, Judgement, Task, TaskStimulus
from studies.models import Study


class Likeness(TextChoices):
    """People's verdicts about the images of a scenario."""

    KEPT = "kept", "alike"
    FAILED = "failed", "not alike"
    OPEN = "open", "not decided yet"


class Scenario(NamedTuple):
    """The images of a scenario by one model."""

    experiment: str
    scenario: str
    model: str  # that made the images


@dataclass(frozen=True)
class ScenarioVerdict:
    """A verdict, and the answers it is based on."""

    verdict: Likeness
    alike: int = 0
    small_differences: int = 0
    different: int = 0


UNCHECKED = ScenarioVerdict(Likeness.OPEN)


def likeness_checks(study: Study, using: str = DEFAULT_DB_ALIAS) -> list[Campaign]:
    """Return the opened campaigns in which people judge whether images are alike, oldest first."""
    opened = Campaign.objects.using(using).filter(study=study.pk, opened_at__isnull=False)
    opened = opened.select_related("study").order_by("opened_at", "pk")
    return [campaign for campaign in opened if likeness_question(kind_of(campaign))]


def scenario_verdicts(study: Study, using: str = DEFAULT_DB_ALIAS) -> dict[Scenario, ScenarioVerdict] | None:
    """Return people's verdict about each checked scenario; None if no check was ever opened.

    A scenario is kept if more than half of the answers required for each of its screens find the images alike, or
    different in a way that does not matter. It fails when this can no longer be reached. If several campaigns checked
    it, the newest with a decision counts. Screens with a retracted image no longer count: the new images are checked
    again.
    """
    checks = likeness_checks(study, using)
    if not checks:
        return None
    verdicts: dict[Scenario, ScenarioVerdict] = {}
    for campaign in checks:
        for scenario, verdict in _verdicts_of(campaign, using).items():
            if verdict.verdict != Likeness.OPEN or scenario not in verdicts:
                verdicts[scenario] = verdict
    return verdicts


def _verdicts_of(campaign: Campaign, using: str) -> dict[Scenario, ScenarioVerdict]:
    answers = _answers_by_task(campaign, using)
    stimuli = TaskStimulus.objects.using(using).filter(
        task__campaign=campaign,
        task__purpose=Task.Purpose.LABEL,
        task__withdrawn=False,
        image__isnull=False,
    )
    columns = ("task", "task__wanted", "image__experiment", "image__scenario", "image__model_label")
    screens: dict[Scenario, list[ScenarioVerdict]] = defaultdict(list)
    for task, wanted, *place in stimuli.order_by("task").values_list(*columns).distinct():
        screens[Scenario(*place)].append(_verdict(answers[task], wanted))
    return {scenario: _together(verdicts) for scenario, verdicts in screens.items()}


def _answers_by_task(campaign: Campaign, using: str) -> dict[int, Counter[str]]:
    judgements = Judgement.objects.using(using).filter(
        annotation__in=counted(campaign), question=likeness_question(kind_of(campaign)), code__isnull=False
    )
    answers: dict[int, Counter[str]] = defaultdict(Counter)
    rows = judgements.order_by().values_list("annotation__task", "code").annotate(number=Count("pk"))
    for task, code, number in rows:
        answers[task][str(code)] = number
    return answers


def _verdict(answers: Counter[str], wanted: int) -> ScenarioVerdict:
    asked = max(wanted, answers.total())
    if 2 * (answers[ALIKE] + answers[SMALL_DIFFERENCES]) > asked:
        verdict = Likeness.KEPT
    else:
        verdict = Likeness.FAILED if 2 * answers[DIFFERENT] >= asked else Likeness.OPEN
    return ScenarioVerdict(verdict, answers[ALIKE], answers[SMALL_DIFFERENCES], answers[DIFFERENT])


def _together(screens: Iterable[ScenarioVerdict]) -> ScenarioVerdict:
    """Return the verdict on a scenario whose images were on several screens: all screens must be alike."""
    screens = list(screens)
    found = {screen.verdict for screen in screens}
    return ScenarioVerdict(
        next(verdict for verdict in (Likeness.FAILED, Likeness.OPEN, Likeness.KEPT) if verdict in found),
        alike=sum(screen.alike for screen in screens),
        small_differences=sum(screen.small_differences for screen in screens),
        different=sum(screen.different for screen in screens),
    )
