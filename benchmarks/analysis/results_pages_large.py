"""Results of 10 million judgements: the job that computes them, and every page of them at most 1 s on the server.

The study is created in SQLite as for releases, with ten times the rows: some minutes and 4 GiB of disk, so it is
measured only when named. The job runs as in a worker, here with nothing else in its process; its peak memory
is the largest resident set. The slower of two requests counts for each page.
"""

import json
import os
import resource
import sys
import tempfile
import time
from collections.abc import Iterable, Iterator
from itertools import pairwise
from pathlib import Path
from typing import Any

from benchmarks.analysis.results_pages import request_seconds
from benchmarks.table import Row
from benchmarks.web_server import ROOT, platform

JUDGEMENTS = 10_000_000
STUDY = "large"
LIMIT_SECONDS = 1.0
GROUP = "People 7"
# {image} is an image of the group, {attribute} an attribute asked about it.
PAGES = (
    "results/",
    "results/groups/",
    "results/groups/?map=offensiveness",
    f"results/groups/{GROUP}/",
    f"results/groups/{GROUP}/?page=50",
    "results/groups/images/{image}/",
    "results/attributes/",
    "results/attributes/{attribute}/",
    f"results/attributes/{{attribute}}/?group={GROUP}",
    "results/agreement/",
    "results/disagreement/",
    f"results/disagreement/?group={GROUP}",
    "results/disagreement/?attribute={attribute}",
    f"results/disagreement/?group={GROUP}&attribute={{attribute}}",
    f"results/disagreement/?group={GROUP}&by=gender",
    "results/disagreement/?attribute={attribute}&by=gender",
    "results/annotator-groups/",
    "results/annotators/",
    "results/compare/",
    "results/visual-attributes/",
    "results/report.html",
    "results/tables/likelihood.csv",
    "results/tables.zip",
    "releases/",
)


def run() -> Iterable[Row]:
    """Create the study, compute its results as a job, and time every page; each in a separate process."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        with platform(f"sqlite:///{folder / 'bench.sqlite3'}", "SQLite", folder) as installation:
            installation.run("-m", "benchmarks.analysis.results_pages_large", "make")
            job = json.loads(installation.run("-m", "benchmarks.analysis.results_pages_large", "compute"))
            yield Row(
                f"results of {JUDGEMENTS:,} judgements computed by a job", f"{job['seconds']:.0f} s", "", None
            )
            yield Row("  peak memory", f"{job['peak_mib'] / 1024:.1f} GiB", "", None)
            reports = f"{job['reports']} (longest silence {job['silence']:.0f} s)"
            yield Row("  times it said how far it was", reports, "", None)
            for line in installation.run(
                "-m", "benchmarks.analysis.results_pages_large", "pages"
            ).splitlines():
                path, status, seconds, processor = line.split("\t")
                within_limit = status == "200" and float(seconds) <= LIMIT_SECONDS
                limit = f"≤ {LIMIT_SECONDS * 1000:.0f} ms"
                yield Row(
                    f"{JUDGEMENTS:,} judgements: {path}",
                    f"{float(seconds) * 1000:.0f} ms, {float(processor) * 1000:.0f} of processor (status {status})",
                    limit,
                    within_limit,
                )


def _compute() -> dict[str, float]:
    from accounts.models import User
    from analysis.results import reports
    from analysis.results.parameters import parameters_of
    from jobs.progress.reporter import Unwatched
    from jobs.run.execution import prepare, run_here
    from studies.models import Study

    moments = [time.perf_counter()]

    class Watcher(Unwatched):
        def check_cancelled(self) -> None:  # as often as it reports progress
            moments.append(time.perf_counter())

    study = Study.objects.get(slug=STUDY)
    lead = User.objects.create_user("bench")
    study.memberships.create(user=lead, role="lead")
    job = prepare(
        kind=reports.JOB_KIND,
        title="Compute the results",
        arguments={"study": study.pk, "parameters": parameters_of(study).as_json()},
        by=lead,
        study_id=study.pk,
    )
    run_here(job, Watcher())
    report_count = len(moments) - 1
    moments.append(time.perf_counter())
    return {
        "seconds": moments[-1] - moments[0],
        "reports": report_count,
        "silence": max(later - earlier for earlier, later in pairwise(moments)),
        "peak_mib": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024,
    }


def _times() -> Iterator[str]:
    from django.test import Client

    from accounts.models import User
    from annotation.models import TaskAttribute
    from generation.models import Image

    image = Image.objects.filter(study__slug=STUDY, group__name=GROUP).order_by("pk")[0]
    shown_attribute = TaskAttribute.objects.filter(task__image=image).order_by("pk")[0]
    places: dict[str, Any] = {"image": image.public_id, "attribute": shown_attribute.attribute.text}
    client = Client(headers={"host": "127.0.0.1"})
    client.force_login(User.objects.get(username="bench"))
    for path in PAGES:
        address = f"/studies/{STUDY}/{path.format(**places)}"
        before = time.process_time()
        status, seconds = request_seconds(client, address, times=2)
        processor = (time.process_time() - before) / 3  # including the warm-up
        yield f"{path}\t{status}\t{max(seconds):.4f}\t{processor:.4f}"


def main(step: str) -> None:
    """Create the study, compute its results, or time its pages, and print the measurements."""
    sys.path.insert(0, str(ROOT / "platform"))
    os.environ["DJANGO_SETTINGS_MODULE"] = "config.settings"
    import django

    django.setup()
    if step == "make":
        from benchmarks.analysis.release_study import make

        make(judgements=JUDGEMENTS)
    elif step == "compute":
        print(json.dumps(_compute()))
    else:
        from foundation.call_stack import in_one_chunk

        # As in the web server, whose threads keep their calls in one chunk of memory.
        for line in in_one_chunk(list)(_times()):
            print(line)


if __name__ == "__main__":
    main(sys.argv[1])
