"""A full comparison with Label Studio: 30,000 annotations of a real server.

The server is started for this and its annotations are written into its database, because people would take weeks;
they are read over its API like any others.
"""

import json
import sqlite3
import tempfile
import uuid
from collections.abc import Iterable, Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from benchmarks.label_studio.settle import PER_TASK
from benchmarks.table import Row
from benchmarks.web_server import Platform, own_database, platform, postgres_address
from tests.services.label_studio.server import LabelStudio, label_studio_server

ANNOTATIONS = 30_000
PEOPLE = 3
LIMIT_SECONDS = 60.0
LIMIT_MEBIBYTES = 300.0
_SITE = "https://stereoscope.example.org"
_CODE = (
    "import json\nfrom benchmarks.label_studio.{module} import {what}\nprint(json.dumps({what}({arguments})))"
)


# The cheapest arrangement and the usual one: the same annotations in 10,000 tasks of one project, or in 30,000 of
# three.
ARRANGEMENTS = {"shared": "one project", "per_slot": "a project for each answer"}


def run(annotations: int = ANNOTATIONS) -> Iterable[Row]:
    """Measure both arrangements on SQLite and, if available, on PostgreSQL as our own database."""
    claim = f"{annotations:,} annotations in Label Studio compared and counted"
    try:
        with label_studio_server() as label_studio, tempfile.TemporaryDirectory() as name:
            folder = Path(name)
            for arrangement in ARRANGEMENTS:
                database = f"sqlite:///{folder / f'{arrangement}.sqlite3'}"
                with platform(database, "SQLite", folder) as installation:
                    yield from _rows(claim, installation, label_studio, arrangement, annotations)
            if address := postgres_address():
                for arrangement in ARRANGEMENTS:
                    with (
                        own_database(address, f"bench_{uuid.uuid4().hex[:8]}") as url,
                        platform(url, "PostgreSQL", folder) as installation,
                    ):
                        yield from _rows(claim, installation, label_studio, arrangement, annotations)
    except pytest.skip.Exception as reason:
        yield Row(f"{claim}: not measured: {reason}"[:300], "", f"≤ {LIMIT_SECONDS:.0f} s", None)


def _rows(
    claim: str, installation: Platform, label_studio: LabelStudio, arrangement: str, annotations: int
) -> Iterator[Row]:
    installation.environment.update(SITE_URL=_SITE, LABEL_STUDIO_ALLOWED_HOSTS="127.0.0.1")
    campaign = installation.campaign(tasks=annotations // PER_TASK, annotators=PEOPLE)["campaign"]
    users = [person.id for person in label_studio.annotators[:PEOPLE]]
    arguments = f"{campaign}, {label_studio.url!r}, {label_studio.owner.token!r}, {users}, {arrangement!r}"
    pushed = ask(installation, "send", arguments)
    number = 0
    for place, project in enumerate(pushed["projects"]):
        # In a project for each answer, each person works in their own.
        project_users = users if arrangement == "shared" else users[place : place + 1]
        _label(label_studio, project["project"], project["tasks"], pushed["result"], project_users)
        number += len(project["tasks"])
    first_pull = ask(installation, "pull", str(campaign))
    again = ask(installation, "pull", str(campaign))
    where = f"{ARRANGEMENTS[arrangement]} ({number:,} tasks), {installation.database}"
    complete = first_pull["counted"] == annotations
    # Most of the time is Label Studio's own, which responds per task, so three times the tasks take longer.
    limited = arrangement == "shared"
    limit = LIMIT_SECONDS * annotations / ANNOTATIONS
    yield Row(
        f"{claim}, {where}",
        f"{first_pull['seconds']:.0f} s",
        f"≤ {limit:.0f} s" if limited else "all counted",
        complete and (not limited or first_pull["seconds"] <= limit),
    )
    yield Row(f"  with nothing new, {where}", f"{again['seconds']:.0f} s", "", None)
    peak = max(first_pull["mebibytes"], again["mebibytes"])
    yield Row(
        f"  memory of the whole process, {where}",
        f"{peak:.0f} MiB",
        f"≤ {LIMIT_MEBIBYTES:.0f} MiB",
        peak <= LIMIT_MEBIBYTES,
    )


def ask(installation: Platform, function: str, arguments: str, *, module: str = "pull") -> dict[str, Any]:
    """Call a function of a benchmark inside the platform, in a separate process."""
    code = _CODE.format(module=module, what=function, arguments=arguments)
    return dict(json.loads(installation.shell(code)))


def send(
    campaign_id: int, url: str, token: str, users: list[int], arrangement: str = "shared"
) -> dict[str, Any]:
    """Set up labelling of a campaign there, send its tasks, and return its users; runs inside the platform."""
    from annotation.label_studio.base.connections import connect
    from annotation.label_studio.models import LabelStudioUser
    from annotation.label_studio.push.lifecycle import begin
    from annotation.label_studio.push.sync import push
    from annotation.models import Campaign
    from tests.services.label_studio.annotators import marked

    campaign = Campaign.objects.get(pk=campaign_id)
    server = connect(study=campaign.study, url=url, token=token, by=None)
    bridge = begin(campaign=campaign, server=server, arrangement=arrangement, by=None)
    push(bridge=bridge, by=None)
    people = campaign.enrolments.order_by("pk").values_list("annotator", flat=True)
    for number, annotator in zip(users, people, strict=True):
        LabelStudioUser.objects.create(
            server=server, external_id=number, annotator_id=annotator, state=LabelStudioUser.State.MAPPED
        )
    task_attributes = campaign.tasks.earliest("pk").task_attributes.order_by("position")
    return {
        "projects": [
            {
                "project": project.external_id,
                "tasks": list(project.tasks.order_by("external_id").values_list("external_id", flat=True)),
            }
            for project in bridge.projects.order_by("slot")
        ],
        "result": marked(*task_attributes.values_list("attribute__text", flat=True)),
    }


def pull(campaign_id: int) -> dict[str, float]:
    """Compare everything as the job does; runs inside the platform, in a process with no other work."""
    import resource
    import time

    from annotation.label_studio.base import job_queue
    from annotation.label_studio.models import LabelStudioBridge
    from annotation.models import Annotation
    from jobs.progress.reporter import Unwatched

    bridge = LabelStudioBridge.objects.select_related("campaign").get(campaign=campaign_id)
    started = time.perf_counter()
    job_queue.do_here(job_queue.RECONCILE, bridge=bridge, by=None, progress=Unwatched())
    seconds = time.perf_counter() - started
    return {
        "seconds": seconds,
        "mebibytes": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024,
        "counted": Annotation.objects.filter(campaign=campaign_id, status="accepted", is_latest=True).count(),
    }


def _label(
    label_studio: LabelStudio, project: int, tasks: list[int], result: list[dict[str, Any]], users: list[int]
) -> None:
    """Write an annotation of each user for each task into Label Studio's database."""
    with closing(sqlite3.connect(label_studio.database, timeout=60)) as database, database:
        created_at = "2026-01-05 09:00:00"
        fixed = {
            "result": json.dumps(result),
            "was_cancelled": 0,
            "ground_truth": 0,
            "created_at": created_at,
            "updated_at": created_at,
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
