"""Every page that a lead can open of a campaign of 300,000 images, a million screens and five million judgements.

On PostgreSQL, in a separate database that is dropped at the end: some minutes and 5 GiB of disk, so it is
measured only when named. The median of five requests counts for each page, at most 500 ms on the server; pages that
are polled every five seconds at most 100 ms. Pages with separately counted numbers are measured after the count,
whose time is also reported. `processor` is the time of the web server's thread and of the
database's process together.
"""

import json
import os
import statistics
import sys
import tempfile
import time
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any
from uuid import uuid4

from benchmarks.table import Row
from benchmarks.web_server import ROOT, own_database, platform, postgres_address, processor_seconds

LIMIT_MS, POLLED_MS = 500.0, 100.0
_MOST_SECONDS_COUNTED = 1_800.0
_STUDY = "/studies/large/"
_CAMPAIGN = f"{_STUDY}campaigns/marking/"
POLLED = (f"{_CAMPAIGN}progress/",)
# {names} are found in the database. Deep pages begin in the middle of the rows.
PAGES = (
    *POLLED,
    "/studies/",
    _STUDY,
    f"{_STUDY}members/",
    f"{_STUDY}consent/",
    f"{_STUDY}history/",
    f"{_STUDY}history/?after={{audit}}",
    f"{_STUDY}images/",
    f"{_STUDY}images/?after={{image}}",
    f"{_STUDY}images/?group=People+7",
    f"{_STUDY}images/?model=model+one",
    f"{_STUDY}images/not-made/",
    f"{_STUDY}images/generate/",
    f"{_STUDY}image-reports/",
    f"{_STUDY}campaigns/",
    f"{_STUDY}campaigns/new/",
    _CAMPAIGN,
    f"{_CAMPAIGN}settings/",
    f"{_CAMPAIGN}extend/",
    f"{_CAMPAIGN}extend/?annotators=4",
    f"{_CAMPAIGN}copy/",
    f"{_CAMPAIGN}guidelines/",
    f"{_CAMPAIGN}preview/",
    f"{_CAMPAIGN}close/confirm/",
    f"{_CAMPAIGN}quality/",
    f"{_CAMPAIGN}who/",
    f"{_CAMPAIGN}who/?page=10",
    f"{_CAMPAIGN}who/screens/",
    f"{_CAMPAIGN}who/screens/?after={{task}}",
    f"{_CAMPAIGN}annotators/",
    f"{_CAMPAIGN}annotators/?page=5",
    f"{_CAMPAIGN}annotators/{{enrolment}}/pause/",
    f"{_CAMPAIGN}annotators/{{enrolment}}/exclude/",
    f"{_CAMPAIGN}pay/",
    f"{_CAMPAIGN}checks/",
    f"{_CAMPAIGN}checks/new/",
    f"{_CAMPAIGN}checks/new/?after={{image}}",
    f"{_CAMPAIGN}invitations/",
    f"{_CAMPAIGN}annotations/",
    f"{_CAMPAIGN}annotations/?after={{annotation}}",
    f"{_CAMPAIGN}annotations/?last=1",
    f"{_CAMPAIGN}annotations/?annotator={{pseudonym}}",
    f"{_CAMPAIGN}annotations/?status=excluded",
    f"{_CAMPAIGN}annotations/?task={{task_id}}",
    f"{_CAMPAIGN}annotations/?image={{image_id}}",
    f"{_CAMPAIGN}annotations/{{annotation}}/",
    f"{_CAMPAIGN}label-studio/",
    f"{_STUDY}results/",
    f"{_STUDY}releases/",
    f"{_STUDY}scoring/",
    f"{_STUDY}scoring/new/",
    "/jobs/",
    "/jobs/?after={job}",
    "/jobs/?state=failed",
    "/api/v1/campaigns/{campaign}/progress/",
    "/api/v1/campaigns/{campaign}/annotators/",
    "/api/v1/studies/",
)


