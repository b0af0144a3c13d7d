"""Writing down 30,000 annotations of a Label Studio and making labels of them, without the server over there."""

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
_PAGE = 200  # tasks, as a comparison reads them
_START = datetime(2026, 1, 5, 9, tzinfo=UTC)
_MEASURE = (
    "import json\nfrom benchmarks.label_studio.settle import measure\nprint(json.dumps(measure({campaign})))"
)


def run() -> Iterable[Row]:
    """Measure on SQLite and, where it answers, on PostgreSQL."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        with platform(f"sqlite:///{folder / 'ours.sqlite3'}", "SQLite", folder) as made:
            yield from rows(made)
        if address := postgres_address():
            with (
                own_database(address, f"bench_{uuid.uuid4().hex[:8]}") as url,
                platform(url, "PostgreSQL", folder) as made,
            ):
                yield from rows(made)


def rows(made: Platform) -> Iterator[Row]:
    """Measure on one database, in a process of its own."""
    campaign = made.campaign(tasks=ANNOTATIONS // PER_TASK, annotators=PEOPLE)["campaign"]
    said = made.run("manage.py", "shell", "-v", "0", "-c", _MEASURE.format(campaign=campaign))
    found = json.loads(said.splitlines()[-1])
    what = f"{ANNOTATIONS:,} annotations of a Label Studio"
    yield Row(
        f"{what} made labels, {made.database}",
        f"{found['settle']:.1f} s ({found['processor']:.1f} s CPU)",
        f"≤ {LIMIT_SECONDS:.0f} s",
        found["settle"] <= LIMIT_SECONDS and found["counted"] == ANNOTATIONS,
    )
    yield Row(f"{what} written down before that, {made.database}", f"{found['mirror']:.1f} s", "", None)
    yield Row(f"{what} compared again, unchanged, {made.database}", f"{found['again']:.1f} s", "", None)
    yield Row(
        f"{what}: memory beside that of an idle process, {made.database}",
        f"{found['mebibytes']:.0f} MiB",
        f"≤ {LIMIT_MEBIBYTES:.0f} MiB",
        found["mebibytes"] <= LIMIT_MEBIBYTES,
    )


def measure(campaign_id: int) -> dict[str, float]:
    """Mirror and settle a campaign's annotations in this process; return seconds and the memory that took."""
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
    done, worked = time.perf_counter(), time.process_time() - worked
    for project in bridge.projects.order_by("pk"):
        for page in _pages(project, texts):
            assert not mirror(project=project, annotations=page)
    return {
        "mirror": mirrored - started,
        "settle": done - mirrored,
        "processor": worked,
        "again": time.perf_counter() - done,
        "mebibytes": _mebibytes() - before,
        "counted": settled.counted,
    }


def _mebibytes() -> float:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def _bridge(campaign_id: int) -> tuple[Any, list[str]]:
    """Set up a campaign as if it had been sent: a project for each answer, and users who are its annotators."""
    from annotation import models
    from annotation.label_studio.client.encryption import seal

    campaign = models.Campaign.objects.select_related("study").get(pk=campaign_id)
    server = models.LabelStudioServer.objects.create(
        study=campaign.study, url="https://labels.example.org", token=seal("none")
    )
    bridge = models.LabelStudioBridge.objects.create(
        campaign=campaign, server=server, address_secret=seal("a"), header_secret=seal("b")
    )
    tasks = list(
        campaign.tasks.filter(purpose=models.Task.Purpose.LABEL).order_by("pk").values_list("pk", flat=True)
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
    asked = campaign.tasks.filter(purpose=models.Task.Purpose.LABEL).earliest("pk").task_attributes
    return bridge, list(asked.order_by("position").values_list("attribute__text", flat=True))


def _pages(project: Any, texts: list[str]) -> Iterator[list[dict[str, Any]]]:
    numbers = list(project.tasks.order_by("external_id").values_list("external_id", flat=True))
    for start in range(0, len(numbers), _PAGE):
        yield [_annotation(number, project.slot, texts) for number in numbers[start : start + _PAGE]]


def _annotation(number: int, slot: int, texts: list[str]) -> dict[str, Any]:
    # Each project has people of its own: neighbours in number are a man and a woman, as the quota asks.
    user = 1 + (number + 3 * slot + slot % 2) % PEOPLE
    made = (_START + timedelta(seconds=number)).isoformat()
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
        "created_at": made,
        "updated_at": made,
        "was_cancelled": False,
        "lead_time": 9.5,
        "result": [ticks, *boxes],
    }
