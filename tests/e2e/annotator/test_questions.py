"""Annotators answer the questions of declared kinds, with a real server and database."""

import pytest
from django.urls import reverse

from annotation.campaigns import lifecycle
from annotation.kinds.registry import KINDS
from annotation.models import Annotation, ImageReport, Judgement, Point, TaskStimulus
from generation.images.storage import store_image
from tests.e2e.annotator.steps import join, join_without_scripts, ready, saved
from tests.e2e.axe import open_parts, violations
from tests.e2e.conftest import PHONE
from tests.generation.drawings import drawing

pytestmark = [pytest.mark.e2e, pytest.mark.django_db(transaction=True)]

PROMPT = "a drum beside a tall hat"
TEXTS = ["A baker or a weaver? – Probably a weaver.", "A baker or a weaver? – I cannot tell."]
QUESTION_KINDS = [kind for kind in KINDS if not KINDS[kind].about_attributes]


@pytest.fixture
def opened(study, lead):
    """Return a function that opens a campaign of a kind about images of one prompt by three models, or texts."""
    group, other = study.groups.order_by("name")[:2]
    for number, model in enumerate(("north", "south", "west")):
        data = drawing(number, "drum", "tall hat")
        store_image(study=study, data=data, group=group, model_label=model, prompt=PROMPT)

    def open_campaign(kind: str):
        if kind == "pair_check":  # needs a scenario with images of two groups
            store_image(study=study, data=drawing(9, "drum"), group=other, model_label="north", prompt=PROMPT)
            study.images.filter(model_label="north").update(scenario="drummer")
        options = {"texts": TEXTS} if KINDS[kind].stimuli.medium == "text" else {}
        draft = lifecycle.create(study=study, name=kind, kind=kind, options=options, by=lead)
        return lifecycle.open_(campaign=draft, by=lead)

    return open_campaign


def judgements() -> list[tuple]:
    """Return the judgements of the last answer: question, index of the stimulus, value."""
    rows = Judgement.objects.filter(annotation=Annotation.objects.latest("pk")).order_by("pk")
    columns = rows.values_list("question", "stimulus__position", "present", "rating", "code", "rank", "text")
    return [(name, place, next(one for one in values if one is not None)) for name, place, *values in columns]


def press(page, *keys: str) -> None:
    for key in keys:
        page.keyboard.press(key)


def test_pairs_are_compared_by_keys_alone(page, opened):
    campaign = opened("pairwise")
    join(page, campaign)
    assert page.locator("[data-prompt]").inner_text() == PROMPT
    press(page, "1", "0")
    press(page, "Enter")
    saved(page, 1)
    ready(page)
    assert judgements() == [("fits_prompt", 0, True), ("overall", None, "tie")]
    press(page, "ArrowRight", "ArrowLeft", "Enter")
    saved(page, 2)
    assert judgements() == [("fits_prompt", 1, True), ("overall", 0, True)]


def test_pictures_are_ranked_with_a_shared_place_and_corrected(page, opened):
    campaign = opened("ranking")
    join(page, campaign)
    press(page, "2", "1", "2", "Enter")
    page.wait_for_url("**/done/")
    assert judgements() == [("order", 0, 2), ("order", 1, 1), ("order", 2, 2)]
    page.goto(reverse("annotate:previous", args=[campaign.pk]))
    ready(page)
    assert page.locator("[data-row=s2] :checked").get_attribute("value") == "1"
    page.locator("[data-row=s1] :checked").focus()
    press(page, "1", "Enter")
    page.wait_for_url("**/done/")
    assert judgements() == [("order", 0, 1), ("order", 1, 1), ("order", 2, 3)]


def test_words_and_places_of_a_picture_are_marked(page, opened):
    campaign = opened("image_text")
    join(page, campaign)
    press(page, "4")
    page.get_by_label("tall", exact=True).focus()
    press(page, "Space")
    page.get_by_label("Small faults").focus()
    press(page, "2", "b", "ArrowRight", "Control+Enter")
    saved(page, 1)
    assert judgements() == [("alignment", None, 4), ("missing", None, "w4"), ("faults", None, "small")]
    point = Point.objects.get()
    assert (point.judgement.question, round(point.x, 2), round(point.y, 2)) == ("faults", 0.51, 0.5)


