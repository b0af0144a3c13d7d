"""Labels made on Label Studio's own page, in a real browser, arrive here at once."""

import re
from urllib.parse import urlsplit

import pytest

from tests.e2e.annotator.label_studio import bridged_server, keep, open_page, submit

playwright = pytest.importorskip("playwright.sync_api")
pytestmark = [pytest.mark.e2e, pytest.mark.services, pytest.mark.slow, pytest.mark.database_free]

WITHIN = 5.0  # seconds
# Left, top, right, bottom in fractions of the picture.
CORNERS = (0.30, 0.10, 0.60, 0.40)
# A campaign of ratings or marks.
MAKE = """
from annotation.campaigns import lifecycle as campaigns
from generation.backends.sketch.drawing import draw
from generation.images.storage import store_image
votes = {{"in_region_stereotype": 3, "in_region_not": 0, "in_region_unsure": 0}}
votes |= {{"out_region_stereotype": 0, "out_region_not": 0, "out_region_unsure": 0}}
for text in ("tall hat", "drum", "blue scarf"):
    attribute, _ = Attribute.objects.get_or_create(text=text)
    Stereotype.objects.create(group=group, attribute=attribute, **votes)
store_image(study=study, data=draw(seed=3, attributes={{"tall hat", "drum"}}).png, group=shown, model_label="sketch")
draft = campaigns.create(study=study, name="There", kind="{kind}", by=None, annotators_per_task=1,
    options={{"random_per_stereotype": 0}} if "{kind}" == "stereotype_marking" else None)
campaign = campaigns.open_(campaign=draft, by=None)
"""
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


@pytest.fixture
def bridged(label_studio, tmp_path, request):
    with bridged_server(label_studio, tmp_path, MAKE.format(kind=request.param)) as bridged:
        yield bridged


@pytest.fixture
def page(browser, label_studio, bridged):
    with open_page(browser, label_studio, bridged) as page:
        yield page


@pytest.mark.parametrize("bridged", ["stereotype_marking"], indirect=True)
def test_a_choice_and_a_box_drawn_with_the_mouse_arrive_here(page, bridged):
    picture = page.locator("img[alt=image]")
    picture.wait_for()
    playwright.expect(page.locator(".lsf-label")).to_have_count(3)
    page.get_by_role("checkbox", name=re.compile("tall hat")).click()
    page.locator(".lsf-label", has_text="tall hat").click()
    left, top, right, bottom = CORNERS
    shown = picture.bounding_box()
    # As large as the window allows, and completely visible.
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
    # The next task, by its key.
    reason.wait_for(state="hidden")
    page.keyboard.press("1")
    assert submit(page, bridged) <= WITHIN
    assert bridged.server.ask(SAID)["rating"] == [5]
    assert urlsplit(page.url).netloc == urlsplit(label_studio.url).netloc
