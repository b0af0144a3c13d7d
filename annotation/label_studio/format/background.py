"""The jobs for Label Studio exports that leads upload."""

from typing import Any

from django.urls import reverse

from annotation.imports.column_map import LabelImportOptions
from annotation.label_studio.format.names import parse_names
from annotation.label_studio.format.options import ExportOptions
from annotation.label_studio.format.reader import look_into
from annotation.label_studio.format.uploads import EXPORT, IMPORT, LOOK
from jobs.models import Job
from jobs.progress.reporter import Progress
from jobs.run.registry import register
from jobs.uploads import opened_upload
from studies.models import Study

# A job's page lists this many rejected rows; the counts always include all rows.
_MOST_LINES = 500


@register(LOOK)
def look(job: Job, progress: Progress) -> dict[str, Any]:
    """Read which fields and controls a file contains."""
    study = Study.objects.get(pk=job.arguments["study"])
    progress.step("Reading the file")
    with opened_upload(job, EXPORT) as file:
        inventory = look_into(file, file_name=job.arguments["file_name"])
    return {
        "summary": f"{inventory.tasks:,} tasks with {inventory.annotations:,} annotations were found. "
        "Next, choose what each field contains.",
        "inventory": inventory.described(),
        "url": reverse("annotation:label_studio_file", args=[study.slug, job.pk]),
    }


@register(IMPORT)
def import_(job: Job, progress: Progress) -> dict[str, Any]:
    """Import a file with the chosen names. A second import changes nothing."""
    # Imported here: they load pandas, and every process starts with this module.
    from annotation.imports.importer import ImportTarget
    from annotation.label_studio.format.importer import import_export

    arguments = job.arguments
    study = Study.objects.get(pk=arguments["study"])
    with opened_upload(job, EXPORT) as file:
        report = import_export(
            target=ImportTarget(name=study.name, by=job.created_by, campaign=arguments["name"]),
            file=file,
            file_name=arguments["file_name"],
            options=ExportOptions(
                names=parse_names(arguments["map"], asked=tuple(arguments["asked"])),
                rows=LabelImportOptions.read(arguments["rows"]),
                ground_truth=arguments["ground_truth"],
            ),
            progress=progress,
        )
    rejected = [
        f"Rejected: task {entry.row}: {entry.reason}"
        for file_report in report.reports
        for entry in file_report.rejected
    ]
    return {
        "summary": " · ".join(report.lines()),
        "lines": rejected[:_MOST_LINES],
        "url": reverse("studies:detail", args=[study.slug]),
    }
