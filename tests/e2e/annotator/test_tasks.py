"""Annotators at work in a real browser, from the invitation to the rows in the database."""

import re

import pytest

from annotation.models import Annotation, Assignment, Box
from tests.e2e.annotator.steps import (
    FIRST,
    SECOND,
    assert_holds,
    drag,
    join,
    link,
    marking,
    rating,
    ready,
    saved,
    shown_at,
)

__all__ = ["marking", "rating"]

pytestmark = [pytest.mark.e2e, pytest.mark.django_db(transaction=True)]


def test_from_the_invitation_to_two_marked_pictures(page, marking):
    page.goto(link(marking))
    page.get_by_role("heading", name="You are invited to mark what pictures show").wait_for()
    page.get_by_role("button", name="Start").click()
    page.get_by_role("button", name="I am 18 or older and I agree").click()
    page.get_by_label("Gender").fill("Woman")
    page.get_by_label("Languages").fill("Quechua, Spanish")
    page.get_by_role("button", name="Save").click()
    page.get_by_text("This is your personal link").wait_for()
    page.get_by_role("link", name="Go to the first task").click()
    ready(page)

    first, second = (page.locator("[data-attribute]").nth(index) for index in (0, 1))
    asked = [
        first.locator(".choice [data-text]").inner_text(),
        second.locator(".choice [data-text]").inner_text(),
    ]
    first.get_by_role("checkbox").check()
    drag(page, FIRST)
    second.get_by_role("checkbox").check()
    drag(page, SECOND)
    page.get_by_role("button", name="Submit").click()
    saved(page, 1)
    assert page.locator("#saved").inner_text() == "Saved."

    annotation = Annotation.objects.get()
    assert annotation.active_seconds > 0
    boxes = {box.judgement.attribute.text: box for box in Box.objects.select_related("judgement__attribute")}
    assert_holds(boxes[asked[0]], FIRST)
    assert_holds(boxes[asked[1]], SECOND)
    assert annotation.judgements.filter(present=True).count() == 2

    ready(page)
    page.get_by_role("checkbox", name="None of the above").check()
    page.get_by_role("button", name="Submit").click()
    saved(page, 2)
    assert Annotation.objects.latest("pk").none_of_the_above is True
    assert annotation.annotator.profile.languages == ["qu", "es"]


def test_two_clicks_draw_a_box_that_can_be_moved_resized_deleted_and_brought_back(page, marking):
    join(page, marking)
    page.locator("[data-attribute] input").first.check()
    left, top, width, height = shown_at(page)
    for x, y in ((FIRST[0], FIRST[1]), (FIRST[2], FIRST[3])):
        page.mouse.click(left + x * width, top + y * height)
    box = page.locator("[data-overlay] [data-box]")
    box.wait_for()

    # It is selected: dragging inside moves it, dragging a corner resizes it.
    page.mouse.move(left + 0.3 * width, top + 0.2 * height)
    page.mouse.down()
    page.mouse.move(left + 0.4 * width, top + 0.3 * height, steps=4)
    page.mouse.up()
    page.mouse.move(left + 0.65 * width, top + 0.5 * height)
    page.mouse.down()
    page.mouse.move(left + 0.75 * width, top + 0.6 * height, steps=4)
    page.mouse.up()
    page.keyboard.press("Delete")
    assert box.count() == 0
    page.keyboard.press("Control+z")
    assert box.count() == 1
    page.keyboard.press("Control+y")
    assert box.count() == 0
    page.get_by_role("button", name="Undo").click()
    page.get_by_role("button", name="Submit").click()
    saved(page, 1)
    assert_holds(Box.objects.get(), (0.30, 0.20, 0.75, 0.60))


def test_a_box_is_drawn_inside_another(page, marking):
    join(page, marking)
    page.locator("[data-attribute] input").first.check()
    drag(page, (0.1, 0.1, 0.9, 0.9))
    page.keyboard.press("Escape")
    drag(page, (0.4, 0.4, 0.6, 0.6))
    # The new box is selected: with Shift, a drag inside it draws instead of moving it.
    page.keyboard.down("Shift")
    drag(page, (0.45, 0.45, 0.55, 0.55))
    page.keyboard.up("Shift")
    page.get_by_role("button", name="Submit").click()
    saved(page, 1)
    drawn = [(0.1, 0.1, 0.9, 0.9), (0.4, 0.4, 0.6, 0.6), (0.45, 0.45, 0.55, 0.55)]
    for box, corners in zip(Box.objects.order_by("pk"), drawn, strict=True):
        assert_holds(box, corners)


