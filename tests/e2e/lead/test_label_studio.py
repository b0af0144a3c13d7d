"""A lead has a campaign labelled in Label Studio: by keyboard, on a page that updates itself."""

import re

import pytest

from annotation.label_studio.models import LabelStudioAnnotation, LabelStudioBridge, LabelStudioUser
from jobs.models import Job
from tests.annotation.factories import new_annotator
from tests.annotation.label_studio.rows import bridge_of, seen, server_of, user_of
from tests.e2e.annotator.steps import marking
from tests.e2e.axe import sign_in
from tests.e2e.conftest import PHONE

__all__ = ["marking"]
expect = pytest.importorskip("playwright.sync_api", reason="playwright is not installed").expect
pytestmark = [pytest.mark.e2e, pytest.mark.django_db(transaction=True)]

HERE = "/studies/isles/campaigns/marking/label-studio/"
SLOW = 20_000
State = LabelStudioAnnotation.State


@pytest.fixture
def signed_in(new_page, client, lead, live_server, settings):
    settings.SITE_URL = "https://here.example.org"

    def opened(**options):
        page = new_page(**options)
        sign_in(page, client, lead, live_server)
        return page

    return opened


def test_a_campaign_begins_by_keyboard(signed_in, marking):
    server_of(marking.study)
    page = signed_in()
    page.goto(HERE)
    usual = page.get_by_role("radio", name=re.compile("3 projects"))
    expect(usual).to_be_checked()
    usual.focus()
    page.keyboard.press("ArrowDown")
    page.keyboard.press("ArrowDown")
    expect(page.get_by_role("radio", name="One project for everybody")).to_be_checked()
    page.keyboard.press("Tab")
    expect(page.get_by_role("button", name="Start labelling in Label Studio")).to_be_focused()
    page.keyboard.press("Enter")
    page.get_by_text("is now labelled in Label Studio").wait_for()
    assert LabelStudioBridge.objects.get().arrangement == "shared"
    assert Job.objects.get().kind == "label_studio.push"


def test_the_page_follows_what_comes_in_and_keeps_the_focus(signed_in, marking):
    bridge = bridge_of(marking)
    page = signed_in()
    page.goto(HERE)
    button = page.get_by_role("button", name="Reconcile now")
    button.focus()
    expect(page.get_by_text("none yet", exact=True)).to_be_visible()
    mapped = user_of(bridge.server, 1, state="mapped", annotator=new_annotator(marking))
    seen(bridge, mapped, 3, state=State.COUNTED)
    work = {"kind": "label_studio.push", "title": "Push", "arguments": {"bridge": bridge.pk}}
    job = Job.objects.create(**work, study_id=marking.study_id, state="running", steps_done=3, steps_total=40)
    expect(page.get_by_role("link", name="3 counted")).to_be_visible(timeout=SLOW)
    expect(page.get_by_role("progressbar")).to_have_attribute("value", "3")
    Job.objects.filter(pk=job.pk).update(steps_done=30)
    expect(page.get_by_role("progressbar")).to_have_attribute("value", "30", timeout=SLOW)
    expect(button).to_be_focused()


def test_somebody_is_named_on_a_phone(signed_in, marking):
    bridge, person = bridge_of(marking), new_annotator(marking)
    user = user_of(bridge.server, 2)
    seen(bridge, user, 2, state=State.WAITING)
    page = signed_in(size=PHONE, touch=True)
    page.goto(HERE)
    page.get_by_role("link", name="Say who they are").click()
    page.get_by_role("link", name=re.compile("Say who this is")).click()
    page.get_by_label("Pseudonym").fill(person.pseudonym)
    page.get_by_role("button", name="Confirm").click()
    page.get_by_text(f"is {person.pseudonym}").wait_for()
    assert LabelStudioUser.objects.get().annotator == person
    # Nothing is wider than the screen.
    for address in (
        HERE,
        f"{HERE}answers/",
        f"{HERE}end/",
        f"/studies/isles/label-studio/{bridge.server_id}/",
    ):
        page.goto(address)
        assert page.evaluate("document.documentElement.scrollWidth") <= PHONE["width"], address