def run() -> Iterable[Row]:
    """Create the campaign, open every page in a separate process, and drop the database."""
    address = postgres_address()
    if address is None:
        yield Row(
            "pages of a campaign of 1,000,000 screens", "no PostgreSQL answers", f"≤ {LIMIT_MS:.0f} ms", None
        )
        return
    with (
        tempfile.TemporaryDirectory() as folder,
        own_database(address, f"stereoscope_bench_{uuid4().hex[:8]}") as url,
        platform(url, "PostgreSQL", Path(folder)) as installation,
    ):
        start = time.perf_counter()
        installation.run("-m", "benchmarks.annotation.pages_large", "make")
        yield Row(
            "1,000,000 screens, 5,000,000 judgements: made", f"{time.perf_counter() - start:.0f} s", "", None
        )
        for line in installation.run("-m", "benchmarks.annotation.pages_large", "pages").splitlines():
            yield _row(json.loads(line))


def _row(page: dict[str, Any]) -> Row:
    if "counted" in page:
        frequency = f"{page['seconds']:.1f} s, at most every {20 * page['seconds']:.0f} s"
        return Row(f"  counted beside the pages: {page['counted']}", frequency, "", None)
    limit = POLLED_MS if page["path"] in POLLED else LIMIT_MS
    measured = f"{page['ms']:.0f} ms, {page['processor']:.0f} of processor (status {page['status']})"
    return Row(page["path"], measured, f"≤ {limit:.0f} ms", page["status"] == 200 and page["ms"] <= limit)


def _pages() -> Iterator[dict[str, Any]]:
    from django.db import connection
    from django.test import Client

    from accounts.models import User
    from annotation.models import CampaignSnapshot

    client = Client(headers={"host": "127.0.0.1"}, raise_request_exception=False)
    client.force_login(User.objects.get(username="bench"))
    connection.ensure_connection()
    backend = connection.connection.info.backend_pid
    keys = _keys()
    chosen = sys.argv[2:]
    paths = [path for path in PAGES if not chosen or any(fragment in path for fragment in chosen)]
    for path in paths:  # the first request starts the separate count
        client.get(path.format(**keys))
    until = time.monotonic() + _MOST_SECONDS_COUNTED
    while CampaignSnapshot.objects.filter(counted_at=None).exists() and time.monotonic() < until:
        time.sleep(0.5)
    for path in paths:
        address, times = path.format(**keys), []
        client.get(address)
        before = time.thread_time() + processor_seconds(backend)
        for _ in range(5):
            start = time.perf_counter()
            answer = client.get(address)
            times.append(1000 * (time.perf_counter() - start))
        processor = 200 * (time.thread_time() + processor_seconds(backend) - before)
        yield {
            "path": path,
            "status": answer.status_code,
            "ms": statistics.median(times),
            "processor": processor,
        }
    for snapshot in CampaignSnapshot.objects.order_by("subject", "argument"):
        yield {"counted": f"{snapshot.subject} {snapshot.argument}".strip(), "seconds": snapshot.seconds}


def _keys() -> dict[str, Any]:
    from annotation.models import Annotation, Campaign, Task
    from generation.models import Image
    from jobs.models import Job
    from studies.models import AuditEntry

    campaign = Campaign.objects.get()
    enrolment = campaign.enrolments.select_related("annotator").order_by("pk")[100]
    task, image = Task.objects.get(pk=1000), Image.objects.get(pk=150_000)
    return {
        "campaign": campaign.pk,
        "enrolment": enrolment.pk,
        "pseudonym": enrolment.annotator.pseudonym,
        "task": 500_000,
        "task_id": task.public_id,
        "image": image.pk,
        "image_id": image.public_id,
        "annotation": Annotation.objects.get(pk=500_000).pk,
        "audit": AuditEntry.objects.order_by("pk")[50_000].pk,
        "job": Job.objects.order_by("pk")[50_000].pk,
    }


def main(step: str) -> None:
    """Create the campaign in the database of `DATABASE_URL`, or time its pages, and print the measurements."""
    sys.path.insert(0, str(ROOT / "platform"))
    os.environ["DJANGO_SETTINGS_MODULE"] = "config.settings"
    import django

    django.setup()
    if step == "make":
        from benchmarks.annotation import large_campaign

        large_campaign.main()
    else:
        from foundation.call_stack import in_one_chunk

        # As in the web server, whose threads keep their calls in one chunk of memory.
        for measured in in_one_chunk(list)(_pages()):
            print(json.dumps(measured))


if __name__ == "__main__":
    main(sys.argv[1])
