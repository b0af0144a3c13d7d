"""A job that leaves a line in a file for each step, so that tests can count what was done."""

import os
import signal
import time
from pathlib import Path

from django.conf import settings

from foundation.errors import DomainError
from jobs.run.registry import register


@register("steps")
def steps(job, progress):
    file = Path(job.arguments["file"])
    done = set(file.read_text().split()) if file.exists() else set()
    total = job.arguments["steps"]
    progress.start(total)
    progress.advance(len(done))
    for step in range(total):
        if str(step) in done:
            continue
        progress.check_cancelled()
        time.sleep(job.arguments.get("seconds", 0))
        with file.open("a") as lines:
            lines.write(f"{step}\n")
        progress.advance(1, f"step {step}")
    return {"summary": f"{total - len(done)} steps done."}


@register("refuse")
def refuse(job, progress):
    raise DomainError("nothing_here", "There is nothing here to work on.")


@register("break")
def break_down(job, progress):
    return {"summary": str(1 / 0)}


@register("kill")
def kill(job, progress):
    os.kill(os.getpid(), signal.SIGKILL)


def inbox():
    """Leave a line each time a worker reads its inboxes."""
    with (Path(settings.VAR) / "inbox").open("a") as lines:
        lines.write("read\n")


def broken_inbox():
    raise ValueError("This inbox cannot be read.")
