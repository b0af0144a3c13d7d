"""The state of a job in words, for its page and for updates of the page."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from django.utils import timezone

from foundation.formats import format_duration
from jobs.engine import workers
from jobs.models import Job, JobLine
from web.design.tones import tone_of

LINES_PER_PAGE = 50


@dataclass(frozen=True)
class JobSummary:
    """The state of a job in words."""

    state: str
    tone: str
    step: str
    message: str
    speed: str


def shown(job: Job) -> JobSummary:
    """Return the state of a job in words."""
    running = job.state == Job.State.RUNNING
    words = [pace_in_words(job.rate)] if running and job.rate else []
    if job.seconds_left is not None:
        words.append(f"about {format_duration(job.seconds_left)} left")
    return JobSummary(
        state=job.get_state_display(),
        tone=tone_of(job.state),
        step=job.step if running else "",
        message=_message(job),
        speed=", ".join(words),
    )


def as_json(job: Job, *, after: int | None = None) -> dict[str, Any]:
    """Return the state for the script that updates the page, with lines of the log newer than `after`."""
    words = shown(job)
    newer = job.lines.filter(pk__gt=after)[:LINES_PER_PAGE] if after is not None else []
    return {
        "state": words.state,
        "tone": words.tone,
        "done": job.steps_done,
        "total": job.steps_total,
        "step": words.step,
        "message": words.message,
        "speed": words.speed,
        "finished": job.ended,
        "lines": _lines(newer),
    }


def pace_in_words(rate: float) -> str:
    """Return a rate in steps per second, minute or hour: the first unit in which it is at least 1."""
    for seconds, unit in ((1, "second"), (60, "minute"), (3600, "hour")):
        if rate * seconds >= 1 or unit == "hour":
            number, article = rate * seconds, "an" if unit == "hour" else "a"
            return f"{number:,.0f} {article} {unit}" if number >= 10 else f"{number:.1f} {article} {unit}"
    raise AssertionError("an hour is the last unit")


def _message(job: Job) -> str:
    if job.state != Job.State.QUEUED:
        return "The job will stop after this step." if job.cancel_requested and not job.ended else job.message
    now = timezone.now()
    if job.wait_until is not None and job.wait_until > now:
        wait = format_duration((job.wait_until - now).total_seconds())
        if job.deaths:
            return f"The worker that was running this job stopped unexpectedly. The job will be tried again in {wait}."
        return f"This job is waiting. The job will continue in {wait}."
    if job.queue not in workers.queues_with_workers():
        return (
            f"No worker takes jobs from the queue “{job.queue}” now. The job starts as soon as a worker for "
            "this queue starts."
        )
    return "The job starts as soon as a worker is free."


def _lines(lines: Iterable[JobLine]) -> list[dict[str, Any]]:
    return [
        {"id": line.pk, "at": line.at.isoformat(), "time": clock(line), "text": line.text} for line in lines
    ]


def clock(line: JobLine) -> str:
    """Return the local time of a line as `HH:MM:SS`."""
    return timezone.localtime(line.at).strftime("%H:%M:%S")