def test_by_keyboard_alone_a_box_is_placed_and_a_task_submitted(page, marking):
    join(page, marking)
    page.keyboard.press("2")
    page.keyboard.press("Enter")
    page.get_by_text("Draw a box around the place where you see it.", exact=True).wait_for()
    assert page.evaluate("document.activeElement.textContent").strip().startswith("Add a box")
    page.keyboard.press("Enter")
    focused = "document.activeElement.getAttribute('aria-label')"
    assert page.evaluate(focused).endswith("30 % from the left, 30 % from the top, 30 % wide, 30 % high")
    for key in (
        "ArrowLeft",
        "ArrowLeft",
        "ArrowUp",
        "Shift+ArrowRight",
        "Shift+ArrowDown",
        "Shift+ArrowDown",
    ):
        page.keyboard.press(key)
    page.keyboard.press("Enter")
    saved(page, 1)
    assert_holds(Box.objects.get(), (0.28, 0.29, 0.59, 0.61))
    # The next question has the focus, and 'none' is one key away.
    assert page.evaluate("document.activeElement.matches('[data-question]')")
    ready(page)
    page.keyboard.press("0")
    page.keyboard.press("Enter")
    saved(page, 2)
    page.keyboard.press("s")
    page.get_by_text("Skipped.").wait_for()
    assert Assignment.objects.filter(state="skipped").count() == 1


def test_none_clears_ticks_and_undo_brings_them_back(page, marking):
    join(page, marking)
    page.keyboard.press("1")
    drag(page, FIRST)
    page.get_by_role("checkbox", name="None of the above").check()
    assert page.locator("[name=ticked]:checked").count() == 0
    assert page.locator("[data-box]").count() == 0
    page.get_by_role("button", name="Undo").click()
    assert page.locator("[name=ticked]:checked").count() == 1
    assert page.locator("[data-overlay] [data-box]").count() == 1
    assert not page.get_by_role("checkbox", name="None of the above").is_checked()


def test_nothing_chosen_is_refused_where_it_is_missing(page, marking):
    join(page, marking)
    page.get_by_role("button", name="Submit").click()
    page.get_by_text("Tick what the picture shows, or choose ‘None of the above’.").first.wait_for()
    assert not Annotation.objects.exists()


def test_the_last_answer_is_corrected(page, marking):
    join(page, marking)
    page.keyboard.press("0")
    page.keyboard.press("Enter")
    saved(page, 1)
    page.get_by_role("link", name="Previous answer").click()
    page.get_by_text("This is your most recent answer.").wait_for()
    ready(page)
    page.keyboard.press("1")
    drag(page, SECOND)
    page.get_by_role("button", name="Save correction").click()
    page.wait_for_url(re.compile(rf"/annotate/{marking.pk}/$"))
    latest = Annotation.objects.get(is_latest=True)
    assert (latest.revision, latest.none_of_the_above) == (2, False)
    assert_holds(Box.objects.get(), SECOND)


def test_ratings_by_key_with_a_reason_for_unsure(page, rating):
    join(page, rating)
    page.keyboard.press("1")
    page.keyboard.press("Enter")
    saved(page, 1)
    page.keyboard.press("5")
    page.keyboard.press("Control+Enter")
    page.locator("#justification-error").get_by_text("Write why you are unsure").wait_for()
    page.keyboard.type("It depends on the weather.")
    page.keyboard.press("Control+Enter")
    saved(page, 2)
    assert list(Annotation.objects.order_by("pk").values_list("judgements__rating", "justification")) == [
        (5, ""),
        (3, "It depends on the weather."),
    ]


def test_all_words_rated_ends_with_thanks(page, rating):
    join(page, rating)
    tasks = rating.tasks.count()
    for done in range(1, tasks + 1):
        page.get_by_role("radio", name="Disagree", exact=True).check()
        page.get_by_role("button", name="Submit").click()
        if done < tasks:
            saved(page, done)
    page.get_by_role("heading", name="All done. Thank you.").wait_for()
    assert Annotation.objects.count() == tasks


