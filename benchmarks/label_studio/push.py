"""Sending a campaign's tasks to Label Studio, compared with its own bulk import of the same tasks.

Both use one real server, which is started for this, alternately, and each time a new project.
"""

import json
import statistics
import tempfile
import time
import uuid
from collections.abc import Iterable, Iterator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path

import httpx
import pytest

from benchmarks.table import Row
from benchmarks.web_server import Platform, own_database, platform, postgres_address
from tests.services.label_studio.server import LabelStudio, label_studio_server

TASKS = 10_000
ROUNDS = 3
AT_LEAST = 0.8
_SITE = "https://stereoscope.example.org"
# As in a worker that has pushed before: a small campaign is sent first, without measurement. The bulk import then
# sends the rows of the preceding push.
_PUSH = """
import json, time
from annotation.label_studio.base import connections
from annotation.label_studio.push import lifecycle
from annotation.label_studio.push.sync import push
from annotation.label_studio.push.tasks import rows_of
from annotation.label_studio.models import LabelStudioProject, LabelStudioTask
from annotation.models import Campaign
for pk in {campaigns}:
    campaign = Campaign.objects.get(pk=pk)
    server = connections.connect(study=campaign.study, url="{url}", token="{token}", by=None)
    bridge = lifecycle.begin(campaign=campaign, server=server, arrangement="shared", by=None)
    started = time.perf_counter()
    report = push(bridge=bridge, by=None)
    seconds = time.perf_counter() - started
project = LabelStudioProject.objects.select_related("bridge__campaign").get(bridge=bridge)
tasks = list(LabelStudioTask.objects.filter(project=project).values_list("task", flat=True))
assert report.sent == len(tasks) == {tasks}, report
rows = [row for _, row in rows_of(project, tasks)]
open("{file}", "w").write(json.dumps([{{"data": row}} for row in rows]))
print(json.dumps([seconds, project.external_id]))
"""
_FIRST = 50


def run() -> Iterable[Row]:
    """Measure both on SQLite and, if available, on PostgreSQL as our own database."""
    claim = f"tasks sent to Label Studio beside its own bulk import, {TASKS:,} tasks"
    try:
        with label_studio_server() as label_studio, tempfile.TemporaryDirectory() as folder:
            for context in _platforms(Path(folder)):
                with context as installation:
                    yield _measured(claim, installation, label_studio, Path(folder))
    except (pytest.skip.Exception, httpx.HTTPError) as reason:
        yield Row(f"{claim}: not measured: {reason}"[:300], "", f"≥ {AT_LEAST:.0%}", None)


def _platforms(folder: Path) -> Iterator[AbstractContextManager[Platform]]:
    yield _on_sqlite(folder)
    if address := postgres_address():
        yield _on_postgres(address, folder)


@contextmanager
def _on_sqlite(folder: Path) -> Iterator[Platform]:
    with platform(f"sqlite:///{folder / 'ours.sqlite3'}", "SQLite", folder) as installation:
        yield installation


@contextmanager
def _on_postgres(address: str, folder: Path) -> Iterator[Platform]:
    with (
        own_database(address, f"bench_{uuid.uuid4().hex[:8]}") as url,
        platform(url, "PostgreSQL", folder) as installation,
    ):
        yield installation


def _measured(claim: str, installation: Platform, label_studio: LabelStudio, folder: Path) -> Row:
    installation.environment.update(SITE_URL=_SITE, LABEL_STUDIO_ALLOWED_HOSTS="127.0.0.1")
    pushes, imports = [], []
    for _ in range(ROUNDS):
        campaigns = [
            installation.campaign(tasks=number, annotators=1)["campaign"] for number in (_FIRST, TASKS)
        ]
        file = folder / "rows.json"
        parameters = {
            "campaigns": campaigns,
            "url": label_studio.url,
            "token": label_studio.owner.token,
            "tasks": TASKS,
        }
        seconds, project = json.loads(installation.shell(_PUSH.format(file=file, **parameters)))
        pushes.append(seconds)
        imports.append(_bulk_import(label_studio, project, file.read_bytes()))
    push, bulk = statistics.median(pushes), statistics.median(imports)
    share = bulk / push
    return Row(
        f"{claim}, {installation.database}",
        f"{TASKS / push:,.0f}/s : {TASKS / bulk:,.0f}/s = {share:.0%}",
        f"≥ {AT_LEAST:.0%}",
        share >= AT_LEAST,
    )


def _bulk_import(label_studio: LabelStudio, like: int, body: bytes) -> float:
    """Return the seconds that Label Studio takes to create a project like ours and import the rows in one request."""
    headers = {"Authorization": f"Token {label_studio.owner.token}", "Content-Type": "application/json"}
    with httpx.Client(base_url=label_studio.url, headers=headers, timeout=600, trust_env=False) as http:
        project = http.get(f"/api/projects/{like}/").raise_for_status().json()
        settings = {"title": "bulk", "label_config": project["label_config"], "maximum_annotations": 3}
        started = time.perf_counter()
        bulk_project = http.post("/api/projects/", json=settings).raise_for_status().json()
        http.post(f"/api/projects/{bulk_project['id']}/import", content=body).raise_for_status()
        return time.perf_counter() - started
