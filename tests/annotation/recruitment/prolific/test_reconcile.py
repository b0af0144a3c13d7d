"""Prolific decides who has a place; people who left there hold no screen here."""

import time
from datetime import timedelta

import pytest
from django.test import Client
from django.utils import timezone

from annotation.models import Assignment
from annotation.recruitment.models import PanelPlace
from annotation.recruitment.payments import decisions
from annotation.recruitment.prolific import reconcile
from tests.annotation.recruitment.prolific.conftest import Visitor

pytestmark = pytest.mark.django_db


def leased() -> int:
    return Assignment.objects.filter(state="leased").count()


def hold_a_screen(browser) -> None:
    from annotation.assignment import leases

    enrolment = browser.place.enrolment
    assert leases.next_assignment(campaign=enrolment.campaign, annotator=enrolment.annotator)


def refused(fake, published, link: str) -> str:
    browser = Client()
    response = browser.get(link.removeprefix("http://testserver"))
    assert response["Location"].endswith("/refused/"), response["Location"]
    return browser.get(response["Location"]).content.decode()


def test_a_place_that_prolific_confirms_is_given(visitor):
    assert visitor().place.verified == "asked"


@pytest.mark.parametrize(
    "change", ["another person", "another place", "another study", "returned", "completed"]
)
def test_a_place_that_prolific_does_not_confirm_is_not_given(fake, published, remote, change):
    browser = Visitor(fake, published, "5f3a0c77b1d2e4a6c8f00112")
    link = browser.reserved["link"]
    if change == "another person":
        link = link.replace("5f3a0c77b1d2e4a6c8f00112", "5f3a0c77b1d2e4a6c8f00113")
    elif change == "another place":
        link = link.replace(browser.submission, "6a0b1c2d3e4f5a6b7c8d9e0f")
    elif change == "another study":
        published.remote_study = "6a0b1c2d3e4f5a6b7c8d9e00"
        published.save()
    elif change == "returned":
        fake.give_back(browser.submission)
    else:
        fake.open_link(browser.submission)
        fake.complete(browser.submission, "X")
    assert "Your place could not be confirmed" in refused(fake, published, link)
    assert PanelPlace.objects.count() == 0


def test_a_link_that_would_lead_elsewhere_at_prolific_is_refused(fake, published):
    browser = Visitor(fake, published, "somebody")
    link = browser.reserved["link"].replace(browser.submission, "..")
    assert "Your place could not be confirmed" in refused(fake, published, link)


def test_while_prolific_does_not_answer_people_are_asked_to_come_again(fake, published):
    browser = Visitor(fake, published, "somebody")
    fake.fault("submission", "502", times=None)
    assert "Please try again in a minute" in refused(fake, published, browser.reserved["link"])
    fake.control("clear_faults")
    assert browser.come()["Location"] == browser.page("welcome")


def test_people_with_a_place_return_without_a_request_to_prolific(fake, visitor):
    browser = visitor()
    fake.kill()
    assert browser.get(browser.reserved["link"].removeprefix("http://testserver"))[
        "Location"
    ] == browser.page("welcome")
    fake.start(int(fake.url.rpartition(":")[2]))


@pytest.mark.parametrize("how", ["RETURNED", "TIMED-OUT"])
def test_people_who_left_at_prolific_hold_no_screen(fake, visitor, published, how):
    browser = visitor()
    browser.answer(1)
    hold_a_screen(browser)
    assert leased() == 1
    if how == "RETURNED":
        fake.give_back(browser.submission)
    else:
        fake.move_clock(seconds=3600)
    began = time.monotonic()
    report = reconcile.compare(published)
    assert time.monotonic() - began < 5
    assert (report.submissions, report.changed) == (1, 1)
    place = browser.place
    assert (place.state, place.answered, place.remote_status, leased()) == ("left", 1, how, 0)
    published.refresh_from_db()
    assert published.held == 0
    assert reconcile.compare(published).changed == 0


def test_people_who_returned_without_finishing_are_proposed_for_review(fake, visitor, published):
    browser = visitor()
    browser.answer(1)
    hold_a_screen(browser)
    browser.finish("")  # no code
    reconcile.compare(published)
    assert (browser.place.state, browser.place.remote_status, leased()) == ("completed", "AWAITING REVIEW", 0)
    idle = visitor("another")
    idle.finish("")
    reconcile.compare(published)
    assert idle.place.state == "left"


