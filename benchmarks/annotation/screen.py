"""The marking screen in Chromium against a real server: bytes, time to the picture, time from Submit to the next.

    python -m benchmarks screen        (make bench)

gunicorn with two workers, PostgreSQL if available, else SQLite; 512-pixel pictures, each asked about once.
The picture counts as painted when the browser reports its paint (Element Timing). Submit is clicked with the mouse
after ‘None of the above’, fifty times by one annotator without thinking time.
"""

import json
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.request
from collections.abc import Iterable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field, replace
from functools import cache
from pathlib import Path
from typing import Any

import psycopg

from benchmarks.import_visage import _postgres, _sqlite
from benchmarks.table import Row

ROOT = Path(__file__).resolve().parents[2]
PORT = 8437
SUBMITS = 50
COLD_OPENS = 7
PICTURES = SUBMITS + 12
# Measured on two idle cores: 328 to 506 ms to open, 73 to 76 ms to the next picture.
LIMITS = {"cold_kb": 150.0, "task_kb": 10.0, "open_ms": 500.0, "median_ms": 90.0, "p95_ms": 150.0}
WATCH = """
window.painted = [];
new PerformanceObserver((list) => {
  for (const entry of list.getEntries()) painted.push({at: entry.renderTime || entry.loadTime, url: entry.url});
}).observe({type: "element", buffered: true});
new MutationObserver(() => document.querySelector("[data-image]")?.setAttribute("elementtiming", "picture"))
  .observe(document, {childList: true, subtree: true});
"""
PAINTED = (
    "painted.filter((one) => one.url.endsWith(document.querySelector('[data-image]').getAttribute('src')))"
)


@dataclass
class Measured:
    """The measurements of one run of the browser."""

    cold_bytes: list[int] = field(default_factory=list)
    opened: list[float] = field(default_factory=list)
    task_bytes: list[int] = field(default_factory=list)
    submitted: list[float] = field(default_factory=list)
    database: str = ""


def run() -> Iterable[Row]:
    """Serve, measure, and compare with the limits."""
    measured = measure()
    if measured is None:
        yield Row("the marking screen in Chromium", "no Chromium found", "", None)
    else:
        yield from _rows(measured)


@cache
def measure() -> Measured | None:
    """Measure the screen, once for all benchmarks that use it; return None without a browser."""
    browser = _browser_path()
    if browser is None:
        return None
    with tempfile.TemporaryDirectory() as folder, ExitStack() as stack:
        try:
            url, label = stack.enter_context(_postgres(Path(folder))), "PostgreSQL"
        except psycopg.OperationalError:
            url, label = stack.enter_context(_sqlite(Path(folder))), "SQLite"
        environment = os.environ | {
            "DATABASE_URL": url, "STEREOSCOPE_VAR": folder, "LOG_LEVEL": "ERROR", "STATIC_COLLECTED": "yes",
        }  # fmt: skip
        seeded = _seed(environment)
        with _server(environment):
            return replace(_look(browser, seeded), database=label)


def _rows(measured: Measured) -> Iterator[Row]:
    where = f"two workers, {measured.database}"
    p95 = statistics.quantiles(measured.submitted, n=20)[18]
    median = statistics.median(measured.submitted)
    figures = {
        "cold_kb": ("transferred cold without the picture", max(measured.cold_bytes) / 1000, "kB"),
        "task_kb": ("transferred for a further task without the picture", max(measured.task_bytes) / 1000, "kB"),
        "open_ms": (f"open → picture painted, cold, median of {COLD_OPENS}", statistics.median(measured.opened), "ms"),
        "median_ms": (f"Submit → next picture painted, median of {SUBMITS}", median, "ms"),
        "p95_ms": (f"Submit → next picture painted, p95 of {SUBMITS}", p95, "ms"),
    }  # fmt: skip
    for name, (claim, value, unit) in figures.items():
        limit = LIMITS[name]
        yield Row(
            f"marking screen, {claim}, {where}",
            f"{value:.1f} {unit}",
            f"≤ {limit:.0f} {unit}",
            value <= limit,
        )


