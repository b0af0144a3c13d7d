"""The background jobs of this app."""

from typing import Any

from django.urls import reverse

from foundation.errors import DomainError
from generation.imports import importer
from generation.imports.answers import importer as importer_of_answers
from generation.imports.answers import uploads
from generation.imports.answers.fields import AnswerImportOptions
from generation.imports.answers.importer import AnswerFile, read_answers
from generation.imports.answers.sample import sample_of
from generation.imports.options import ImageImportOptions
from generation.probing import execution as probe_execution
from generation.probing import launch as probe_launch
from generation.probing.codings import code_run
from generation.runs import execution, launch
from jobs.models import Job
from jobs.progress.reporter import Progress
from jobs.run.registry import register
from jobs.uploads import opened_upload
from studies.models import Study

# A job's page lists at most this many remarks on single files; its counts include all files.
_MOST_LINES = 500


@register("generate")
def generate(job: Job, progress: Progress) -> dict[str, Any]:
    """Generate the pending images of a run."""
    run = launch.claim_run(job=job)
    result = execution.run(run=run, progress=progress, job=job)
    return {"summary": str(result), "url": reverse("generation:images", args=[run.study.slug])}


@register("probe")
def probe(job: Job, progress: Progress) -> dict[str, Any]:
    """Ask the pending questions of a probe run, and code the answers."""
    run = probe_launch.claim_run(job=job)
    try:
        result = probe_execution.run(run=run, progress=progress, job=job)
    except DomainError:
        # For example, the budget is spent: the answers so far are coded nevertheless.
        code_run(run=run, by=job.created_by, progress=progress)
        raise
    code_run(run=run, by=job.created_by, progress=progress)
    url = reverse("generation:probe", args=[run.study.slug, run.pk])
    return {"summary": str(result), "url": url}


@register(uploads.LOOK)
def look_into_answers(job: Job, progress: Progress) -> dict[str, Any]:
    """Read the beginning of an uploaded file of answers, for the page on which its columns are chosen."""
    progress.step("Reading answers")
    with opened_upload(job, uploads.FILE) as file:
        sample = sample_of(read_answers(AnswerFile(file, job.arguments["file_name"], {})))
    url = reverse("generation:answer_file", args=[Study.objects.get(pk=job.arguments["study"]).slug, job.pk])
    summary = f"{sample.total:,} rows. Choose what each column contains, then import the answers."
    return {"summary": summary, "sample": sample.as_json(), "url": url}


@register(uploads.IMPORT)
def import_answers(job: Job, progress: Progress) -> dict[str, Any]:
    """Import an uploaded file of answers by the chosen columns, and code them. Repeating it adds nothing."""
    study = Study.objects.get(pk=job.arguments["study"])
    with opened_upload(job, uploads.FILE) as file:
        report = importer_of_answers.import_answers(
            study=study,
            file=AnswerFile(file, job.arguments["file_name"], job.arguments["columns"], stated_alone=True),
            probe_sets=uploads.chosen_sets(study, job.arguments["probe_set"]),
            by=job.created_by,
            options=AnswerImportOptions.read(
                {name: job.arguments[name] for name in AnswerImportOptions.model_fields}
            ),
            progress=progress,
        )
    for run in report.runs:
        code_run(run=run, by=job.created_by, progress=progress)
    remarks = [f"Row {rejection.row}: {rejection.reason}" for rejection in report.rows.rejected]
    url = reverse("generation:probes", args=[study.slug])
    if len(report.runs) == 1:
        url = reverse("generation:probe", args=[study.slug, report.runs[0].pk])
    return {
        "summary": importer_of_answers.summary_of(report),
        "lines": remarks[:_MOST_LINES],
        "url": url,
    }


@register("import_images")
def import_images(job: Job, progress: Progress) -> dict[str, Any]:
    """Import an uploaded archive. Repeating it adds no pictures."""
    study = Study.objects.get(pk=job.arguments["study"])
    with opened_upload(job) as file:
        report = importer.import_images(
            study=study,
            path=file,
            by=job.created_by,
            options=ImageImportOptions.read(
                {name: job.arguments[name] for name in ImageImportOptions.model_fields}
            ),
            progress=progress,
        )
    remarks = [
        f"{title}: {remark}"
        for title, noted in (
            ("Rejected", report.rejected),
            ("Repaired", report.repaired),
            ("Duplicate, kept once", report.duplicates),
        )
        for remark in noted
    ]
    return {
        "summary": str(report),
        "lines": remarks[:_MOST_LINES],
        "url": reverse("generation:images", args=[study.slug]),
    }
