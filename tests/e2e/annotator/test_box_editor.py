"""The picture and its boxes in a real browser: nested boxes, zooming and panning, blurring, breaks."""

import pytest

from annotation.models import Annotation, Box, ImageReport
from tests.e2e.annotator.steps import assert_holds, drag, join, link, marking, rating, ready, saved, shown_at
from tests.e2e.conftest import PHONE

__all__ = ["marking", "rating"]
pytestmark = [pytest.mark.e2e, pytest.mark.django_db(transaction=True)]

OUTER = (0.1, 0.1, 0.9, 0.9)
INNER = (0.4, 0.4, 0.6, 0.6)


def tick(page, number) -> None:
    page.locator("[data-attribute] input").nth(number - 1).check()


def click(page, x, y) -> None:
    left, top, width, height = shown_at(page)
    page.mouse.click(left + x * width, top + y * height)


def chosen(page) -> list[int]:
    """Return the indices, in drawing order, of the selected boxes."""
    boxes = page.locator("[data-overlay] [data-box]").all()
    return [place for place, box in enumerate(boxes) if "selected" in box.get_attribute("class")]


def until(page, holds) -> None:
    """Wait for asynchronous effects of the browser, such as the event of a turned wheel."""
    for _ in range(400):
        if holds():
            return
        page.wait_for_timeout(25)
    pytest.fail("it did not come to hold")


def submit(page) -> None:
    page.get_by_role("button", name="Submit").click()
    saved(page, 1)


def test_a_box_of_another_attribute_is_drawn_inside_a_box_and_each_can_be_chosen_and_moved(page, marking):
    join(page, marking)
    tick(page, 1)
    drag(page, OUTER)
    tick(page, 2)
    drag(page, INNER)
    assert chosen(page) == [1]
    click(page, 0.2, 0.2)
    assert chosen(page) == [0]
    # Where boxes overlap, the smaller is selected first, then the one around it.
    page.keyboard.press("Escape")
    click(page, 0.5, 0.5)
    assert chosen(page) == [1]
    click(page, 0.5, 0.5)
    assert chosen(page) == [0]
    # A drag that begins in the selected box moves it, even where another box covers it.
    drag(page, (0.5, 0.5, 0.55, 0.55))
    submit(page)
    outer, inner = Box.objects.order_by("pk")
    assert_holds(outer, (0.15, 0.15, 0.95, 0.95))
    assert_holds(inner, INNER)
    assert outer.judgement_id != inner.judgement_id


def test_with_draw_inside_boxes_on_a_drag_in_the_chosen_box_draws(page, marking):
    join(page, marking)
    tick(page, 1)
    drag(page, OUTER)
    page.get_by_role("button", name="Draw inside boxes").click()
    drag(page, INNER)
    page.keyboard.press("d")
    drag(page, (0.5, 0.5, 0.6, 0.6))
    submit(page)
    outer, inner = Box.objects.order_by("pk")
    assert_holds(outer, OUTER)
    assert_holds(inner, (0.5, 0.5, 0.7, 0.7))


def test_boxes_keep_their_place_on_the_picture_while_it_is_enlarged_and_moved(page, marking):
    join(page, marking)
    tick(page, 1)
    before = shown_at(page)
    for _ in range(2):
        page.get_by_role("button", name="Zoom in").click()
    enlarged = shown_at(page)
    assert enlarged[2] == pytest.approx(before[2] * 2.25, rel=0.01)
    drag(page, (0.45, 0.45, 0.55, 0.60))
    # The wheel moves the enlarged picture; Ctrl and the wheel enlarge it around the pointer.
    left, top, width, height = shown_at(page)
    page.mouse.move(left + 0.5 * width, top + 0.5 * height)
    page.mouse.wheel(120, 80)
    until(page, lambda: shown_at(page)[:2] != (left, top))
    page.keyboard.down("Control")
    page.mouse.wheel(0, -200)
    page.keyboard.up("Control")
    until(page, lambda: shown_at(page)[2] > enlarged[2] * 1.5)
    # In the enlarged picture, a drag moves the box by the same distance in the picture.
    drag(page, (0.5, 0.5, 0.51, 0.52))
    page.keyboard.press("f")
    assert shown_at(page) == pytest.approx(before, abs=1)
    assert page.evaluate("document.documentElement.scrollWidth") <= 1280
    submit(page)
    assert_holds(Box.objects.get(), (0.46, 0.47, 0.56, 0.62))


def test_by_keyboard_the_picture_is_enlarged_moved_and_shown_whole(page, marking):
    join(page, marking)
    page.keyboard.press("+")
    page.keyboard.press("+")
    left, top, *_ = shown_at(page)
    page.locator("[data-overlay]").focus()
    page.keyboard.press("ArrowRight")
    page.keyboard.press("ArrowDown")
    assert shown_at(page)[:2] == pytest.approx((left - 48, top - 48), abs=1)
    page.keyboard.press("-")
    page.keyboard.press("f")
    assert page.get_by_role("button", name="Whole picture").is_disabled()
    assert page.locator("[data-overlay]").get_attribute("tabindex") is None


