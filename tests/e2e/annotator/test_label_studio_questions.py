"""Questions declared by a study are answered on Label Studio's own page, in a real browser, and arrive here."""

import re

import pytest

from tests.e2e.annotator.label_studio import Bridged, bridged_server, keep, open_page, submit

playwright = pytest.importorskip("playwright.sync_api")
pytestmark = [pytest.mark.e2e, pytest.mark.services, pytest.mark.slow, pytest.mark.database_free]

# Left, top, right, bottom in fractions of the picture.
CORNERS = (0.3, 0.2, 0.6, 0.5)
# Campaigns of kinds whose screens show images of one prompt, one of them declared by the study.
MAKE = """
from pathlib import Path
import re
from annotation.campaigns import lifecycle as campaigns
from annotation.kinds import study_kinds
from generation.backends.sketch.drawing import draw
from generation.images.storage import store_image
for seed, model in enumerate(("north", "south", "east"), start=3):
    store_image(study=study, data=draw(seed=seed, attributes={{"tall hat", "drum"}}).png, group=shown,
        model_label=model, prompt="a kite over the drum")
page = Path("docs/develop/adding-a-kind.md").read_text()
content = re.search(r"<!-- test: declaration -->\\n```json\\n(.*?)```", page, re.DOTALL)[1]
study_kinds.add(study=study, content=content.encode(), by=None)
draft = campaigns.create(study=study, name="There", kind="{kind}", by=None, annotators_per_task=1)
campaign = campaigns.open_(campaign=draft, by=None)
"""
SAID = """
from annotation.models import Annotation, Box, Judgement, Point
rows = Judgement.objects.filter(annotation__is_latest=True).order_by("annotation", "pk")
values = ("question", "stimulus__position", "present", "rating", "code", "rank", "text")
answer = {
    "judgements": [[one for one in row if one is not None] for row in rows.values_list(*values)],
    "boxes": [[box.x, box.y, box.x + box.width, box.y + box.height] for box in Box.objects.all()],
    "points": [[point.x, point.y] for point in Point.objects.all()],
}
"""


@pytest.fixture
def bridged(label_studio, tmp_path, request):
    with bridged_server(label_studio, tmp_path, MAKE.format(kind=request.param)) as bridged:
        yield bridged


@pytest.fixture
def page(browser, label_studio, bridged: Bridged):
    with open_page(browser, label_studio, bridged, height=1100) as page:
        yield page


def choose(part, answer):
    part.get_by_role("radio", name=re.compile(f"^{answer}")).click()


def drag(page, picture, left, top, right, bottom):
    shown = picture.bounding_box()
    page.mouse.move(shown["x"] + left * shown["width"], shown["y"] + top * shown["height"])
    page.mouse.down()
    for part in (0.5, 1):
        x, y = left + part * (right - left), top + part * (bottom - top)
        page.mouse.move(shown["x"] + x * shown["width"], shown["y"] + y * shown["height"], steps=5)
    page.mouse.up()


@pytest.mark.parametrize("bridged", ["calm_scenes"], indirect=True)
def test_three_pictures_with_a_box_and_a_conditional_question(page, bridged):
    stimuli = page.locator(".stimulus")
    playwright.expect(stimuli).to_have_count(3)
    for place in range(3):
        stimuli.nth(place).locator("img").wait_for()
    keep(page, "questions-open")
    for place, calm in enumerate(("Restless", "Calm", "Cannot tell")):
        choose(stimuli.nth(place), calm)
        choose(stimuli.nth(place), "Colourful")
    playwright.expect(page.get_by_text("What disturbs?").filter(visible=True)).to_have_count(1)
    choose(stimuli.nth(0), "The weather")
    stimuli.nth(0).locator(".lsf-label").click()
    drag(page, stimuli.nth(0).locator("img"), *CORNERS)
    keep(page, "questions-answered")
    submit(page, bridged)
    said = bridged.server.ask(SAID)
    assert said["judgements"] == [
        *(["calm", 0, 1], ["calm", 1, 3], ["calm", 2, 0]),
        *(["colour", place, 2] for place in range(3)),
        ["disturbs", 0, "weather"],
    ]
    assert said["boxes"] == [pytest.approx(CORNERS, abs=0.01)]


@pytest.mark.parametrize("bridged", ["ranking"], indirect=True)
def test_as_many_pictures_as_a_screen_has_are_put_in_order(page, bridged):
    stimuli = page.locator(".stimulus")
    playwright.expect(stimuli).to_have_count(3)  # of up to four
    for place, rank in enumerate((2, 1, 2)):
        playwright.expect(stimuli.nth(place)).to_contain_text(f"Picture {place + 1}")
        stimuli.nth(place).locator("img").wait_for()
        choose(stimuli.nth(place), rank)
    keep(page, "questions-ranking")
    submit(page, bridged)
    assert bridged.server.ask(SAID)["judgements"] == [["order", 0, 2], ["order", 1, 1], ["order", 2, 2]]


@pytest.mark.parametrize("bridged", ["image_text"], indirect=True)
def test_words_of_the_prompt_and_a_point_in_the_picture(page, bridged):
    page.locator(".beside img").wait_for()
    choose(page, "Most")
    choose(page, "Small faults")
    labels = page.locator(".lsf-label")
    labels.nth(0).click()
    text = page.get_by_text("a kite over the drum")
    shown = text.bounding_box()
    text.dblclick(position={"x": 30, "y": shown["height"] / 2})
    labels.nth(1).click()
    picture = page.locator(".beside img").bounding_box()
    page.mouse.click(picture["x"] + 0.25 * picture["width"], picture["y"] + 0.5 * picture["height"])
    keep(page, "questions-words")
    submit(page, bridged)
    said = bridged.server.ask(SAID)
    assert said["judgements"] == [["alignment", 4], ["missing", "w1"], ["faults", "small"]]
    assert said["points"] == [pytest.approx([0.25, 0.5], abs=0.01)]
