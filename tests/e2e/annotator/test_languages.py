"""A second language and right-to-left writing, in a real browser."""

import pytest
from django.urls import reverse

from annotation.models import Box
from tests.e2e.annotator.steps import assert_holds, drag, join, link, marking, rating, ready
from tests.e2e.conftest import DESKTOP, PHONE

__all__ = ["marking", "rating"]
pytestmark = [pytest.mark.e2e, pytest.mark.django_db(transaction=True)]

PAGES = ("task", "answers", "done", "consent", "withdraw", "link", "profile")


def test_somebody_works_in_german_from_the_invitation_to_a_saved_answer(page, marking):
    page.goto(link(marking))
    page.get_by_role("button", name="Deutsch").click()
    page.get_by_role("heading", name="Sie sind eingeladen, zu markieren, was Bilder zeigen").wait_for()
    page.get_by_role("button", name="Beginnen").click()
    page.get_by_role("button", name="Ich bin mindestens 18 Jahre alt und stimme zu").click()
    page.get_by_role("button", name="Überspringen").click()
    page.get_by_role("link", name="Zur ersten Aufgabe").click()
    ready(page)
    page.get_by_role("button", name="Abschicken").click()
    page.get_by_text("Kreuzen Sie an, was das Bild zeigt").first.wait_for()
    page.keyboard.press("1")
    page.keyboard.press("Enter")
    page.get_by_text("Zeichnen Sie einen Rahmen um die Stelle, an der es zu sehen ist.").wait_for()
    page.keyboard.press("b")
    page.get_by_text("1 Rahmen", exact=True).wait_for()
    page.get_by_role("application", name="30 % von links").wait_for()
    page.get_by_role("button", name="Abschicken").click()
    page.locator("#progress").get_by_text("1 erledigt").wait_for()
    assert page.locator("#saved").inner_text() == "Gespeichert."


@pytest.mark.parametrize("size", [PHONE, DESKTOP], ids=["phone", "desktop"])
def test_written_from_right_to_left_no_page_is_wider_than_the_screen(new_page, marking, size):
    page = new_page(size=size)
    join(page, marking)
    page.keyboard.press("0")
    page.keyboard.press("Enter")
    page.locator("#progress").get_by_text("1 done").wait_for()
    addresses = [reverse(f"annotate:{name}", args=[marking.pk]) for name in PAGES]
    for address in [*addresses, link(marking), "/annotate/", "/account/sign-in/"]:
        page.goto(address)
        page.evaluate("document.documentElement.dir = 'rtl'")
        page.evaluate("document.querySelectorAll('details').forEach((one) => { one.open = true; })")
        width, left = page.evaluate(
            "[document.documentElement.scrollWidth, Math.min(...[...document.querySelectorAll('main *')]"
            ".filter((one) => one.checkVisibility() && !one.closest('.visually-hidden'))"
            ".map((one) => one.getBoundingClientRect().left))]"
        )
        assert width <= size["width"], address
        assert left >= -1, address


def test_written_from_right_to_left_boxes_are_where_they_were_drawn(page, marking):
    join(page, marking)
    page.evaluate("document.documentElement.dir = 'rtl'")
    page.locator("[data-attribute] input").first.check()
    drag(page, (0.1, 0.2, 0.4, 0.5))
    page.get_by_role("button", name="Zoom in").click()
    drag(page, (0.3, 0.3, 0.4, 0.45))
    page.get_by_role("button", name="Submit").click()
    page.locator("#progress").get_by_text("1 done").wait_for()
    assert_holds(Box.objects.get(), (0.2, 0.35, 0.5, 0.65))


def test_on_a_phone_the_german_buttons_show_all_of_their_words(new_page, marking):
    page = new_page(size=PHONE, locale="de-DE")
    join_in_german(page, marking)
    for button in page.locator(".sticky-actions .button").all():
        assert button.evaluate("(one) => one.scrollWidth <= one.clientWidth + 1"), button.inner_text()
    assert page.evaluate("document.documentElement.scrollWidth") <= PHONE["width"]


def join_in_german(page, campaign) -> None:
    page.goto(link(campaign))
    page.get_by_role("button", name="Beginnen").click()
    page.get_by_role("button", name="Ich bin mindestens 18 Jahre alt und stimme zu").click()
    page.get_by_role("button", name="Überspringen").click()
    page.get_by_role("link", name="Zur ersten Aufgabe").click()
    ready(page)