def _browser_path() -> str | None:
    configured = os.environ.get("STEREOSCOPE_CHROMIUM")
    return (
        configured
        or shutil.which("chromium")
        or shutil.which("chromium-browser")
        or shutil.which("google-chrome")
    )


def _seed(environment: dict[str, str]) -> dict[str, Any]:
    """Create the database, the compressed files and a campaign; return how to open it."""
    for command in (["migrate"], ["collectstatic", "--noinput"]):
        manage = [sys.executable, "manage.py", *command, "-v", "0", "--skip-checks"]
        subprocess.run(manage, cwd=ROOT, env=environment, check=True, capture_output=True)
    seed = [sys.executable, "-m", "benchmarks.annotation.screen"]
    printed = subprocess.run(
        seed, cwd=ROOT, env=environment, check=True, capture_output=True, text=True
    ).stdout
    times: dict[str, Any] = json.loads(printed)
    return times


@contextmanager
def _server(environment: dict[str, str]) -> Iterator[None]:
    command = [
        *(sys.executable, "-m", "gunicorn", "config.wsgi", "--pythonpath", "platform", "--workers", "2"),
        *(
            "--threads",
            "4",
            "--bind",
            f"127.0.0.1:{PORT}",
            "--preload",
            "--log-level",
            "error",
            "--no-control-socket",
        ),
    ]
    process = subprocess.Popen(command, cwd=ROOT, env=environment)
    try:
        _wait(process)
        yield
    finally:
        process.terminate()
        process.wait(timeout=20)


def _wait(process: subprocess.Popen[bytes]) -> None:
    deadline = time.monotonic() + 60
    while time.monotonic() < deadline and process.poll() is None:
        try:
            with urllib.request.urlopen(f"http://127.0.0.1:{PORT}/readyz", timeout=5):
                return
        except (urllib.error.URLError, OSError):
            time.sleep(0.2)
    raise RuntimeError("the server did not start")


def _look(executable: str, seeded: dict[str, Any]) -> Measured:
    from playwright.sync_api import sync_playwright

    measured = Measured()
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=executable, args=["--no-sandbox"])
        for _ in range(COLD_OPENS + 1):  # the first open warms up the server, not the browser
            _open(browser, seeded, measured).context.close()
        measured.opened.pop(0)
        measured.cold_bytes.pop(0)
        page = _open(browser, seeded, measured)
        for _ in range(SUBMITS):
            _submit(page, measured)
        browser.close()
    return measured


def _open(browser: Any, seeded: dict[str, Any], measured: Measured) -> Any:
    """Open the task in a new browser profile, and wait until its picture is painted."""
    context = browser.new_context(viewport={"width": 1280, "height": 800})
    address = f"http://127.0.0.1:{PORT}"
    context.add_cookies([{"name": "stereoscope_session", "value": seeded["session"], "url": address}])
    page = context.new_page()
    page.add_init_script(WATCH)
    _count_bytes(page)
    page.goto(f"{address}/annotate/{seeded['campaign']}/")
    measured.opened.append(_painted(page))
    page.locator("[data-drawing]:not([hidden])").wait_for()
    page.wait_for_load_state("networkidle")
    measured.cold_bytes.append(page.transferred)
    return page


def _submit(page: Any, measured: Measured) -> None:
    page.get_by_role("checkbox", name="None of the above").check()
    before = page.transferred
    page.evaluate("""() => {
      painted.length = 0;
      window.shownBefore = document.querySelector("[data-image]").getAttribute("src");
      const note = (event) => { window.pressed = event.timeStamp; };
      document.querySelector("[data-submit]").addEventListener("click", note, {once: true});
    }""")
    page.locator("[data-submit]").click()
    for _ in range(400):
        if page.evaluate("document.querySelector('[data-image]').getAttribute('src') !== shownBefore"):
            break
        page.wait_for_timeout(5)
    measured.submitted.append(_painted(page) - page.evaluate("pressed"))
    page.wait_for_load_state("networkidle")  # the prefetched next task counts for the bytes of a task
    measured.task_bytes.append(page.transferred - before)


