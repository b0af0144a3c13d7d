"""The demo's pages, timed on the server: each at most 100 ms (median of seven, after one warm-up)."""

import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterable, Iterator
from pathlib import Path

from benchmarks.table import Row

ROOT = Path(__file__).resolve().parents[1]
LIMIT_MS = 100.0


def run() -> Iterable[Row]:
    """Seed a demo in a separate folder, then time every page of each role in a separate process."""
    with tempfile.TemporaryDirectory() as folder:
        environment = os.environ | {"STEREOSCOPE_DEMO": "1", "STEREOSCOPE_VAR": folder, "LOG_LEVEL": "ERROR"}
        environment.pop("DATABASE_URL", None)
        for command in (["migrate", "-v", "0"], ["seed_demo"]):
            subprocess.run(
                [sys.executable, "manage.py", *command],
                cwd=ROOT,
                env=environment,
                check=True,
                capture_output=True,
            )
        printed = subprocess.run(
            [sys.executable, "-m", "benchmarks.pages"],
            cwd=ROOT,
            env=environment,
            check=True,
            capture_output=True,
            text=True,
        ).stdout
    for line in printed.splitlines():
        role, path, status, milliseconds = line.split("\t")
        within_limit = status == "200" and float(milliseconds) <= LIMIT_MS
        yield Row(
            f"{role}: {path}",
            f"{float(milliseconds):.0f} ms (status {status})",
            f"≤ {LIMIT_MS:.0f} ms",
            within_limit,
        )


def _time_pages() -> Iterator[str]:
    os.environ["DJANGO_SETTINGS_MODULE"] = "config.settings"
    import django

    django.setup()
    from django.conf import settings
    from django.test import Client

    from accounts import profiles
    from accounts.models import Annotator, User
    from demo.pages import pages_by_role
    from studies import consent
    from studies.models import Study

    # Task screens require consent and answers about oneself; other annotators are redirected there first.
    annotator = Annotator.objects.get(user__username="annotator")
    for study in Study.objects.all():
        consent.give(annotator=annotator, text=consent.current_text(study))
    profiles.describe(annotator=annotator)

    names = {account["role"]: account["username"] for account in settings.DEMO_ACCOUNTS}
    for role, paths in pages_by_role().items():
        client = Client(headers={"host": "127.0.0.1"})
        client.force_login(User.objects.get(username=names[role]))
        for path in paths:
            response = client.get(path)
            times = []
            for _ in range(7):
                start = time.perf_counter()
                client.get(path)
                times.append(time.perf_counter() - start)
            yield f"{role}\t{path}\t{response.status_code}\t{statistics.median(times) * 1000:.2f}"


if __name__ == "__main__":
    sys.path.insert(0, str(ROOT / "platform"))
    from foundation.call_stack import in_one_chunk

    # As in the web server, whose threads keep their calls in one chunk of memory.
    for line in in_one_chunk(list)(_time_pages()):
        print(line)