def test_without_scripts_words_are_rated_and_pictures_skipped(new_page, rating, marking):
    plain = new_page(java_script_enabled=False)
    for campaign in (rating, marking):
        plain.goto(link(campaign))
        plain.get_by_role("button", name="Start").click()
        if campaign == rating:
            plain.get_by_role("button", name="I am 18 or older and I agree").click()
            plain.get_by_role("button", name="Skip").click()
            plain.get_by_role("link", name="Go to the first task").click()
            plain.get_by_role("radio", name="Unsure").check()
            plain.get_by_label("Why are you unsure?").fill("It depends.")
            plain.get_by_role("button", name="Submit").click()
            plain.get_by_text("1 done").wait_for()
    assert Annotation.objects.get().justification == "It depends."
    plain.locator("noscript .notice").wait_for()
    plain.get_by_role("checkbox", name="None of the above").check()
    plain.get_by_role("button", name="Submit").click()
    plain.get_by_text("1 done").wait_for()
    plain.locator(".sticky-actions").get_by_role("button", name="Skip").click()
    plain.get_by_text("1 done").wait_for()
    assert Assignment.objects.filter(state="skipped").count() == 1


def test_everything_on_the_task_has_a_role_and_a_name(page, marking):
    join(page, marking)
    page.locator("[data-attribute] input").first.check()
    drag(page, FIRST)
    text = page.locator("[data-attribute] [data-text]").first.inner_text()
    page.get_by_role("heading", level=1, name="Which of these does the picture show, and where?").wait_for()
    page.get_by_role("img", name="The picture to judge").wait_for()
    page.get_by_role(
        "application", name=re.compile(rf"Box 1, {re.escape(text)}: 20 % from the left")
    ).wait_for()
    for role, name in [
        ("checkbox", text),
        ("checkbox", "None of the above"),
        ("button", f"Add a box for {text}, to place with the arrow keys"),
        ("button", "Box 1"),
        ("button", "Delete box 1"),
        ("button", "Undo"),
        ("button", "Submit"),
        ("button", "Skip"),
        ("button", "Take a break"),
    ]:
        page.get_by_role(role, name=name, exact=True).wait_for()
    unnamed = page.evaluate(
        """() => [...document.querySelectorAll("button, a, input, select, textarea, summary")]
          .filter((one) => one.type !== "hidden" && one.checkVisibility())
          .filter((one) => !(one.labels?.length || one.getAttribute("aria-label") || one.textContent.trim()))
          .map((one) => one.outerHTML)"""
    )
    assert unnamed == []
    ids = page.evaluate("[...document.querySelectorAll('[id]')].map((one) => one.id)")
    assert len(ids) == len(set(ids))


def test_single_keys_can_be_switched_off(page, marking):
    join(page, marking)
    page.get_by_text("Keys and drawing").click()
    page.get_by_role("checkbox", name="Use single keys on this device").uncheck()
    page.locator("h1").click()
    page.keyboard.press("1")
    assert page.locator("[name=ticked]:checked").count() == 0
    page.reload()
    ready(page)
    page.keyboard.press("1")
    assert page.locator("[name=ticked]:checked").count() == 0


def test_an_earlier_answer_is_corrected_from_the_list(page, marking):
    join(page, marking)
    for done in (1, 2):
        page.keyboard.press("0")
        page.keyboard.press("Enter")
        saved(page, done)
        ready(page)
    page.get_by_role("link", name="Previous answer").click()
    page.get_by_role("link", name="Earlier answer").click()
    page.get_by_text("This is an earlier answer of yours.").wait_for()
    page.get_by_role("link", name="All answers that can still be corrected").click()
    page.get_by_role("link", name="View and correct answer 1").click()
    ready(page)
    page.keyboard.press("1")
    drag(page, FIRST)
    page.get_by_role("button", name="Save correction").click()
    page.wait_for_url(re.compile(rf"/annotate/{marking.pk}/$"))
    first = Annotation.objects.filter(is_latest=True).order_by("assignment").first()
    assert (first.revision, first.none_of_the_above) == (2, False)


def test_one_key_goes_to_the_guidelines_and_back_to_where_one_was(page, marking):
    join(page, marking)
    guidelines = page.locator("[data-guidelines]")
    page.keyboard.press("1")
    page.keyboard.press("g")
    assert page.evaluate("document.activeElement.closest('[data-guidelines]') !== null")
    assert guidelines.get_attribute("open") is not None
    page.keyboard.press("g")
    assert page.evaluate("document.activeElement.name") == "ticked"
    assert guidelines.get_attribute("open") is None


def test_the_pay_so_far_grows_with_each_task(page, study, lead, marking):
    marking.options = marking.options | {"pay_amount": 0.5, "pay_currency": "EUR", "pay_per": "task"}
    marking.save()
    join(page, marking)
    page.get_by_text("€0.00 so far").wait_for()
    page.keyboard.press("0")
    page.keyboard.press("Enter")
    page.get_by_text("€0.50 so far").wait_for()
    page.reload()
    ready(page)
    page.get_by_text("€0.50 so far").wait_for()
