"""Creating a plan, computing it in a worker, and reading it with its work and cost."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from django.db import transaction

from accounts.models import User
from analysis.models import StudyPlan
from analysis.planning.parameters import PlanParameters
from analysis.planning.people import PlannedPeople, people_of, rules_of
from analysis.planning.workload import Workload, workload
from foundation.errors import DomainError
from jobs.progress.reporter import Progress
from jobs.run.execution import enqueue
from studies import audit
from studies.models import Study

if TYPE_CHECKING:
    from analysis.metrics.marking.simulate_studies import Design

JOB_KIND = "plan_study"
LONGEST_HYPOTHESIS = 2_000
_MEASURES = ("theta", "theta_pooled")


@dataclass(frozen=True)
class PlannedDesign:
    """One design with what it would find and take. `power` and `half_width` are of the plan's primary measure."""

    design: "Design"
    work: Workload
    half_width: float | None
    power: float | None
    power_se: float | None
    reason: str
    over_budget: bool
    people: tuple[PlannedPeople, ...] = ()


@transaction.atomic
def make_plan(
    *,
    study: Study,
    hypothesis: str,
    primary_measure: str,
    parameters: Mapping[str, Any],
    by: User | None,
) -> StudyPlan:
    """Write a plan down and ask a worker to simulate its designs."""
    hypothesis = hypothesis.strip()
    if not hypothesis or len(hypothesis) > LONGEST_HYPOTHESIS:
        raise DomainError(
            "invalid_hypothesis",
            f"Write the hypothesis in 1 to {LONGEST_HYPOTHESIS:,} characters.",
            fields={"hypothesis": "missing" if not hypothesis else "too long"},
        )
    chosen = PlanParameters.read(parameters)
    designs = chosen.designs()
    for per_task in {design.annotators_per_task for design in designs}:
        rules_of(chosen.quotas, per_task)  # refuses rules that so many people cannot meet
    if primary_measure == StudyPlan.Measure.THETA_POOLED and chosen.groups < 2:
        raise DomainError(
            "one_group_only",
            "θ over all groups needs at least 2 identity groups.",
            fields={"primary_measure": "needs 2 groups"},
        )
    plan = StudyPlan.objects.create(
        study=study,
        hypothesis=hypothesis,
        primary_measure=primary_measure,
        parameters=chosen.model_dump(mode="json"),
        created_by=by,
    )
    plan.job = enqueue(
        kind=JOB_KIND,
        title=f"Plan {study.name}",
        arguments={"plan": plan.pk},
        by=by,
        study_id=study.pk,
    )
    plan.save(update_fields=["job"])
    audit.record(by=by, action="plan.made", subject=plan, study=study, designs=len(designs))
    return plan


def compute_plan(*, plan: StudyPlan, progress: Progress, simulations: int | None = None) -> StudyPlan:
    """Simulate each design of a plan and store what they would find.

    `simulations` is how often; if None, as often as a few seconds allow.
    """
    from analysis.metrics import plan_precision
    from analysis.results.schema import records

    parameters = parameters_of_plan(plan)
    designs = parameters.designs()
    rows: list[dict[str, Any]] = []
    progress.step("Simulating studies")
    progress.start(len(designs))
    for number, design in enumerate(designs):
        progress.check_cancelled()
        result = plan_precision(
            images=design.images,
            annotators=design.annotators,
            annotators_per_task=design.annotators_per_task,
            stereotypes=design.stereotypes,
            random_attributes=design.random_attributes,
            groups=design.groups,
            likelihood_stereotype=parameters.likelihood_stereotype,
            likelihood_random=parameters.likelihood_random,
            agreement=parameters.agreement,
            annotator_sd=parameters.annotator_sd,
            simulations=simulations,
            seed=number,
        )
        rows += records(result.table)
        progress.advance(1, f"{number + 1} of {len(designs)} designs")
    plan.results = rows
    plan.save(update_fields=["results"])
    return plan


def latest_plan(study: Study) -> StudyPlan | None:
    return study.plans.select_related("job").order_by("-pk").first()


def parameters_of_plan(plan: StudyPlan) -> PlanParameters:
    return PlanParameters.read(plan.parameters)


def planned_designs(plan: StudyPlan) -> list[PlannedDesign]:
    """Return the designs of a computed plan, cheapest work first; none where it is not computed yet."""
    parameters = parameters_of_plan(plan)
    return sorted(
        (_planned(row, parameters) for row in primary_rows(plan)), key=lambda line: line.work.screens
    )


def primary_rows(plan: StudyPlan) -> list[dict[str, Any]]:
    """Return the rows of a plan's primary measure, one for each design."""
    return [row for row in plan.results or [] if row["measure"] == plan.primary_measure]


def _planned(row: Mapping[str, Any], parameters: PlanParameters) -> PlannedDesign:
    # Imported here: the measures load pandas and SciPy, and every process starts with this module.
    from analysis.metrics.marking.simulate_studies import Design

    design = Design(**{name: row[name] for name in Design.__dataclass_fields__})
    work = workload(design, parameters)
    return PlannedDesign(
        design=design,
        work=work,
        half_width=row["half_width"],
        power=row["power"],
        power_se=row["power_se"],
        reason=row["reason"] or "",
        people=tuple(people_of(design, parameters.quotas)),
        over_budget=(
            work.cost is not None and parameters.budget is not None and float(work.cost) > parameters.budget
        ),
    )
