"""The log of a job: up to 500 lines for people to read."""

from collections.abc import Iterable
from datetime import datetime

from django.utils import timezone

from foundation.redaction import without_secrets
from jobs.models import Job, JobLine

MOST_LINES = 500


def note(job: Job, text: str) -> None:
    """Write one line with the current time."""
    write(job, [(timezone.now(), text)])


def write(job: Job, lines: Iterable[tuple[datetime, str]]) -> None:
    """Write lines; delete the oldest lines beyond MOST_LINES."""
    JobLine.objects.bulk_create(
        JobLine(job=job, at=at, text=_cut(without_secrets(text))) for at, text in lines
    )
    newest = JobLine.objects.filter(job=job).order_by("-pk").values_list("pk", flat=True)
    last_to_go = newest[MOST_LINES : MOST_LINES + 1].first()
    if last_to_go is not None:
        JobLine.objects.filter(job=job, pk__lte=last_to_go).delete()


def _cut(text: str, most: int = 500) -> str:
    line = " ".join(text.split())
    return line if len(line) <= most else f"{line[: most - 1]}…"
