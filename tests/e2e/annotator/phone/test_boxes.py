"""Annotators at work on a phone."""

import pytest

from annotation.models import Box
from tests.e2e.annotator.steps import (
    FIRST,
    assert_holds,
    join,
    marking,
    rating,
    saved,
    shown_at,
)
from tests.e2e.conftest import PHONE

__all__ = ["marking", "rating"]

pytestmark = [pytest.mark.e2e, pytest.mark.django_db(transaction=True)]


def test_on_a_phone_a_box_is_drawn_by_two_taps(new_page, marking):
    phone = new_page(size=PHONE, touch=True)
    join(phone, marking)
    phone.locator("[data-attribute] input").first.check()
    phone.evaluate("window.scrollTo(0, 0)")
    left, top, width, height = shown_at(phone)
    phone.touchscreen.tap(left + FIRST[0] * width, top + FIRST[1] * height)
    phone.touchscreen.tap(left + FIRST[2] * width, top + FIRST[3] * height)
    phone.locator("[data-overlay] [data-box]").wait_for()
    assert phone.evaluate("document.documentElement.scrollWidth") <= PHONE["width"]
    phone.get_by_role("button", name="Submit").click()
    saved(phone, 1)
    assert_holds(Box.objects.get(), FIRST)


def test_on_a_phone_a_finger_draws_a_box_and_does_not_scroll(new_page, marking):
    phone = new_page(size=PHONE, touch=True)
    join(phone, marking)
    phone.locator("[data-attribute] input").first.check()
    phone.evaluate("window.scrollTo(0, 0)")
    left, top, width, height = shown_at(phone)
    finger = phone.context.new_cdp_session(phone)

    def touch(kind, x, y):
        points = [] if kind == "touchEnd" else [{"x": left + x * width, "y": top + y * height}]
        finger.send("Input.dispatchTouchEvent", {"type": kind, "touchPoints": points})

    x1, y1, x2, y2 = FIRST
    touch("touchStart", x1, y1)
    for step in range(1, 6):
        touch("touchMove", x1 + (x2 - x1) * step / 5, y1 + (y2 - y1) * step / 5)
    touch("touchEnd", x2, y2)
    phone.locator("[data-overlay] [data-box]").wait_for()
    assert phone.evaluate("window.scrollY") == 0
    phone.get_by_role("button", name="Submit").click()
    saved(phone, 1)
    assert_holds(Box.objects.get(), FIRST)


def test_on_a_phone_the_first_tick_does_not_move_the_picture(new_page, marking):
    phone = new_page(size=PHONE, touch=True)
    join(phone, marking)
    before = shown_at(phone)
    phone.locator("[data-attribute] input").first.evaluate("(input) => input.click()")
    phone.get_by_text("Draft kept on this device.").wait_for()
    assert shown_at(phone) == pytest.approx(before, abs=1)
