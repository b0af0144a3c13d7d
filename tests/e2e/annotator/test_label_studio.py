"""Somebody labels in Label Studio's own page, in a real browser, and it arrives here at once."""

import os
import re
import time
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urlsplit

import pytest

from tests.e2e.conftest import be_patient
from tests.foundation.database.own_database import Server, own_server
from tests.services.annotators import PATIENCE, WebServer, wait_until

playwright = pytest.importorskip("playwright.sync_api")
pytestmark = [pytest.mark.e2e, pytest.mark.services, pytest.mark.slow, pytest.mark.database_free]

WITHIN = 5.0  # seconds
# Left, top, right, bottom in fractions of the picture.
CORNERS = (0.30, 0.10, 0.60, 0.40)
# A study, a campaign of it in Label Studio, and one of its users as an annotator who agreed.
MAKE = """
from studies import consent
from accounts.models import Annotator, User
from annotation.campaigns import lifecycle as campaigns
from annotation.label_studio.base import connections
from annotation.label_studio.people import identity
from annotation.label_studio.push import lifecycle
from annotation.label_studio.push.sync import push
from annotation.label_studio.models import LabelStudioUser
from annotation.models import Enrolment
from catalog.models import Attribute, IdentityGroup, Resource, Stereotype
from generation.backends.sketch.drawing import draw
from generation.images.storage import store_image
from studies.models import Study, StudyGroup
resource = Resource.objects.create(name="Isles", slug="isles", has_rater_counts=True, invented=True)
group = IdentityGroup.objects.create(resource=resource, name="Velmari", display_name="Velmari")
votes = {{"in_region_stereotype": 3, "in_region_not": 0, "in_region_unsure": 0}}
votes |= {{"out_region_stereotype": 0, "out_region_not": 0, "out_region_unsure": 0}}
for text in ("tall hat", "drum", "blue scarf"):
    attribute, _ = Attribute.objects.get_or_create(text=text)
    Stereotype.objects.create(group=group, attribute=attribute, **votes)
study = Study.objects.create(name="Isles", slug="isles", seed=1, resource=resource)
shown = StudyGroup.objects.create(study=study, group=group, name="Velmari")
store_image(study=study, data=draw(seed=3, attributes={{"tall hat", "drum"}}).png, group=shown, model_label="sketch")
draft = campaigns.create(study=study, name="There", kind="{kind}", by=None, annotators_per_task=1,
    options={{"random_per_stereotype": 0}} if "{kind}" == "stereotype_marking" else None)
campaign = campaigns.open_(campaign=draft, by=None)
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
SAID = """
from annotation.models import Annotation, Judgement
one = Annotation.objects.latest("pk")
answer = {
    "rating": [row.rating for row in one.judgements.all()],
    "present": sorted(row.attribute.text for row in one.judgements.all() if row.present),
    "boxes": [[box.x, box.y, box.x + box.width, box.y + box.height]
              for row in one.judgements.all() for box in row.boxes.all()],
    "justification": one.justification,
    "none": one.none_of_the_above,
}
"""


@dataclass
class Bridged:
    """The platform with a worker, and the project of its campaign in Label Studio."""

    server: Server
    project: int

    def arrived(self) -> int:
        return int(self.server.rows(ARRIVED)[0][0])


@pytest.fixture
def bridged(label_studio, tmp_path, request):
    """Our own web server and worker as processes, reached under another name than Label Studio is."""
    with own_server(tmp_path, LABEL_STUDIO_ALLOWED_HOSTS="127.0.0.1") as server:
        web = WebServer(server.env, tmp_path / "gunicorn.log")
        server.env["SITE_URL"] = f"http://localhost:{web.port}"
        web.start()
        try:
            wait_until(lambda: web.get("/healthz") == 200)
            person = label_studio.annotators[0]
            made = MAKE.format(
                kind=request.param, url=label_studio.url, token=label_studio.owner.token, user=person.id
            )
            with server.start("worker") as _worker:
                yield Bridged(server, server.ask(made))
        finally:
            web.kill()


@pytest.fixture
def page(browser, label_studio, bridged):
    """Label Studio's page of the project, as one of its users."""
    context = browser.new_context(viewport={"width": 1280, "height": 800})
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


def keep(page, name: str) -> None:
    """Keep a picture of the page where somebody wants to look at it."""
    if folder := os.environ.get("STEREOSCOPE_SCREENSHOTS"):
        page.screenshot(path=Path(folder) / f"label-studio-{name}.png")


def submit(page, bridged) -> float:
    """Press Submit; return how many seconds later the annotation is here."""
    before, pressed = bridged.arrived(), time.monotonic()
    page.locator("button[name=submit]").click()
    while bridged.arrived() == before:
        assert time.monotonic() < pressed + PATIENCE, "it did not arrive"
        page.wait_for_timeout(50)
    return time.monotonic() - pressed


@pytest.mark.parametrize("bridged", ["stereotype_marking"], indirect=True)
def test_a_choice_and_a_box_drawn_with_the_mouse_arrive_here(page, bridged):
    picture = page.locator("img[alt=image]")
    picture.wait_for()
    playwright.expect(page.locator(".lsf-label")).to_have_count(3)
    page.get_by_role("checkbox", name=re.compile("tall hat")).click()
    page.locator(".lsf-label", has_text="tall hat").click()
    left, top, right, bottom = CORNERS
    shown = picture.bounding_box()
    # As large as the window allows, and all of it to be seen.
    assert shown["height"] > 500
    assert shown["y"] + shown["height"] < 760
    page.mouse.move(shown["x"] + left * shown["width"], shown["y"] + top * shown["height"])
    page.mouse.down()
    page.mouse.move(shown["x"] + 0.5 * shown["width"], shown["y"] + 0.3 * shown["height"], steps=5)
    page.mouse.move(shown["x"] + right * shown["width"], shown["y"] + bottom * shown["height"], steps=5)
    page.mouse.up()
    keep(page, "marking")
    took = submit(page, bridged)
    said = bridged.server.ask(SAID)
    assert said["present"] == ["tall hat"]
    assert said["none"] is False
    assert said["boxes"] == [pytest.approx(CORNERS, abs=0.01)]
    assert took <= WITHIN


@pytest.mark.parametrize("bridged", ["attribute_likert"], indirect=True)
def test_a_rating_arrives_here_and_unsure_needs_a_reason(page, bridged, label_studio):
    playwright.expect(page.locator("input[type=radio]")).to_have_count(5)
    places = [one.bounding_box() for one in page.locator("input[type=radio]").all()]
    assert max(one["y"] for one in places) - min(one["y"] for one in places) < 2, "they stand in a row"
    page.keyboard.press("5")
    reason = page.locator("textarea").first
    reason.wait_for()
    page.locator("button[name=submit]").click()
    page.get_by_text("Write why you are unsure").wait_for()
    page.get_by_role("button", name="OK").click()
    page.get_by_text("Write why you are unsure").wait_for(state="hidden")
    reason.fill("a word I do not know")
    keep(page, "rating")
    took = submit(page, bridged)
    said = bridged.server.ask(SAID)
    assert (said["rating"], said["justification"]) == ([3], "a word I do not know")
    assert took <= WITHIN
    # The next one, by its key.
    reason.wait_for(state="hidden")
    page.keyboard.press("1")
    assert submit(page, bridged) <= WITHIN
    assert bridged.server.ask(SAID)["rating"] == [5]
    assert urlsplit(page.url).netloc == urlsplit(label_studio.url).netloc
