"""A campaign of our server in Label Studio, and Label Studio's page of it in a browser."""

import os
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.e2e.conftest import be_patient
from tests.foundation.database.own_database import Server, own_server
from tests.services.annotators import PATIENCE, WebServer, wait_until
from tests.services.label_studio.server import LabelStudio

# A study with a group.
STUDY = """
from accounts.models import Annotator, User
from annotation.label_studio.base import connections
from annotation.label_studio.models import LabelStudioUser
from annotation.label_studio.people import identity
from annotation.label_studio.push import lifecycle
from annotation.label_studio.push.sync import push
from annotation.models import Enrolment
from catalog.models import Attribute, IdentityGroup, Resource, Stereotype
from studies import consent
from studies.models import Study, StudyGroup
resource = Resource.objects.create(name="Isles", slug="isles", has_rater_counts=True, invented=True)
group = IdentityGroup.objects.create(resource=resource, name="Velmari", display_name="Velmari")
study = Study.objects.create(name="Isles", slug="isles", seed=1, resource=resource)
shown = StudyGroup.objects.create(study=study, group=group, name="Velmari")
"""
# Its campaign in Label Studio, and one of the users there as an annotator who agreed.
CONNECT = """
server = connections.connect(study=study, url="{url}", token="{token}", by=None)
bridge = lifecycle.begin(campaign=campaign, server=server, arrangement="per_slot", by=None)
report = push(bridge=bridge, by=None)
assert not report.notes, report.notes
annotator = Annotator.objects.create(user=User.objects.create(username="there"))
Enrolment.objects.create(campaign=campaign, annotator=annotator)
consent.give(annotator=annotator, text=consent.current_text(study))
user = LabelStudioUser.objects.create(server=server, external_id={user})
identity.confirm(user=user, annotator=annotator, by=None)
answer = bridge.projects.get().external_id
"""
ARRIVED = "SELECT COUNT(*) FROM annotation_annotation WHERE status = 'accepted'"


@dataclass
class Bridged:
    """The platform with a worker, and the project of its campaign in Label Studio."""

    server: Server
    project: int

    def arrived(self) -> int:
        return int(self.server.rows(ARRIVED)[0][0])


@contextmanager
def bridged_server(label_studio: LabelStudio, folder: Path, campaign: str) -> Iterator[Bridged]:
    """Start our own web server and worker as processes, under a different host name from Label Studio's.

    `campaign` is a script that opens `campaign` in `study`, which has the group `shown`.
    """
    with own_server(folder, LABEL_STUDIO_ALLOWED_HOSTS="127.0.0.1") as server:
        web = WebServer(server.env, folder / "gunicorn.log")
        server.env["SITE_URL"] = f"http://localhost:{web.port}"
        web.start()
        try:
            wait_until(lambda: web.get("/healthz") == 200)
            person = label_studio.annotators[0]
            connect = CONNECT.format(url=label_studio.url, token=label_studio.owner.token, user=person.id)
            with server.start("worker") as _worker:
                yield Bridged(server, server.ask(STUDY + campaign + connect))
        finally:
            web.kill()


@contextmanager
def open_page(
    browser: Any, label_studio: LabelStudio, bridged: Bridged, *, height: int = 800
) -> Iterator[Any]:
    """Open Label Studio's page of the project, as one of its users."""
    context = browser.new_context(viewport={"width": 1280, "height": height})
    page = context.new_page()
    be_patient(page)
    person = label_studio.annotators[0]
    page.goto(f"{label_studio.url}/user/login/")
    page.locator("input[name=email]").fill(person.email)
    page.locator("input[name=password]").fill(person.password)
    page.keyboard.press("Enter")
    page.wait_for_url(lambda address: "/user/login" not in address)
    page.goto(f"{label_studio.url}/projects/{bridged.project}/data?labeling=1")
    # The guidelines come first.
    page.get_by_text("Labeling Instructions").wait_for()
    page.keyboard.press("Escape")
    page.get_by_text("Labeling Instructions").wait_for(state="hidden")
    yield page
    context.close()


def keep(page: Any, name: str) -> None:
    """Save a picture of the page if a folder for pictures is set."""
    if folder := os.environ.get("STEREOSCOPE_SCREENSHOTS"):
        page.screenshot(path=Path(folder) / f"label-studio-{name}.png", full_page=True)


def submit(page: Any, bridged: Bridged) -> float:
    """Press Submit; return the seconds until the annotation arrives here."""
    before, pressed = bridged.arrived(), time.monotonic()
    page.locator("button[name=submit]").click()
    while bridged.arrived() == before:
        assert time.monotonic() < pressed + PATIENCE, "it did not arrive"
        page.wait_for_timeout(50)
    return time.monotonic() - pressed