def _painted(page: Any) -> float:
    for _ in range(1000):
        if times := page.evaluate(f"{PAINTED}.map((one) => one.at)"):
            return float(times[0])
        page.wait_for_timeout(5)
    raise RuntimeError("the picture was not painted")


def _count_bytes(page: Any) -> None:
    """Add up the transferred bytes, including headers and excluding pictures."""
    page.transferred = 0
    pictures: set[str] = set()
    client = page.context.new_cdp_session(page)
    client.send("Network.enable")

    def requested(event: dict[str, Any]) -> None:
        if "/images/" in event["request"]["url"]:
            pictures.add(event["requestId"])

    def finished(event: dict[str, Any]) -> None:
        if event["requestId"] not in pictures:
            page.transferred += int(event["encodedDataLength"])

    client.on("Network.requestWillBeSent", requested)
    client.on("Network.loadingFinished", finished)


def _seeded() -> dict[str, Any]:
    """Create an open campaign with the necessary number of pictures, and a signed-in annotator."""
    sys.path.insert(0, str(ROOT / "platform"))
    os.environ["DJANGO_SETTINGS_MODULE"] = "config.settings"
    import django

    django.setup()
    from django.test import Client

    from accounts import profiles
    from accounts.models import User
    from annotation.campaigns import lifecycle
    from annotation.people import invitations
    from catalog.models import Attribute, IdentityGroup, Resource, Stereotype
    from generation.backends.sketch.drawing import draw
    from generation.images.reencode import shown_bytes
    from generation.images.signed_urls import FULL
    from generation.images.storage import store_image
    from generation.models import Image
    from studies import consent
    from studies.models import Study, StudyGroup

    lead = User.objects.create_user("bench", is_lead=True)
    resource = Resource.objects.create(name="Bench", slug="bench", has_rater_counts=True, invented=True)
    study = Study.objects.create(name="Bench", slug="bench", resource=resource, seed=7, created_by=lead)
    for name, listed in (("Velmari", ("tall hat", "lantern")), ("Orsani", ("drum", "umbrella"))):
        group = IdentityGroup.objects.create(resource=resource, name=name, display_name=name, region="Isles")
        StudyGroup.objects.create(study=study, group=group, name=name, display_name=name, region="Isles")
        for text in listed:
            attribute, _ = Attribute.objects.get_or_create(text=text)
            votes = {"in_region_stereotype": 2, "in_region_not": 1, "in_region_unsure": 0}
            votes |= {"out_region_stereotype": 1, "out_region_not": 2, "out_region_unsure": 0}
            Stereotype.objects.create(
                group=group,
                attribute=attribute,
                rating_1=-1,
                rating_2=0,
                rating_3=1,
                offensiveness_stored=0,
                **votes,
            )
    for index, study_group in enumerate(study.groups.order_by("name")):
        for number in range(PICTURES // 2):
            data = draw(seed=1000 * index + number, attributes={"tall hat"}).png
            store_image(study=study, data=data, group=study_group, model_label="sketch")
    for image in Image.objects.all():
        shown_bytes(image, size=FULL)  # as after the first of three annotators saw it
    draft = lifecycle.create(study=study, name="Marking", kind="stereotype_marking", by=lead)
    campaign = lifecycle.open_(campaign=draft, by=lead)
    _, token = invitations.invite(campaign=campaign, by=None)
    enrolment = invitations.accept(token=token, user=None)
    consent.give(annotator=enrolment.annotator, text=consent.current_text(study))
    profiles.describe(annotator=enrolment.annotator)
    user = enrolment.annotator.user
    assert user is not None
    client = Client()
    client.force_login(user)
    return {"campaign": campaign.pk, "session": client.cookies["stereoscope_session"].value}


if __name__ == "__main__":
    print(json.dumps(_seeded()))
