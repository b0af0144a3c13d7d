"""Everything in a Label Studio compared with what is known here: 30,000 annotations of a real server, counted.

The server is started for this and its annotations are written into its database, as people would take weeks; they
are read over its API like any others.
"""

import json
import sqlite3
import tempfile
import uuid
from collections.abc import Iterable, Iterator
from contextlib import closing
from pathlib import Path

import pytest

from benchmarks.label_studio_settle import PER_TASK
from benchmarks.table import Row
from benchmarks.web_server import Platform, own_database, platform, postgres_address
from tests.services.label_studio.server import LabelStudio, label_studio_server

ANNOTATIONS = 30_000
PEOPLE = 3
LIMIT_SECONDS = 60.0
LIMIT_MEBIBYTES = 300.0
_SITE = "https://stereoscope.example.org"
_CODE = "import json\nfrom benchmarks.{module} import {what}\nprint(json.dumps({what}({arguments})))"


def run() -> Iterable[Row]:
    """Measure on SQLite and, where it answers, on PostgreSQL as our own database."""
    claim = f"{ANNOTATIONS:,} annotations in Label Studio compared and counted"
    try:
        with label_studio_server() as there, tempfile.TemporaryDirectory() as name:
            folder = Path(name)
            with platform(f"sqlite:///{folder / 'ours.sqlite3'}", "SQLite", folder) as made:
                yield from _rows(claim, made, there)
            if address := postgres_address():
                with (
                    own_database(address, f"bench_{uuid.uuid4().hex[:8]}") as url,
                    platform(url, "PostgreSQL", folder) as made,
                ):
                    yield from _rows(claim, made, there)
    except pytest.skip.Exception as reason:
        yield Row(f"{claim}: not measured: {reason}"[:300], "", f"≤ {LIMIT_SECONDS:.0f} s", None)


def _rows(claim: str, ours: Platform, there: LabelStudio) -> Iterator[Row]:
    ours.environment.update(SITE_URL=_SITE, LABEL_STUDIO_ALLOWED_HOSTS="127.0.0.1")
    campaign = ours.campaign(tasks=ANNOTATIONS // PER_TASK, annotators=PEOPLE)["campaign"]
    users = [person.id for person in there.annotators[:PEOPLE]]
    pushed = ask(ours, "send", f"{campaign}, {there.url!r}, {there.owner.token!r}, {users}")
    _label(there, pushed["project"], pushed["tasks"], pushed["result"], users)
    first = ask(ours, "pull", str(campaign))
    again = ask(ours, "pull", str(campaign))
    yield Row(
        f"{claim}, {ours.database}",
        f"{first['seconds']:.0f} s",
        f"≤ {LIMIT_SECONDS:.0f} s",
        first["seconds"] <= LIMIT_SECONDS and first["counted"] == ANNOTATIONS,
    )
    yield Row(f"  with nothing new, {ours.database}", f"{again['seconds']:.0f} s", "", None)
    peak = max(first["mebibytes"], again["mebibytes"])
    yield Row(
        f"  memory of the whole process, {ours.database}",
        f"{peak:.0f} MiB",
        f"≤ {LIMIT_MEBIBYTES:.0f} MiB",
        peak <= LIMIT_MEBIBYTES,
    )


def ask(ours: Platform, what: str, arguments: str, *, module: str = "label_studio_pull") -> dict:
    """Call a function of a benchmark in the platform, in a process of its own."""
    code = _CODE.format(module=module, what=what, arguments=arguments)
    return dict(json.loads(ours.run("manage.py", "shell", "-v", "0", "-c", code).splitlines()[-1]))


def send(campaign_id: int, url: str, token: str, users: list[int]) -> dict:
    """Have a campaign labelled there, send its tasks, and say who the users are; run in the platform."""
    from annotation.bridge.bridging import begin
    from annotation.bridge.connecting import connect
    from annotation.bridge.pushing import push
    from annotation.models import Campaign, LabelStudioUser
    from tests.services.label_studio.hands import marked

    campaign = Campaign.objects.get(pk=campaign_id)
    server = connect(study=campaign.study, url=url, token=token, by=None)
    bridge = begin(campaign=campaign, server=server, arrangement="shared", by=None)
    push(bridge=bridge, by=None)
    people = campaign.enrolments.order_by("pk").values_list("annotator", flat=True)
    for number, annotator in zip(users, people, strict=True):
        LabelStudioUser.objects.create(
            server=server, external_id=number, annotator_id=annotator, state=LabelStudioUser.State.MAPPED
        )
    [project] = bridge.projects.all()
    asked = campaign.tasks.earliest("pk").task_attributes.order_by("position")
    return {
        "project": project.external_id,
        "tasks": list(project.tasks.order_by("external_id").values_list("external_id", flat=True)),
        "result": marked(*asked.values_list("attribute__text", flat=True)),
    }


def pull(campaign_id: int) -> dict:
    """Compare everything as the job does; run in the platform, in a process that does nothing else."""
    import resource
    import time

    from annotation.bridge import queueing
    from annotation.models import Annotation, LabelStudioBridge
    from jobs.progress import Unwatched

    bridge = LabelStudioBridge.objects.select_related("campaign").get(campaign=campaign_id)
    started = time.perf_counter()
    queueing.do_here(queueing.RECONCILE, bridge=bridge, by=None, progress=Unwatched())
    seconds = time.perf_counter() - started
    return {
        "seconds": seconds,
        "mebibytes": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024,
        "counted": Annotation.objects.filter(campaign=campaign_id, status="accepted", is_latest=True).count(),
    }


def _label(there: LabelStudio, project: int, tasks: list[int], result: list, users: list[int]) -> None:
    """Write an annotation of each user for each task into Label Studio's database."""
    with closing(sqlite3.connect(there.database, timeout=60)) as database, database:
        made = "2026-01-05 09:00:00"
        fixed = {
            "result": json.dumps(result),
            "was_cancelled": 0,
            "ground_truth": 0,
            "created_at": made,
            "updated_at": made,
        }
        fixed |= {"lead_time": 9.5, "result_count": len(result), "project_id": project}
        for user in users:
            row = fixed | {"completed_by_id": user, "updated_by_id": user}
            names = [*row, "task_id"]
            marks = ", ".join("?" for _ in names)
            database.executemany(
                f"INSERT INTO task_completion ({', '.join(names)}) VALUES ({marks})",
                ([*row.values(), task] for task in tasks),
            )