def test_two_fingers_enlarge_the_picture_and_draw_nothing(new_page, marking):
    phone = new_page(size=PHONE, touch=True)
    join(phone, marking)
    tick(phone, 1)
    phone.evaluate("window.scrollTo(0, 0)")
    left, top, width, height = shown_at(phone)
    fingers = phone.context.new_cdp_session(phone)

    def touch(kind, apart):
        middle = (left + width / 2, top + height / 2)
        points = [{"x": middle[0] + side * apart, "y": middle[1], "id": side + 1} for side in (-1, 1)]
        fingers.send("Input.dispatchTouchEvent", {"type": kind, "touchPoints": points if apart else []})

    touch("touchStart", 40)
    for apart in range(50, 121, 10):
        touch("touchMove", apart)
    touch("touchEnd", 0)
    assert shown_at(phone)[2] > 2 * width
    assert phone.locator("[data-overlay] [data-box]").count() == 0
    assert phone.evaluate("document.documentElement.scrollWidth") <= PHONE["width"]
    drag_by_taps = [(0.45, 0.45), (0.55, 0.55)]
    left, top, width, height = shown_at(phone)
    for x, y in drag_by_taps:
        phone.touchscreen.tap(left + x * width, top + y * height)
    phone.locator("[data-overlay] [data-box]").wait_for()
    submit(phone)
    assert_holds(Box.objects.get(), (0.45, 0.45, 0.55, 0.55))


def test_arrows_go_through_the_answers_to_submit(page, marking):
    join(page, marking)
    page.locator("[data-question]").focus()
    count = page.locator("[data-attribute]").count()
    for _ in range(count + 1):
        page.keyboard.press("ArrowDown")
    page.keyboard.press("Space")
    assert page.get_by_role("checkbox", name="None of the above").is_checked()
    page.keyboard.press("ArrowDown")
    assert page.evaluate("document.activeElement.matches('[data-submit]')")
    page.keyboard.press("Enter")
    saved(page, 1)
    assert Annotation.objects.get().none_of_the_above


def test_pictures_stay_blurred_until_shown_for_who_chose_so_before_the_first(page, marking):
    page.goto(link(marking))
    page.get_by_role("button", name="Start").click()
    page.get_by_role("checkbox", name="Blur each picture until I show it").check()
    page.get_by_role("button", name="I am 18 or older and I agree").click()
    page.get_by_role("button", name="Skip").click()
    page.get_by_role("link", name="Go to the first task").click()
    ready(page)
    blur = "getComputedStyle(document.querySelector('[data-image]')).filter"
    assert page.evaluate(blur).startswith("blur")
    page.keyboard.press("0")
    page.get_by_role("button", name="Submit").click()
    page.get_by_text("Show the picture first, or skip it.").wait_for()
    page.locator(".reveal").click()
    assert page.evaluate(blur) == "none"
    submit(page)
    assert page.evaluate(blur).startswith("blur")  # the next one
    page.keyboard.press("v")
    assert page.evaluate(blur) == "none"
    page.get_by_text("Blurring and breaks").click()
    page.get_by_role("checkbox", name="Blur pictures until I show them").uncheck()
    page.reload()
    ready(page)
    assert page.evaluate(blur) == "none"


def test_after_half_an_hour_of_work_a_break_is_offered_and_can_be_put_off(page, marking):
    page.clock.install()
    join(page, marking)
    reminder = page.locator("#break-reminder")
    for _ in range(29):
        page.keyboard.press("Shift")
        page.clock.run_for(60_000)
    assert reminder.is_hidden()
    for _ in range(2):
        page.keyboard.press("Shift")
        page.clock.run_for(60_000)
    assert reminder.is_visible()
    reminder.get_by_role("button", name="Not now").click()
    assert reminder.is_hidden()
    page.clock.run_for(120_000)
    assert reminder.is_hidden()


def test_stopping_shows_the_leads_support_text(page, marking):
    join(page, marking)
    page.get_by_text("If something you see troubles you").click()
    page.get_by_text("skipping never puts you at a disadvantage").wait_for()
    page.get_by_role("button", name="Stop for now").click()
    page.get_by_role("heading", name="If something still troubles you").wait_for()


def test_a_picture_is_reported_without_leaving_the_task(page, marking):
    join(page, marking)
    tick(page, 1)
    drag(page, INNER)
    page.get_by_text("Report this picture").click()
    page.get_by_role("radio", name="Something else").check()
    page.get_by_role("button", name="Send the report").click()
    page.get_by_text("Write a few words on what is wrong.").wait_for()
    page.complaints.clear()  # the browser reports the refused request
    page.get_by_label("A few words", exact=True).fill("The drum is upside down.")
    page.get_by_role("button", name="Send the report").click()
    page.get_by_text("Reported. Thank you.").wait_for()
    assert page.locator("[data-overlay] [data-box]").count() == 1
    submit(page)
    kept = ImageReport.objects.get()
    assert (kept.reason, kept.details) == ("other", "The drum is upside down.")


def test_in_a_language_written_from_right_to_left_boxes_stand_where_they_are_drawn(page, marking):
    join(page, marking)
    page.evaluate("document.documentElement.dir = 'rtl'")
    tick(page, 1)
    drag(page, INNER)
    page.keyboard.press("ArrowLeft")
    for _ in range(2):
        page.keyboard.press("+")
    drag(page, (0.42, 0.42, 0.45, 0.42))
    submit(page)
    assert_holds(Box.objects.get(), (0.42, 0.40, 0.62, 0.60))
