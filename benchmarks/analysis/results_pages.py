"""The pages of results of the released ViSAGe study, timed on the server: each at most 300 ms (median of seven).

The first line is the time of a page with the map; its files, drawn from Vega-Lite, are also timed, without
a limit and once after a warm-up, because only people who download them wait for them.
"""

import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterable, Iterator
from typing import Any

from benchmarks.analysis.analyze import FILES, ROOT
from benchmarks.table import Row

STUDY = "visage"
LIMIT_MS = 300.0
GROUP = "Indian"  # the largest: 4,060 judgements
# "" is the overview. {image} is an image of the group.
PAGES = (
    "groups/?map=theta",
    "",
    "groups/?map=offensiveness",
    "groups/?map=stereotypes",
    f"groups/{GROUP}/",
    "groups/images/{image}/",
    "attributes/",
    f"attributes/dark/?group={GROUP}",
    "agreement/",
    "disagreement/",
    f"disagreement/?group={GROUP}",
    "disagreement/?attribute=poor",
    "annotator-groups/",
    "annotators/",
    "compare/",
    "visual-attributes/",
    "report.html",
)
DOWNLOADS = ("plots/theta.svg", "plots/map-theta.svg", "plots/map-theta.png")


def run() -> Iterable[Row]:
    """Import the study into SQLite, compute its results, and time every page in a separate process."""
    if missing := next((file for file in FILES.values() if not file.is_file()), None):
        yield Row("pages of results of the released ViSAGe study", f"no {missing.name}", "", None)
        return
    with tempfile.TemporaryDirectory() as folder:
        environment = os.environ | {"STEREOSCOPE_VAR": folder, "LOG_LEVEL": "ERROR"}
        environment.pop("DATABASE_URL", None)
        files = [str(part) for pair in FILES.items() for part in pair]
        for command in (
            ["manage.py", "migrate", "-v", "0"],
            ["manage.py", "import_visage", "--study", STUDY, *files],
        ):
            _run(command, environment)
        printed = _run(["-m", "benchmarks.analysis.results_pages"], environment)
    for line in printed.splitlines():
        path, status, milliseconds, limited = line.split("\t")
        within_limit = status == "200" and float(milliseconds) <= LIMIT_MS
        measured = f"{float(milliseconds):.0f} ms (status {status})"
        limit = f"≤ {LIMIT_MS:.0f} ms" if limited == "page" else "no limit"
        yield Row(f"ViSAGe: results/{path}", measured, limit, within_limit or limited != "page")


def _run(command: list[str], environment: dict[str, str]) -> str:
    timing = subprocess.run(
        [sys.executable, *command], cwd=ROOT, env=environment, check=True, capture_output=True, text=True
    )
    return timing.stdout


def _times() -> Iterator[str]:
    os.environ["DJANGO_SETTINGS_MODULE"] = "config.settings"
    import django

    django.setup()
    from django.test import Client

    from accounts.models import User
    from analysis.results.parameters import parameters_of
    from analysis.results.reports import compute_report
    from generation.models import Image
    from studies.models import Study

    study = Study.objects.get(slug=STUDY)
    compute_report(study=study, parameters=parameters_of(study), by=None)
    image = Image.objects.filter(study=study, group__name=GROUP).order_by("pk")[0].public_id
    client = Client(headers={"host": "127.0.0.1"})
    lead = User.objects.create_user("bench")
    study.memberships.create(user=lead, role="lead")
    client.force_login(lead)
    for path in PAGES:
        yield _line(client, path, path.format(image=image), 7, "page")
    for path in DOWNLOADS:
        yield _line(client, path, path, 1, "download")


def _line(client: Any, name: str, path: str, times: int, kind: str) -> str:
    status, seconds = request_seconds(client, f"/studies/{STUDY}/results/{path}", times=times)
    return f"{name}\t{status}\t{statistics.median(seconds) * 1000:.2f}\t{kind}"


def request_seconds(client: Any, address: str, *, times: int) -> tuple[int, list[float]]:
    """Return the status of a page and, after this warm-up, the seconds of each of `times` requests."""
    status = client.get(address).status_code
    seconds = []
    for _ in range(times):
        start = time.perf_counter()
        client.get(address)
        seconds.append(time.perf_counter() - start)
    return status, seconds


if __name__ == "__main__":
    sys.path.insert(0, str(ROOT / "platform"))
    from foundation.call_stack import in_one_chunk

    # As in the web server, whose threads keep their calls in one chunk of memory.
    for line in in_one_chunk(list)(_times()):
        print(line)
