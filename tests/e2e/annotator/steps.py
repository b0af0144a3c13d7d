"""Helpers for tests of annotators in a real browser: open campaigns, joining, drawing, waiting."""

import pytest

from accounts import profiles
from annotation.campaigns import lifecycle
from annotation.models import Box
from annotation.people import invitations
from generation.images.storage import store_image
from studies import consent
from tests.generation.drawings import drawing

# Left, top, right, bottom in fractions of the picture.
FIRST = (0.20, 0.10, 0.55, 0.40)
SECOND = (0.60, 0.50, 0.90, 0.85)


@pytest.fixture
def marking(study, lead):
    for index, group in enumerate(study.groups.order_by("name")):
        for number in range(2):
            data = drawing(10 * index + number, "drum", "tall hat")
            store_image(study=study, data=data, group=group, model_label="sketch")
    # Screens of two or three words, in random order: the keys pressed below exist on each of them.
    draft = lifecycle.create(
        study=study, name="Marking", kind="stereotype_marking", by=lead, attributes_per_screen=3
    )
    return lifecycle.open_(campaign=draft, by=lead)


@pytest.fixture
def rating(study, lead):
    draft = lifecycle.create(study=study, name="Rating", kind="attribute_likert", by=lead)
    return lifecycle.open_(campaign=draft, by=lead)


def link(campaign) -> str:
    return f"/annotate/i/{invitations.invite(campaign=campaign, by=None)[1]}/"


def join(page, campaign) -> None:
    """Join by a link, with consent and profile already given, and open the first task."""
    join_without_scripts(page, campaign)
    ready(page)


def join_without_scripts(page, campaign) -> None:
    """Join as `join` does, without waiting for scripts."""
    address = link(campaign)
    page.goto(address)
    page.get_by_role("button", name="Start").click()
    page.wait_for_url("**/consent/")
    annotator = campaign.enrolments.latest("pk").annotator
    consent.give(annotator=annotator, text=consent.current_text(campaign.study))
    profiles.describe(annotator=annotator)
    page.goto(f"/annotate/{campaign.pk}/")


def ready(page) -> None:
    """Wait until the task's script is ready and its pictures are loaded.

    Earlier queries would reach the previous page, which a click leaves with a small delay.
    """
    page.locator("form[data-task][data-ready]").wait_for()
    seen = "(all) => all.every(({complete, naturalWidth}) => complete && naturalWidth > 0)"
    # The page's policy forbids evaluating strings, so `wait_for_function` is impossible.
    for _ in range(600):
        if page.locator("[data-image]").evaluate_all(seen):
            return
        page.wait_for_timeout(50)
    pytest.fail("the picture did not load")


def shown_at(page) -> tuple[float, float, float, float]:
    """Return left, top, width and height of the picture on the screen, without margins."""
    return tuple(
        page.evaluate(
            """() => {
              const image = document.querySelector("[data-image]"), box = image.getBoundingClientRect();
              const scale = Math.min(box.width / image.naturalWidth, box.height / image.naturalHeight);
              const width = image.naturalWidth * scale, height = image.naturalHeight * scale;
              return [box.left + (box.width - width) / 2, box.top, width, height];
            }"""
        )
    )


def drag(page, corners) -> None:
    left, top, width, height = shown_at(page)
    x1, y1, x2, y2 = corners
    page.mouse.move(left + x1 * width, top + y1 * height)
    page.mouse.down()
    page.mouse.move(left + (x1 + x2) / 2 * width, top + (y1 + y2) / 2 * height, steps=4)
    page.mouse.move(left + x2 * width, top + y2 * height, steps=4)
    page.mouse.up()


def assert_holds(box: Box, corners) -> None:
    x1, y1, x2, y2 = corners
    found = (box.x, box.y, box.x + box.width, box.y + box.height)
    assert found == pytest.approx((x1, y1, x2, y2), abs=0.01)


def saved(page, done: int) -> None:
    page.locator("#progress").get_by_text(f"{done} done").wait_for()
