"""By keyboard alone: from the invitation through practice, work and corrections to the withdrawal of consent."""

import pytest

from accounts.models import Consent
from annotation.campaigns import known_tasks
from annotation.models import Annotation, Box
from catalog.models import Attribute
from tests.e2e.annotator.steps import link, marking, rating, ready, saved
from tests.e2e.keyboard import button, follow, main_link, press, skip_to_content, walk_through

__all__ = ["marking", "rating"]
pytestmark = [pytest.mark.e2e, pytest.mark.slow, pytest.mark.django_db(transaction=True)]


def come_in(page, campaign) -> None:
    page.goto(link(campaign))
    skip_to_content(page)
    follow(page, button(page, "Start"))
    follow(page, button(page, "I am 18 or older and I agree"))
    follow(page, button(page, "Skip"))
    follow(page, page.locator("main .button.primary.large"))


def test_an_annotator_who_marks_pictures_needs_no_mouse(page, marking):
    come_in(page, marking)
    ready(page)
    walk_through(page)
    first = page.locator("[data-attribute] input").first
    press(page, first, "Space")
    press(page, page.locator("[data-attribute] [data-add]:visible"))
    for key in ("ArrowRight", "Shift+ArrowDown", "v", "v"):
        page.keyboard.press(key)
    press(page, button(page, "Submit"))
    saved(page, 1)
    ready(page)
    assert Box.objects.count() == 1
    press(page, page.locator("[data-report-part] summary"))
    press(page, page.locator("[name=reason]").first, "Space")
    press(page, button(page, "Send the report"))
    page.get_by_text("Reported. Thank you.").wait_for()
    follow(page, page.locator("[data-previous]"))
    ready(page)
    page.keyboard.press("v")  # blurred, as chosen above
    press(page, page.locator("[data-none]"), "Space")
    follow(page, button(page, "Save correction"))
    ready(page)
    latest = Annotation.objects.get(is_latest=True)
    assert (latest.revision, latest.judgements.filter(present=True).count()) == (2, 0)
    follow(page, page.get_by_role("button", name="Take a break"))
    follow(page, main_link(page, "Correct a recent answer"))
    follow(page, main_link(page, "Back to the current task"))
    ready(page)
    page.goto("/annotate/")
    follow(page, main_link(page, "What you agreed to"))
    follow(page, main_link(page, "Withdraw consent"))
    follow(page, button(page, "Withdraw my consent"))
    assert Consent.objects.filter(withdrawn_at__isnull=False).exists()


def test_an_annotator_who_rates_words_needs_no_mouse(page, rating, lead):
    known_tasks.add(
        campaign=rating,
        purpose="practice",
        by=lead,
        content=known_tasks.TaskContent(attributes=[Attribute.objects.get(text="drum")]),
        answers={Attribute.objects.get(text="drum"): [4, 5]},
    )
    come_in(page, rating)
    follow(page, page.locator("main .button.primary.large"))
    page.locator("form[data-ready]").wait_for()
    press(page, page.locator("[name=rating]").first, "Space")
    follow(page, button(page, "Submit"))
    follow(page, page.locator("[data-next]"))
    follow(page, page.locator("main .button.primary.large"))
    ready(page)
    walk_through(page)
    press(page, page.get_by_label("Submit as soon as I choose an answer"), "Space")
    page.locator("[data-question]").focus()
    page.keyboard.press("2")
    saved(page, 1)
    follow(page, page.get_by_role("link", name="Undo"))
    ready(page)
    page.keyboard.press("4")
    follow(page, button(page, "Save correction"))
    ready(page)
    values = Annotation.objects.order_by("pk").values_list("revision", "is_latest", "judgements__rating")
    assert list(values) == [(1, False, 4), (2, True, 1)]
    assert page.locator("#progress").inner_text().startswith("1 done")
