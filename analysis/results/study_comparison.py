"""A comparison of two studies: one computation over the labels of both, stored with the report of the first."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from django.db.models import Max

from accounts.models import User
from analysis.models import Report, ReportTable
from analysis.results import reports
from jobs.models import Job
from jobs.progress.reporter import Progress, Unwatched
from jobs.run.execution import enqueue
from studies.models import Study

if TYPE_CHECKING:
    import pandas as pd

    from analysis.results.data.labels import StudyData

JOB_KIND = "compare_studies"
_TOLD = ("campaign", "identity_group", "image", "attribute")


@dataclass(frozen=True)
class Side:
    """One model's images in one study, under the choices of a report."""

    report: Report
    model: str

    @property
    def study(self) -> Study:
        return self.report.study

    @property
    def number(self) -> int:
        """The place of the model in its report."""
        return [line["model"] for line in self.report.summary["headline"]].index(self.model)


def most_judged(report: Report, like: str = "") -> str | None:
    """The model named `like` if the report has it, else the model with the most judgements; None without judgements."""
    lines = report.summary["headline"]
    if any(line["model"] == like for line in lines):
        return like
    best = max(lines, key=lambda line: line["judgements"], default=None)
    return None if best is None else str(best["model"])


def stored_comparison(a: Side, b: Side) -> list[dict[str, Any]] | None:
    """The rows as of `model_differences`, if they were computed for these two reports."""
    table = a.report.tables.filter(name=_name(a, b)).first()
    return None if table is None else table.rows()


def request_comparison(a: Side, b: Side, *, by: User) -> Job | None:
    """Compute now when there is little to compute, else queue a job and return it."""
    under_way = running_comparison(a, b)
    if under_way is not None or stored_comparison(a, b) is not None:
        return under_way
    judged = sum(side.report.summary["counted"]["judgements"] for side in (a, b))
    if judged <= reports.INLINE_JUDGEMENTS:
        compute_comparison(a, b)
        return None
    # The title must not name the other study, because members of the first study see it.
    return enqueue(
        kind=JOB_KIND,
        title=f"Compare {a.study.name} with another study",
        arguments=_arguments(a, b),
        by=by,
        study_id=a.study.pk,
    )


def running_comparison(a: Side, b: Side) -> Job | None:
    """The computation of this comparison that is under way."""
    active = (Job.State.QUEUED, Job.State.RUNNING)
    jobs = Job.objects.filter(study_id=a.study.pk, kind=JOB_KIND, state__in=active)
    return next((job for job in jobs.order_by("-pk") if job.arguments == _arguments(a, b)), None)


def compute_comparison(a: Side, b: Side, *, progress: Progress | None = None) -> None:
    """Compute the differences over the groups both studies have, and keep them."""
    import pandas as pd

    from analysis.metrics.marking.comparison import compare_models
    from analysis.metrics.resampling.bootstrap import pigeonhole_bootstrap
    from analysis.results.data.labels import load
    from analysis.results.schema import PROMISED, records

    progress = progress or Unwatched()
    progress.start(2)
    loaded = [
        load(study=side.study, parameters=reports.parameters_from(side.study, side.report.parameters))
        for side in (a, b)
    ]
    progress.advance(1, "labels")
    judgements, notes = _together(loaded, (a, b))
    roles, notes["roles_differ"] = _roles(loaded)
    columns = [*PROMISED["model_differences"], *notes]
    rows: list[list[Any]] = []
    if len(judgements) and judgements["model"].nunique() == len(loaded):
        resamples, seed = (int(a.report.parameters[name]) for name in ("resamples", "seed"))
        shared = pigeonhole_bootstrap(judgements, resamples=resamples, seed=seed)
        progress.check_cancelled()
        progress.advance(1, "resamples")
        tables = [
            compare_models(shared.judgements, roles, by=scope, resampling=shared).to_frame()
            for scope in ("all", "identity_group")
        ]
        table = pd.concat(tables, ignore_index=True).assign(compared="study", model="", **notes)
        table = table.rename(columns={"model_a": "side_a", "model_b": "side_b"})
        rows = [[row.get(column) for column in columns] for row in records(table)]
    ReportTable.objects.update_or_create(
        report=a.report, name=_name(a, b), defaults={"columns": columns, "content": ReportTable.packed(rows)}
    )


def sides_of(arguments: dict[str, Any]) -> tuple[Side, Side] | None:
    """The sides for which a job was queued, or None if a report no longer exists."""
    stored = Report.objects.select_related("study", "study__resource").in_bulk(
        [arguments["a"], arguments["b"]]
    )
    if len(stored) < len({arguments["a"], arguments["b"]}):
        return None
    a, b = (Side(stored[arguments[name]], arguments[f"model_{name}"]) for name in ("a", "b"))
    return a, b


def latest_reports(studies: Sequence[Study]) -> list[Report]:
    """The newest report of each of these studies that has one with judgements."""
    newest = (
        Report.objects.filter(study__in=studies, format=Report.FORMAT)
        .values("study")
        .annotate(last=Max("pk"))
    )
    newest_reports = Report.objects.filter(pk__in=[row["last"] for row in newest]).select_related("study")
    return sorted(
        (report for report in newest_reports if report.summary["headline"]),
        key=lambda report: report.study.name,
    )


def _name(a: Side, b: Side) -> str:
    return f"with {b.report.pk} {a.number} {b.number}"


def _arguments(a: Side, b: Side) -> dict[str, Any]:
    return {"a": a.report.pk, "b": b.report.pk, "model_a": a.model, "model_b": b.model}


def _together(loaded: Sequence["StudyData"], sides: Sequence[Side]) -> tuple["pd.DataFrame", dict[str, int]]:
    """The judgements of the common groups, with the study instead of the model, and the same person under one name in
    both."""
    import pandas as pd

    parts = []
    for place, (data, side) in enumerate(zip(loaded, sides, strict=True)):
        rows = data.judgements[data.judgements["model"] == side.model]
        pseudonyms = data.annotators.set_index("key")["pseudonym"]
        person = pseudonyms.reindex(rows["annotator"].astype(object)).to_numpy()
        plain = {name: rows[name].astype(object) for name in _TOLD}
        # `a` comes before `b` whatever the studies are called: differences are a − b.
        parts.append(pd.DataFrame(plain).assign(annotator=person, model="ab"[place], present=rows["present"]))
    groups = [set(part["identity_group"]) for part in parts]
    shared_groups = groups[0] & groups[1]
    joined = pd.concat(
        [part[part["identity_group"].isin(shared_groups)] for part in parts], ignore_index=True
    )
    notes = {
        "groups_both": len(shared_groups),
        "groups_only_a": len(groups[0] - shared_groups),
        "groups_only_b": len(groups[1] - shared_groups),
    }
    return joined, notes


def _roles(loaded: Sequence["StudyData"]) -> tuple["pd.DataFrame", int]:
    """Roles of both studies (the first study's role if they differ), and the number of pairs with different roles."""
    import pandas as pd

    key = ["identity_group", "attribute"]
    columns = [*key, "role"]
    roles_a, roles_b = (data.associations[columns] for data in loaded)
    shared_pairs = roles_a.merge(roles_b, on=key)
    differ = int((shared_pairs["role_x"] != shared_pairs["role_y"]).sum())
    return pd.concat([roles_a, roles_b], ignore_index=True).drop_duplicates(key), differ
