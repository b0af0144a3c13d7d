"""Checks and practice of campaigns of questions, and their preview, in a real browser."""

import os
from pathlib import Path

import pytest
from django.urls import reverse

from annotation.answers.questions.known_answers import Part
from annotation.campaigns import known_tasks, lifecycle
from annotation.models import Annotation, KnownAnswer
from generation.images.storage import store_image
from tests.e2e.annotator.steps import join_without_scripts
from tests.e2e.axe import open_parts, sign_in, violations
from tests.e2e.conftest import DESKTOP, PHONE
from tests.generation.drawings import drawing

pytestmark = [pytest.mark.e2e, pytest.mark.django_db(transaction=True)]
PICTURES = os.environ.get("PICTURES")  # a folder for pictures of the pages


@pytest.fixture
def opened(study, lead):
    """Return a function that opens a campaign of a kind about images of one scenario by two models."""

    def open_campaign(kind: str):
        number = 0
        for group in study.groups.order_by("name"):
            for model in ("north", "south", "west"):
                number += 1
                data = drawing(number, "drum", "tall hat")
                image = store_image(
                    study=study, data=data, group=group, model_label=model, prompt=f"a {group} drummer"
                ).image
                type(image).objects.filter(pk=image.pk).update(scenario="drummer")
        draft = lifecycle.create(study=study, name=kind, kind=kind, by=lead)
        return lifecycle.open_(campaign=draft, by=lead)

    return open_campaign


def looked_at(page, name: str) -> None:
    """Check a page with axe and on a phone; save pictures of it if a folder is set."""
    open_parts(page)
    assert violations(page) == []
    page.emulate_media(color_scheme="light")
    for size in (DESKTOP, PHONE):
        page.set_viewport_size(size)
        assert page.evaluate("document.documentElement.scrollWidth") <= size["width"]
        if PICTURES:
            page.screenshot(path=Path(PICTURES) / f"{name}-{size['width']}.png", full_page=True)
    page.set_viewport_size(DESKTOP)


def add_practice(campaign, lead, answers):
    shown = known_tasks.as_screen(known_tasks.screens_of(campaign)[0]).stimuli
    known_tasks.add(
        campaign=campaign,
        purpose="practice",
        by=lead,
        content=known_tasks.TaskContent(stimuli=shown),
        answers=answers,
        explanations={next(iter(answers)): "Look at the light."},
    )


@pytest.mark.slow
@pytest.mark.parametrize(
    ("kind", "answers", "keys"),
    [
        ("pair_check", {Part("alike"): ["alike", "small_differences"]}, "1"),
        ("ranking", {Part("order"): [1, 2, 3]}, "123"),
        ("rubric", {Part("realism"): [1, 2], Part("harms"): ["none"]}, "1555"),
    ],
)
def test_practice_is_answered_by_keys_and_explained(page, opened, lead, kind, answers, keys):
    campaign = opened(kind)
    add_practice(campaign, lead, answers)
    join_without_scripts(page, campaign)
    page.get_by_role("button", name="Begin").click()
    page.locator("form[data-practice][data-ready]").wait_for()
    looked_at(page, f"practice-{kind}")
    page.keyboard.press("Escape")
    page.locator("[data-question]").focus()
    for key in keys:
        page.keyboard.press(key)
    page.get_by_role("button", name="Submit").click()
    page.locator("[data-feedback][data-ready]").wait_for()
    assert page.get_by_text("Look at the light.").is_visible()
    looked_at(page, f"feedback-{kind}")
    page.get_by_role("link", name="How it went").click()
    page.get_by_role("heading", name="Practice passed").wait_for()
    assert not Annotation.objects.exists()


@pytest.mark.slow
def test_a_lead_makes_a_check_of_a_screen(page, client, live_server, opened, lead):
    campaign = opened("pair_check")
    sign_in(page, client, lead, live_server)
    place = [campaign.study.slug, campaign.slug]
    page.goto(reverse("annotation:known_new", args=place))
    looked_at(page, "choose-screen")
    page.get_by_role("link", name="Screen 1").click()
    page.get_by_role("heading", name="Known answers").wait_for()
    looked_at(page, "what-is-right")
    page.get_by_role("checkbox", name="Yes", exact=True).check()
    page.get_by_role("button", name="Add").click()
    page.get_by_role("heading", name="Checks and practice").wait_for()
    looked_at(page, "checks")
    assert KnownAnswer.objects.get().accepted == ["alike"]


@pytest.mark.slow
def test_the_preview_asks_what_depends_on_an_answer_and_sends_nothing(
    page, client, live_server, opened, lead
):
    campaign = opened("pair_check")
    sign_in(page, client, lead, live_server)
    page.goto(reverse("annotation:preview", args=[campaign.study.slug, campaign.slug]))
    page.locator("form[data-task][data-ready]").wait_for()
    differs = page.get_by_role("group", name="What differs?")
    assert not differs.is_visible()
    page.get_by_role("radio", name="No", exact=True).check()
    assert differs.is_visible()
    looked_at(page, "preview-pair_check")
    assert page.get_by_role("button", name="Submit").is_disabled()
    assert not Annotation.objects.exists()
