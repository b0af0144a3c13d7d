"""Practice in a real browser: failed once, explained, passed, and on to the first task."""

import pytest

from accounts import profiles
from annotation.campaigns import known_tasks, lifecycle
from annotation.models import Annotation, PracticeAnswer, PracticeRound
from annotation.people import invitations
from catalog.models import Attribute
from studies import consent
from tests.e2e.annotator.steps import FIRST, drag, marking, rating, ready
from tests.e2e.conftest import PHONE

__all__ = ["marking", "rating"]
pytestmark = [pytest.mark.e2e, pytest.mark.django_db(transaction=True)]


def add(campaign, lead, *, image=None, explanation="", **answers):
    known = {Attribute.objects.get(text=text.replace("_", " ")): right for text, right in answers.items()}
    first = next(iter(known))
    known_tasks.add(
        campaign=campaign,
        purpose="practice",
        by=lead,
        content=known_tasks.TaskContent(image=image, attributes=list(known)),
        answers=known,
        explanations={first: explanation} if explanation else {},
    )


@pytest.fixture
def practised(marking, lead):
    first, second = marking.study.images.order_by("pk")[:2]
    add(marking, lead, image=first, explanation="It stands on the head.", tall_hat=True)
    add(marking, lead, image=second, kite=False)
    return lifecycle.change_settings(campaign=marking, by=lead, options={"practice_pass_mark": 0.9})


def come(page, campaign) -> None:
    page.goto(f"/annotate/i/{invitations.invite(campaign=campaign, by=None)[1]}/")
    page.get_by_role("button", name="Start").click()
    page.wait_for_url("**/consent/")
    annotator = campaign.enrolments.latest("pk").annotator
    consent.give(annotator=annotator, text=consent.current_text(campaign.study))
    profiles.describe(annotator=annotator)
    page.goto(f"/annotate/{campaign.pk}/")


def begun(page) -> None:
    """Wait until the page's script is ready and its picture loaded, without which nothing can be submitted."""
    page.locator("form[data-practice][data-ready]").wait_for()
    for _ in range(100):
        if page.evaluate(
            "[...document.querySelectorAll('[data-image]')].every((one) => one.naturalWidth > 0)"
        ):
            return
        page.wait_for_timeout(50)
    pytest.fail("the picture did not load")


def told(page, words: str) -> None:
    page.get_by_role("heading", name=words).wait_for()
    page.locator("[data-feedback][data-ready]").wait_for()


def test_somebody_fails_once_learns_and_passes_by_mouse_and_keys(page, practised):
    come(page, practised)
    page.get_by_role("heading", name="Practice first").wait_for()
    page.get_by_role("button", name="Begin").click()
    begun(page)
    page.keyboard.press("Enter")  # nothing is ticked yet
    page.get_by_text("Tick what the picture shows, or choose").wait_for()
    page.keyboard.press("0")
    page.keyboard.press("Enter")
    told(page, "0 of 1 right")
    assert page.evaluate("document.activeElement.tagName") == "H1"  # so that screen readers read it out
    page.get_by_text("It stands on the head.").wait_for()
    page.keyboard.press("g")  # to the guidelines, and back
    page.locator("[data-guidelines][open] summary:focus").wait_for()
    page.keyboard.press("g")
    page.locator("[data-guidelines]:not([open])").wait_for()
    page.get_by_role("link", name="Next practice task").click()
    begun(page)
    page.keyboard.press("0")
    page.get_by_role("button", name="Submit").click()
    told(page, "1 of 1 right")
    page.get_by_role("link", name="How it went").click()
    page.get_by_text("1 of 2 answers were right. 90 % are needed.").wait_for()
    page.get_by_role("button", name="Try again").click()

    begun(page)
    page.locator("[data-attribute]").get_by_role("checkbox").check()
    page.get_by_role("button", name="Submit").click()
    page.get_by_text("Draw a box around the place where you see it.").first.wait_for()  # as on a real task
    drag(page, FIRST)
    page.get_by_role("button", name="Submit").click()
    told(page, "1 of 1 right")
    assert page.locator("svg rect.label-1").count() == 1
    page.locator("h1").focus()
    page.keyboard.press("Enter")
    begun(page)
    page.keyboard.press("0")
    page.keyboard.press("Enter")
    told(page, "1 of 1 right")
    page.get_by_role("link", name="How it went").click()
    page.get_by_role("heading", name="Practice passed").wait_for()
    page.get_by_role("link", name="Begin your tasks").click()
    ready(page)
    assert list(PracticeRound.objects.values_list("passed", flat=True)) == [False, True]
    (box,) = PracticeAnswer.objects.get(round__number=2, task__image=box_image(practised)).answer["boxes"]
    assert (box["x"], box["y"]) == pytest.approx(FIRST[:2], abs=0.01)
    assert not Annotation.objects.exists()


def box_image(campaign):
    return campaign.study.images.order_by("pk").first()


def test_a_rating_is_practised_on_a_phone(new_page, rating, lead):
    add(rating, lead, explanation="It can be pointed at.", drum=[4, 5])
    page = new_page(size=PHONE, touch=True)
    come(page, rating)
    page.get_by_role("button", name="Begin").click()
    begun(page)
    page.get_by_text("Disagree", exact=True).tap()
    page.get_by_role("button", name="Submit").tap()
    told(page, "0 of 1 right")
    page.get_by_text("It can be pointed at.").wait_for()
    assert page.evaluate("document.documentElement.scrollWidth <= window.innerWidth")
    page.get_by_role("link", name="How it went").tap()
    page.get_by_role("heading", name="Not passed yet").wait_for()
    assert page.evaluate("document.documentElement.scrollWidth <= window.innerWidth")