def test_one_of_two_pictures_is_reported(page, opened):
    campaign = opened("pairwise")
    join(page, campaign)
    page.locator("[data-report-part] summary").click()
    page.get_by_label("Which picture?").select_option("Picture 2")
    page.locator("[name=reason]").first.check()
    page.get_by_role("button", name="Send the report").click()
    page.get_by_text("Reported. Thank you.").wait_for()
    shown = TaskStimulus.objects.get(task__assignments__annotator__isnull=False, position=1)
    assert ImageReport.objects.get().image == shown.image


def test_without_scripts_a_form_carries_the_answers(new_page, opened):
    campaign = opened("rubric")
    page = new_page(java_script_enabled=False)
    join_without_scripts(page, campaign)
    for question, point in (("realism", 3), ("appeal", 2), ("favour", 5)):
        page.locator(f"[name='answers.{question}'][value='{point}']").check()
    page.locator("[name='answers.harms'][value='none']").check()
    page.locator("[name='answers.reason']").fill("Not asked after this.")
    page.get_by_role("button", name="Submit").click()
    page.get_by_text("1 done").wait_for()
    scales = [("realism", None, 3), ("appeal", None, 2), ("favour", None, 5)]
    assert judgements() == [*scales, ("harms", None, "none")]


def test_the_difference_between_pictures_is_written_when_they_are_not_alike(page, opened):
    campaign = opened("pair_check")
    join(page, campaign)
    assert page.locator("[data-image]").count() == 2
    press(page, "3")
    page.get_by_label("What differs?").focus()
    page.keyboard.type("The light.")
    press(page, "Control+Enter")
    page.wait_for_url("**/done/")
    assert judgements() == [("alike", None, "different"), ("difference", None, "The light.")]


def test_texts_are_sorted_by_keys_alone(page, opened):
    campaign = opened("answer_coding")
    join(page, campaign)
    press(page, "2", "Enter")
    saved(page, 1)
    ready(page)
    press(page, "4", "Enter")
    page.wait_for_url("**/done/")
    codes = Judgement.objects.order_by("pk").values_list("question", "code")
    assert list(codes) == [("code", "second"), ("code", "refused")]


def test_a_text_is_rated_and_explained_by_keys_alone(page, opened):
    campaign = opened("bias_level")
    join(page, campaign)
    press(page, "4", "Tab")
    page.keyboard.type("That all bakers weave.")
    press(page, "Control+Enter")
    saved(page, 1)
    assert judgements() == [("level", None, 4), ("association", None, "That all bakers weave.")]


def test_a_picture_is_described_by_keys_alone(page, opened):
    campaign = opened("open_question")
    join(page, campaign)
    page.locator("[name='answers.description']").focus()
    page.keyboard.type("A drum.\nA hat stands beside it.")
    press(page, "Control+Enter")
    saved(page, 1)
    assert judgements() == [("description", None, "A drum.\nA hat stands beside it.")]


@pytest.mark.slow
@pytest.mark.parametrize("kind", QUESTION_KINDS)
def test_the_screen_of_a_kind_suits_everybody(new_page, opened, kind):
    """Axe finds nothing; a phone shows it without horizontal scrolling, with controls large enough for fingers."""
    page = new_page(size=PHONE, touch=True)
    join(page, opened(kind))
    assert page.evaluate("document.documentElement.scrollWidth") <= PHONE["width"]
    small = """() => [...document.querySelectorAll(".asked label, .asked button")]
      .filter((one) => one.getClientRects().length)
      .map((one) => one.getBoundingClientRect())
      .filter(({ width, height }) => Math.min(width, height) < 39.5).length"""
    assert page.evaluate(small) == 0
    open_parts(page)
    press(page, "2", "2")
    assert violations(page) == []
