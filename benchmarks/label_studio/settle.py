"""Mirroring 30,000 annotations of Label Studio and making labels of them, without its server."""

import json
import resource
import tempfile
import time
import uuid
from collections.abc import Iterable, Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from benchmarks.table import Row
from benchmarks.web_server import Platform, own_database, platform, postgres_address

ANNOTATIONS = 30_000
PER_TASK = 3
PEOPLE = 9
LIMIT_SECONDS = 25.0
LIMIT_MEBIBYTES = 150.0
_PAGE = 200  # tasks, as in a comparison
_START = datetime(2026, 1, 5, 9, tzinfo=UTC)
_MEASURE = (
    "import json\nfrom benchmarks.label_studio.settle import measure\nprint(json.dumps(measure({campaign})))"
)


def run() -> Iterable[Row]:
    """Measure on SQLite and, if available, on PostgreSQL."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        with platform(f"sqlite:///{folder / 'ours.sqlite3'}", "SQLite", folder) as installation:
            yield from rows(installation)
        if address := postgres_address():
            with (
                own_database(address, f"bench_{uuid.uuid4().hex[:8]}") as url,
                platform(url, "PostgreSQL", folder) as installation,
            ):
                yield from rows(installation)


def rows(installation: Platform) -> Iterator[Row]:
    """Measure on one database, in a separate process."""
    campaign = installation.campaign(tasks=ANNOTATIONS // PER_TASK, annotators=PEOPLE)["campaign"]
    measured = json.loads(installation.shell(_MEASURE.format(campaign=campaign)))
    subject = f"{ANNOTATIONS:,} annotations of a Label Studio"
    yield Row(
        f"{subject} made labels, {installation.database}",
        f"{measured['settle']:.1f} s ({measured['processor']:.1f} s CPU)",
        f"≤ {LIMIT_SECONDS:.0f} s",
        measured["settle"] <= LIMIT_SECONDS and measured["counted"] == ANNOTATIONS,
    )
    yield Row(
        f"{subject} written down before that, {installation.database}",
        f"{measured['mirror']:.1f} s",
        "",
        None,
    )
    yield Row(
        f"{subject} compared again, unchanged, {installation.database}",
        f"{measured['again']:.1f} s",
        "",
        None,
    )
    yield Row(
        f"{subject}: memory beside that of an idle process, {installation.database}",
        f"{measured['mebibytes']:.0f} MiB",
        f"≤ {LIMIT_MEBIBYTES:.0f} MiB",
        measured["mebibytes"] <= LIMIT_MEBIBYTES,
    )


def measure(campaign_id: int) -> dict[str, float]:
    """Mirror and settle a campaign's annotations in this process; return seconds and the memory used."""
    from annotation.label_studio.labels.settle import settle
    from annotation.label_studio.pull.mirror import mirror

    bridge, texts = _bridge(campaign_id)
    before = _mebibytes()
    touched: set[int] = set()
    started = time.perf_counter()
    for project in bridge.projects.order_by("pk"):
        for page in _pages(project, texts):
            touched |= mirror(project=project, annotations=page)
    mirrored, worked = time.perf_counter(), time.process_time()
    settled = settle(bridge=bridge, task_ids=touched)
    settled_at, worked = time.perf_counter(), time.process_time() - worked
    for project in bridge.projects.order_by("pk"):
        for page in _pages(project, texts):
            assert not mirror(project=project, annotations=page)
    return {
        "mirror": mirrored - started,
        "settle": settled_at - mirrored,
        "processor": worked,
        "again": time.perf_counter() - settled_at,
        "mebibytes": _mebibytes() - before,
        "counted": settled.counted,
    }


def _mebibytes() -> float:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def _bridge(campaign_id: int) -> tuple[Any, list[str]]:
    """Set up a campaign as if it had been sent: a project for each answer, and its annotators as users."""
    from annotation.label_studio import models
    from annotation.label_studio.client.encryption import seal
    from annotation.models import Campaign, Task

    campaign = Campaign.objects.select_related("study").get(pk=campaign_id)
    server = models.LabelStudioServer.objects.create(
        study=campaign.study, url="https://labels.example.org", token=seal("none")
    )
    bridge = models.LabelStudioBridge.objects.create(
        campaign=campaign, server=server, address_secret=seal("a"), header_secret=seal("b")
    )
    tasks = list(
        campaign.tasks.filter(purpose=Task.Purpose.LABEL).order_by("pk").values_list("pk", flat=True)
    )
    for slot in range(PER_TASK):
        project = models.LabelStudioProject.objects.create(
            bridge=bridge, slot=slot + 1, external_id=slot + 1, instrument=campaign.instruments.first()
        )
        models.LabelStudioTask.objects.bulk_create(
            (
                models.LabelStudioTask(
                    project=project, task_id=task, external_id=slot * len(tasks) + place + 1
                )
                for place, task in enumerate(tasks)
            ),
            batch_size=5_000,
        )
    people = campaign.enrolments.order_by("pk").values_list("annotator", flat=True)
    for number, annotator in enumerate(people, start=1):
        models.LabelStudioUser.objects.create(
            server=server,
            external_id=number,
            annotator_id=annotator,
            state=models.LabelStudioUser.State.MAPPED,
        )
    task_attributes = campaign.tasks.filter(purpose=Task.Purpose.LABEL).earliest("pk").task_attributes
    return bridge, list(task_attributes.order_by("position").values_list("attribute__text", flat=True))


def _pages(project: Any, texts: list[str]) -> Iterator[list[dict[str, Any]]]:
    numbers = list(project.tasks.order_by("external_id").values_list("external_id", flat=True))
    for start in range(0, len(numbers), _PAGE):
        yield [_annotation(number, project.slot, texts) for number in numbers[start : start + _PAGE]]


def _annotation(number: int, slot: int, texts: list[str]) -> dict[str, Any]:
    # Each project has its own people: consecutive numbers are a man and a woman, as the quota requires.
    user = 1 + (number + 3 * slot + slot % 2) % PEOPLE
    created_at = (_START + timedelta(seconds=number)).isoformat()
    boxes = [
        {
            "id": f"{place}",
            "from_name": "box",
            "to_name": "image",
            "type": "rectanglelabels",
            "original_width": 512,
            "original_height": 512,
            "image_rotation": 0,
            "value": {
                "x": 10.0 + place,
                "y": 100 / 3,
                "width": 20.0,
                "height": 30.0,
                "rotation": 0,
                "rectanglelabels": [text],
            },
        }
        for place, text in enumerate(texts)
    ]
    ticks = {
        "id": "t",
        "from_name": "present",
        "to_name": "image",
        "type": "choices",
        "value": {"choices": texts},
    }
    return {
        "id": number,
        "task": number,
        "completed_by": user,
        "created_username": f"worker{user}@example.org, {user}",
        "updated_by": user,
        "created_at": created_at,
        "updated_at": created_at,
        "was_cancelled": False,
        "lead_time": 9.5,
        "result": [ticks, *boxes],
    }