def test_payments_by_prolific_are_recorded(fake, visitor, published):
    browser = visitor()
    browser.answer(3)
    browser.finish()
    fake.move_clock(seconds=22 * 24 * 3600)  # Prolific approves by itself
    reconcile.compare(published)
    place = browser.place
    assert (place.state, place.remote_status, place.outcome) == ("completed", "APPROVED", "approved")
    reconcile.compare(published)
    payment = place.payments.get()
    assert (payment.kind, payment.state, payment.amount, payment.currency, payment.decided_by) == (
        *("approve", "confirmed", 200, "GBP", None),
    )
    assert [(row["what"], row["amount"]) for row in fake.ledger()] == [("reward", 200)]


def test_an_approval_ordered_here_is_not_recorded_twice(fake, visitor, published, remote, lead):
    browser = visitor()
    browser.answer(3)
    browser.finish()
    reconcile.compare(published)
    decisions.approve_all(recruitment=published, by=lead)
    remote.approve([browser.submission])
    reconcile.compare(published)
    assert browser.place.payments.get().decided_by == lead


def test_a_rejection_leaves_answers_and_decision_as_they_are(fake, visitor, published, remote):
    browser = visitor()
    browser.answer(3)
    browser.finish()
    remote.reject(browser.submission, "OTHER", "x" * 100)
    reconcile.compare(published)
    place = browser.place
    assert (place.state, place.remote_status, place.outcome, place.answered) == (
        "completed",
        "REJECTED",
        "",
        3,
    )


def test_a_place_that_was_rejected_at_prolific_before_its_work_ended_is_left(
    fake, visitor, published, remote
):
    browser = visitor()
    browser.answer(1)
    fake.complete(browser.submission, "X")
    remote.reject(browser.submission, "NO_CODE", "x" * 100)
    reconcile.compare(published)
    place = browser.place
    assert (place.state, place.remote_status, place.answered) == ("left", "REJECTED", 1)


def test_a_decision_made_here_stays_though_prolific_approves_by_itself(fake, visitor, published, lead):
    browser = visitor()
    browser.answer(3)
    browser.finish()
    reconcile.compare(published)
    rejection = decisions.Decision("rejected", "The same answer to every screen. " * 4, "LOW_EFFORT")
    decisions.decide(place=browser.place, decision=rejection, by=lead)
    fake.move_clock(seconds=22 * 24 * 3600)
    reconcile.compare(published)
    place = browser.place
    assert (place.remote_status, place.outcome, place.decided_by) == ("APPROVED", "rejected", lead)


def test_a_completed_place_reassigned_by_prolific_is_free_here_too(fake, visitor, published):
    browsers = [visitor(f"person-{number}") for number in range(3)]
    for browser in browsers:
        browser.answer(1)
    browsers[0].answer(2)
    browsers[0].finish()
    fake.give_back(browsers[0].submission)
    # Prolific has a free place again without telling us: the newcomer gets it nevertheless.
    newcomer = Visitor(fake, published, "newcomer")
    assert newcomer.come()["Location"] == newcomer.page("welcome")
    published.refresh_from_db()
    assert published.held == 3
    assert browsers[0].place.state == "completed"
    reconcile.compare(published)
    published.refresh_from_db()
    assert published.held == 3


def test_outdated_states_change_nothing(fake, visitor, published):
    browser = visitor()
    now = timezone.now()
    assert reconcile.apply(browser.place, "AWAITING REVIEW", at=now)
    assert not reconcile.apply(browser.place, "ACTIVE", at=now - timedelta(seconds=5))
    assert browser.place.remote_status == "AWAITING REVIEW"
    assert not reconcile.apply(browser.place, "SOMETHING NEW", at=now + timedelta(seconds=5))


def test_opening_the_page_of_a_recruitment_compares_places(fake, visitor, published, lead_client):
    from jobs.models import Job
    from tests.annotation.recruitment.test_lead_pages import page

    browser = visitor()
    fake.give_back(browser.submission)
    address = page("recruitment", recruitment=published.pk)
    lead_client.get(address)
    lead_client.get(address)
    assert Job.objects.filter(kind="recruitment.compare").count() == 1


def test_many_places_are_compared_with_few_queries(fake, visitor, published, django_assert_max_num_queries):
    for number in range(3):
        visitor(f"person-{number}")
    reconcile.compare(published)
    with django_assert_max_num_queries(4):
        reconcile.compare(published)
