"""An annotator's answers survive reloads, lost connections, breaks and expired sessions."""

import pytest

from annotation.models import Annotation, Box
from tests.e2e.annotator.steps import (
    FIRST,
    assert_holds,
    drag,
    join,
    link,
    marking,
    rating,
    ready,
    saved,
)
from tests.e2e.conftest import PHONE

__all__ = ["marking", "rating"]

pytestmark = [pytest.mark.e2e, pytest.mark.django_db(transaction=True)]


def test_a_reload_loses_nothing(page, marking):
    join(page, marking)
    page.keyboard.press("1")
    drag(page, FIRST)
    page.reload()
    ready(page)
    page.get_by_text("Your unfinished answer is restored.").wait_for()
    assert page.locator("[data-overlay] [data-box]").count() == 1
    page.get_by_role("button", name="Submit").click()
    saved(page, 1)
    assert_holds(Box.objects.get(), FIRST)


def test_an_untouched_task_says_nothing_of_a_draft_after_a_reload(page, marking):
    join(page, marking)
    page.reload()
    ready(page)
    assert page.locator("#saved").inner_text() == ""


def test_a_lost_connection_is_said_and_the_answer_arrives_once(page, marking):
    join(page, marking)
    page.keyboard.press("0")
    sent = []
    page.route("**/submit", lambda route: (sent.append(route.request.post_data_json), route.abort()))
    page.get_by_role("button", name="Submit").click()
    page.get_by_text("Not saved yet: no connection.").wait_for()
    page.unroute("**/submit")
    page.route("**/submit", lambda route: (sent.append(route.request.post_data_json), route.continue_()))
    saved(page, 1)
    assert Annotation.objects.count() == 1
    assert len(sent) >= 2
    assert len({one["submission_id"] for one in sent}) == 1
    page.complaints.clear()  # the browser reports the lost requests


def test_an_answer_on_its_way_when_the_page_is_closed_is_sent_again_by_itself(page, marking):
    join(page, marking)
    page.keyboard.press("0")
    page.route("**/submit", lambda route: route.abort())
    page.get_by_role("button", name="Submit").click()
    page.get_by_text("Not saved yet").wait_for()
    page.unroute("**/submit")
    page.reload()
    saved(page, 1)
    assert Annotation.objects.get().none_of_the_above is True
    page.complaints.clear()


def test_a_picture_that_does_not_load_can_be_tried_again_or_skipped(page, marking):
    page.route("**/images/**", lambda route: route.abort())
    page.goto(link(marking))
    page.get_by_role("button", name="Start").click()
    page.get_by_role("button", name="I am 18 or older and I agree").click()
    page.get_by_role("button", name="Skip").click()
    page.get_by_role("link", name="Go to the first task").click()
    page.locator("form[data-task][data-ready]").wait_for()
    page.get_by_text("The picture did not load.").wait_for()
    page.keyboard.press("0")
    page.get_by_role("button", name="Submit").click()
    page.get_by_text("Wait until the picture has loaded, or skip it.").wait_for()
    page.unroute("**/images/**")
    page.get_by_role("button", name="Try again").click()
    ready(page)
    page.get_by_text("The picture did not load.").wait_for(state="hidden")
    page.complaints.clear()


def test_a_break_and_back_by_the_personal_link_from_another_device(page, new_page, marking):
    address = link(marking)
    page.goto(address)
    page.get_by_role("button", name="Start").click()
    page.get_by_role("button", name="I am 18 or older and I agree").click()
    page.get_by_role("button", name="Skip").click()
    page.get_by_role("link", name="Go to the first task").click()
    ready(page)
    page.keyboard.press("0")
    page.keyboard.press("Enter")
    saved(page, 1)
    page.get_by_role("button", name="Take a break").click()
    page.get_by_role("heading", name="Enough for now. Thank you.").wait_for()
    phone = new_page(size=PHONE, touch=True)
    phone.goto(address)
    phone.get_by_role("button", name="Start").click()
    ready(phone)
    saved(phone, 1)
    assert marking.enrolments.count() == 1


def test_a_task_whose_time_has_run_out_says_so_and_can_still_be_submitted(page, marking):
    page.clock.install()
    join(page, marking)
    assert page.locator("#task-expired").is_hidden()
    page.clock.fast_forward("31:00")
    page.get_by_text("Your time for this task has run out").wait_for()
    page.keyboard.press("0")
    page.get_by_role("button", name="Submit").click()
    saved(page, 1)


def test_of_a_pause_only_the_first_minute_counts_as_work(page, marking):
    page.clock.install()
    join(page, marking)
    page.clock.fast_forward("10:00")
    page.keyboard.press("0")
    with page.expect_request("**/submit") as sent:
        page.get_by_role("button", name="Submit").click()
    saved(page, 1)
    assert 60 <= sent.value.post_data_json["active_seconds"] < 90
    assert Annotation.objects.get().active_seconds < 60  # no longer than the age of the lease


def test_somebody_signed_out_keeps_the_answer(page, marking):
    join(page, marking)
    page.keyboard.press("0")
    page.context.clear_cookies(name="stereoscope_session")
    page.get_by_role("button", name="Submit").click()
    page.get_by_text("You are signed out. Your answer is kept on this device").wait_for()
    assert page.get_by_role("link", name="Sign in again").is_visible()
    page.complaints.clear()  # the browser reports the refused request
