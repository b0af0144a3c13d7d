"""The generation runs of a study, with their progress and cost."""

from dataclasses import dataclass
from decimal import Decimal
from typing import Any

from django.db.models import Count, Q

from generation.models import GenerationRequest, GenerationRun
from jobs.models import Job
from studies.models import Study

Outcome = GenerationRequest.Outcome


@dataclass(frozen=True)
class RunLine:
    """A run in the list."""

    run: GenerationRun
    total: int
    done: int
    blanked: int
    refused: int
    failed: int
    left: int
    spent: Decimal
    planning: bool  # its job has still to write the requests
    active_state: str  # "running" if one of its jobs runs, else "queued" if one is queued, else ""

    @property
    def active(self) -> bool:
        return bool(self.active_state)

    @property
    def state(self) -> str:
        if self.active:
            return self.active_state
        if self.left or self.failed or self.planning:
            return "interrupted"
        return "finished"

    @property
    def may_go_on(self) -> bool:
        return not self.active and bool(self.left or self.failed or self.planning)

    @property
    def parts(self) -> list[tuple[str, int, str]]:
        """Return (label, count, tone) of each outcome, for a segmented bar."""
        return [
            ("made", self.done, "done"),
            ("blanked", self.blanked, "waiting"),
            ("refused", self.refused, "waiting"),
            ("failed", self.failed, "bad"),
        ]


def runs_of(study: Study) -> list[RunLine]:
    """Return the runs, newest first, in four queries."""
    outcomes = (
        ("done", Outcome.DONE),
        ("blanked", Outcome.BLANKED),
        ("refused", Outcome.REFUSED),
        ("failed", Outcome.FAILED),
        ("left", Outcome.PENDING),
    )
    counted = {
        row["run"]: row
        for row in GenerationRequest.objects.filter(run__study=study)
        .order_by()
        .values("run")
        .annotate(
            total=Count("pk"),
            **{name: Count("pk", filter=Q(outcome=outcome)) for name, outcome in outcomes},
        )
    }
    nothing = dict.fromkeys(("total", "done", "blanked", "refused", "failed", "left"), 0)
    lines = []
    planning = set(
        GenerationRun.to_write.through.objects.filter(generationrun__study=study).values_list(
            "generationrun", flat=True
        )
    )
    runs = list(study.generation_runs.select_related("job"))
    states = _active_states(runs)
    for run in runs:
        row: dict[str, Any] = {**nothing, **counted.get(run.pk, {})}
        numbers = {name: int(row[name]) for name in nothing}
        lines.append(
            RunLine(
                run=run,
                spent=run.spent,
                planning=run.pk in planning,
                active_state=states.get(run.pk, ""),
                **numbers,
            )
        )
    return lines


def _active_states(runs: list[GenerationRun]) -> dict[int, str]:
    """Map each run with an active job to RUNNING if a job of its team is running, else to QUEUED."""
    active = Job.objects.filter(state__in=[Job.State.QUEUED, Job.State.RUNNING])
    keys = [run.job_id for run in runs if run.job_id is not None]
    teams = {run.job.team for run in runs if run.job is not None and run.job.team}
    rows = list(active.filter(Q(pk__in=keys) | Q(team__in=teams)).values_list("pk", "team", "state"))
    state_by_run: dict[int, str] = {}
    for run in runs:
        if run.job is None:
            continue
        states = {state for pk, team, state in rows if pk == run.job_id or (team and team == run.job.team)}
        if states:
            state_by_run[run.pk] = str(Job.State.RUNNING if Job.State.RUNNING in states else Job.State.QUEUED)
    return state_by_run
