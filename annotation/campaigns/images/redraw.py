"""Drawing scenarios again whose images people found different; the failed images no longer count."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from decimal import Decimal

from django.db import transaction

from accounts.models import User
from annotation.answers.questions.scenario_verdicts import Likeness, Scenario, scenario_verdicts
from annotation.campaigns.images.retraction import retract
from foundation.errors import Conflict, DomainError
from generation.models import GenerationRequest, GenerationRun, Image
from generation.runs import launch
from generation.runs.redraw import ask_again, cost_of, requests_of_scenario
from studies import audit
from studies.models import Study

REASON = "Drawn again: annotators found that the images of the scenario differ in more than the person."


@dataclass(frozen=True)
class RedrawPlan:
    """An estimate for drawing scenarios again. Nothing is changed yet."""

    scenarios: Sequence[Scenario]
    imported: Sequence[Scenario]  # failed, too, but their images were not made here
    images: int
    cost: Decimal


def failed_scenarios(study: Study) -> list[Scenario]:
    """Return the scenarios whose images people found different, in the order of their names."""
    verdicts = scenario_verdicts(study) or {}
    return sorted(scenario for scenario, found in verdicts.items() if found.verdict == Likeness.FAILED)


def plan_redraw(study: Study) -> RedrawPlan:
    """Return an estimate for drawing all failed scenarios again."""
    requests = {scenario: _requests(study, scenario) for scenario in failed_scenarios(study)}
    drawn = [request for of_one in requests.values() for request in of_one]
    return RedrawPlan(
        scenarios=[scenario for scenario, of_one in requests.items() if of_one],
        imported=[scenario for scenario, of_one in requests.items() if not of_one],
        images=len(drawn),
        cost=cost_of(drawn),
    )


@transaction.atomic
def redraw(
    *, study: Study, scenarios: Collection[Scenario], by: User | None, queue: bool = True
) -> list[GenerationRun]:
    """Retract the images of failed scenarios and ask for others at the next index; `queue` their runs' jobs.

    The new images are not checked yet: a new campaign asks about them.
    """
    if not scenarios:
        message = "Choose at least one scenario."
        raise DomainError("scenarios_missing", message, fields={"scenarios": message})
    # The study's row is the lock: drawn again twice at once, a scenario would have two sets of images.
    Study.objects.select_for_update().get(pk=study.pk)
    failed = set(failed_scenarios(study))
    requests: list[GenerationRequest] = []
    for scenario in sorted(set(scenarios)):
        if scenario not in failed:
            raise Conflict(
                "scenario_not_failed",
                f"“{scenario.scenario}” by {scenario.model} did not fail a check, so it is not drawn again.",
            )
        of_scenario = _requests(study, scenario)
        if not of_scenario:
            raise Conflict(
                "scenario_imported",
                f"The images of “{scenario.scenario}” were imported, so they cannot be drawn again here. "
                "Import other images and retract these.",
            )
        requests += of_scenario
    runs = ask_again(requests)
    for scenario in sorted(set(scenarios)):
        _retract(study, scenario, by)
    audit.record(
        by=by,
        action="scenarios.redrawn",
        subject=study,
        study=study,
        scenarios=len(set(scenarios)),
        images=len(requests),
    )
    if queue:
        for run in runs:
            launch.start(run=run, by=by)
    return runs


def _requests(study: Study, scenario: Scenario) -> list[GenerationRequest]:
    requests = requests_of_scenario(
        study, experiment=scenario.experiment, scenario=scenario.scenario, model=scenario.model
    )
    return list(requests.select_related("run__study", "template"))


def _retract(study: Study, scenario: Scenario, by: User | None) -> None:
    images = Image.objects.filter(
        study=study,
        experiment=scenario.experiment,
        scenario=scenario.scenario,
        model_label=scenario.model,
        retracted_at=None,
    )
    for image in images.order_by("pk"):
        retract(image=image, by=by, reason=REASON)
