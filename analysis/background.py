"""The background jobs of this app."""

from typing import Any

from django.urls import reverse

from analysis import releases
from analysis.models import Scorer, StudyPlan
from analysis.planning import plans, precision_looks
from analysis.results import reports, study_comparison
from analysis.scoring import launch as scoring
from annotation.models import Annotation, Box, Judgement, Task, TaskAttribute
from foundation.database.bulk import refresh_statistics
from foundation.errors import NotFound
from generation.models import Image
from jobs.models import Job
from jobs.progress.reporter import Progress
from jobs.run.registry import register
from studies.models import Study


@register(reports.JOB_KIND)
def compute_report(job: Job, progress: Progress) -> dict[str, Any]:
    """Compute and store the results of a study."""
    study = Study.objects.select_related("resource").filter(pk=job.arguments["study"]).first()
    if study is None:
        raise NotFound("study_not_found", "The study that this job belongs to was deleted.")
    latest = reports.latest_report(study) if job.arguments.get("only_if_changed") else None
    if latest is not None and reports.is_current(latest):
        return {
            "report": latest.pk,
            "summary": "The results are up to date: no labels or choices have changed.",
        }
    parameters = reports.parameters_from(study, job.arguments["parameters"])
    # Labels came one by one: reading all of them, and the pages afterwards, are planned for as many as there are.
    refresh_statistics(Image, Task, TaskAttribute, Annotation, Judgement, Box)
    report = reports.compute_report(study=study, parameters=parameters, by=job.created_by, progress=progress)
    counted = report.summary["counted"]["judgements"]
    return {"report": report.pk, "summary": f"Results of {counted:,} judgements are ready."}


@register(study_comparison.JOB_KIND)
def compare_studies(job: Job, progress: Progress) -> dict[str, Any]:
    """Compute and store how two studies differ."""
    sides = study_comparison.sides_of(job.arguments)
    if sides is None:
        raise NotFound(
            "report_not_found",
            "Results have been computed again since this comparison was started. Compare the studies again.",
        )
    study_comparison.compute_comparison(*sides, progress=progress)
    return {"summary": "The comparison is ready."}


@register(plans.JOB_KIND)
def plan_study(job: Job, progress: Progress) -> dict[str, Any]:
    """Simulate the designs of a plan."""
    plan = StudyPlan.objects.filter(pk=job.arguments["plan"]).first()
    if plan is None:
        raise NotFound("plan_not_found", "The plan of this job was deleted.")
    plans.compute_plan(plan=plan, progress=progress)
    return {"summary": "The plan is ready.", "url": reverse("planning:plan", args=[plan.study.slug])}


@register(precision_looks.JOB_KIND)
def look_at_precision(job: Job, progress: Progress) -> dict[str, Any]:
    """Look at the precision of a running campaign."""
    return precision_looks.look_at(job, progress)


@register(releases.JOB_KIND)
def build_release(job: Job, progress: Progress) -> dict[str, Any]:
    """Build a release of a study and keep it as a zip. Done again, it is the same version."""
    # Libraries for tables load here and not when the server starts.
    from analysis.releases.parameters import ReleaseParameters
    from analysis.releases.storage.archive import build_archive

    study = Study.objects.filter(pk=job.arguments["study"]).first()
    if study is None:
        raise NotFound("study_not_found", "The study that this job belongs to was deleted.")
    parameters = ReleaseParameters.read(job.arguments["parameters"])
    release = build_archive(study=study, parameters=parameters, by=job.created_by, progress=progress)
    judgements = release.facts["rows"]["judgements"] + release.facts["rows"]["ratings"]
    summary = f"Version {release.version} with {judgements:,} judgements is ready."
    return {"release": release.pk, "summary": summary}


@register(scoring.JOB_KIND)
def score(job: Job, progress: Progress) -> dict[str, Any]:
    """Do what is missing of a scorer's work."""
    # Libraries for vectors load here and not when the server starts.
    from analysis.results.probing.scored_pairs import scored_pairs
    from analysis.scoring.run import RunOptions, run

    scorer = Scorer.objects.select_related("study", "encoder").filter(pk=job.arguments["scorer"]).first()
    if scorer is None:
        raise NotFound("scorer_not_found", "The scorer of this job was deleted.")
    options = RunOptions(
        device=job.arguments["device"], batch_size=job.arguments["batch_size"], pairs=scored_pairs
    )
    result = run(scorer=scorer, options=options, progress=progress)
    return {"summary": str(result), "url": reverse("scoring:list", args=[scorer.study.slug])}
