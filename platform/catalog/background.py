"""The jobs of this app."""

from typing import Any

from django.urls import reverse

from catalog.geography import Geography, read_geography
from catalog.imports.resources import import_resource
from catalog.imports.uploads import GEOGRAPHY, KIND
from jobs.models import Job
from jobs.progress.reporter import Progress
from jobs.run.registry import register
from jobs.uploads import opened_upload

# The most rejected rows listed on a job's page; the counts include all rows.
_MOST_LINES = 500


@register(KIND)
def import_uploaded(job: Job, progress: Progress) -> dict[str, Any]:
    """Import an uploaded resource; importing the same file again changes nothing."""
    arguments = job.arguments
    progress.step("Reading and checking every row")
    with opened_upload(job) as file:
        report = import_resource(
            file=file,
            file_name=arguments["file_name"],
            name=arguments["name"],
            by=job.created_by,
            geography=_geography(job),
            update=arguments["update"],
            invented=arguments.get("invented", False),  # missing in jobs queued by the previous version
        )
    rejected = [f"Rejected: row {entry.row}: {entry.reason}" for entry in report.rows.rejected]
    return {
        "summary": f"{report.rows.read:,} rows read, {len(rejected):,} rejected; {report.outcome}.",
        "lines": [*report.lines(), *rejected[:_MOST_LINES]],
        "url": reverse("catalog:detail", args=[report.resource.slug]),
        "resource": report.resource.slug,
    }


def _geography(job: Job) -> Geography | None:
    if GEOGRAPHY not in job.arguments:
        return None
    with opened_upload(job, GEOGRAPHY) as file:
        return read_geography(file, name=job.arguments["geography_name"])
