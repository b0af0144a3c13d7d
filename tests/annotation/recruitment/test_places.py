"""The end of a place: the message to its person, and the release of everything held."""

import pytest
from django.urls import reverse

from annotation.assignment import leases
from annotation.campaigns import lifecycle
from annotation.models import Annotation, Assignment, Enrolment
from annotation.people import enrolments
from annotation.recruitment import identities, places
from tests.annotation.factories import new_annotator, submit

pytestmark = pytest.mark.django_db


def done(browser):
    return browser.get(reverse("annotate:done", args=[browser.place.enrolment.campaign_id]), follow=True)


def test_at_most_the_screens_of_a_place_are_given_out(recruitment, guest):
    browser = guest(recruitment)
    assert browser.answer(9) == 3
    assert Annotation.objects.count() == 3
    page = done(browser)
    assert page.redirect_chain[-1][0] == browser.page("end")
    assert b"All done" in page.content
    assert recruitment.completed_code.encode() in page.content
    place = browser.place
    assert (place.state, place.answered) == ("completed", 3)


def test_a_recruited_person_sees_how_many_screens_are_left(recruitment, guest):
    browser = guest(recruitment)
    task = reverse("annotate:task", args=[browser.place.enrolment.campaign_id])
    place = {"before": 0, "reward": "2.00", "currency": "GBP"}
    assert browser.get(task).context["payload"]["progress"] == {"done": 0, "left": 3, "place": place}
    browser.answer(2)
    assert browser.get(task).context["payload"]["progress"] == {"done": 2, "left": 1, "place": place}


def test_a_late_answer_counts_among_the_screens_of_a_place(recruitment, marking, lead, guest):
    browser = guest(recruitment)
    leased = leases.next_assignment(campaign=marking, annotator=browser.place.enrolment.annotator)
    lifecycle.close(campaign=marking, by=lead)
    assert submit(leased, now=leased.expires_at).status == "surplus"
    lifecycle.reopen(campaign=marking, by=lead)
    assert browser.answer(9) == 2
    done(browser)
    assert (browser.place.state, browser.place.answered) == ("completed", 3)


def test_the_answer_over_http_says_how_many_screens_are_left(recruitment, guest):
    browser = guest(recruitment)
    campaign = browser.place.enrolment.campaign_id
    seen = []
    following = browser.post(f"/api/v1/campaigns/{campaign}/next").json()
    for number in range(3):
        answer = {
            "submission_id": f"00000000-0000-4000-8000-00000000000{number}",
            "answer": {"none_of_the_above": True},
        }
        address = f"/api/v1/assignments/{following['assignment']}/submit"
        following = browser.post(address, answer, content_type="application/json").json()["next"]
        seen.append(following and following["progress"]["left"])
    assert seen == [2, 1, None]


def test_the_way_back_is_open_only_once_the_last_answer_is_stored(recruitment, guest):
    browser = guest(recruitment)
    browser.answer(2)
    assert browser.get(browser.page("return"))["Location"] == browser.page("end")
    assert b"Continue" in browser.get(browser.page("end")).content
    assert browser.place.state == "working"
    browser.answer(1)
    browser.get(browser.page("end"))
    back = browser.get(browser.page("return"))
    assert back.status_code == 303
    assert back["Location"] == f"https://panel.example/done?cc={recruitment.completed_code}"


def test_back_button_and_second_tab_show_the_code_again(recruitment, guest):
    browser = guest(recruitment)
    browser.answer(3)
    for _ in range(2):
        assert recruitment.completed_code.encode() in done(browser).content
    task = reverse("annotate:task", args=[browser.place.enrolment.campaign_id])
    assert recruitment.completed_code.encode() in browser.get(task, follow=True).content
    assert browser.arrive(recruitment, "5f3a0c")["Location"] == browser.page("end")


def test_declining_leads_back_without_an_answer(recruitment, guest):
    browser = guest(recruitment, ready=False)
    page = browser.post(browser.page("stop"), follow=True)
    assert recruitment.declined_code.encode() in page.content
    recruitment.refresh_from_db()
    assert (browser.place.state, recruitment.held) == ("declined", 0)


def test_refusing_consent_leads_to_the_page_of_the_place(recruitment, guest):
    browser = guest(recruitment, ready=False)
    consent_page = browser.get(reverse("annotate:consent", args=[browser.place.enrolment.campaign_id]))
    assert browser.page("end").encode() in consent_page.content
    assert b"You have not agreed" in browser.get(browser.page("end")).content
    assert browser.place.state == "working"


def test_stopping_midway_frees_screen_and_place_at_once(recruitment, guest):
    browser = guest(recruitment)
    browser.answer(1)
    enrolment = browser.place.enrolment
    leases.next_assignment(campaign=enrolment.campaign, annotator=enrolment.annotator)
    browser.post(browser.page("stop"))
    assert not Assignment.objects.filter(state="leased").exists()
    recruitment.refresh_from_db()
    place = browser.place
    assert (place.state, place.answered, recruitment.held) == ("left", 1, 0)
    assert browser.answer(1) == 0  # and cannot begin another


def test_people_without_an_available_screen_are_paid_for_coming(recruitment, marking, guest):
    while any(_all_answered(marking)):
        pass
    browser = guest(recruitment)
    page = done(browser)
    assert b"There is no work left for you" in page.content
    assert recruitment.screened_out_code.encode() in page.content
    assert browser.place.state == "screened_out"


def test_nobody_is_paid_for_coming_who_has_not_agreed(recruitment, marking, guest):
    while any(_all_answered(marking)):
        pass
    browser = guest(recruitment, ready=False)
    assert b"You have not agreed" in browser.get(browser.page("end")).content
    assert browser.place.state == "working"


def _all_answered(campaign):
    person = new_annotator(campaign)
    while leased := leases.next_assignment(campaign=campaign, annotator=person):
        submit(leased)
        yield True


def test_a_campaign_that_is_full_early_completes_the_place(recruitment, marking, guest):
    browser = guest(recruitment)
    browser.answer(1)
    while any(_all_answered(marking)):
        pass
    assert b"All done" in done(browser).content
    assert (browser.place.state, browser.place.answered) == ("completed", 1)


def test_a_pause_keeps_the_place_and_people_who_cannot_wait_are_paid(recruitment, marking, lead, guest):
    browser = guest(recruitment)
    browser.answer(1)
    lifecycle.pause(campaign=marking, by=lead)
    assert b"Finish now" in done(browser).content
    assert browser.place.state == "working"
    browser.post(browser.page("stop"))
    assert browser.place.state == "completed"


def test_people_who_cannot_wait_are_paid_for_coming_though_they_answered_nothing(
    recruitment, marking, lead, guest
):
    browser = guest(recruitment)
    lifecycle.pause(campaign=marking, by=lead)
    page = browser.post(browser.page("stop"), follow=True)
    assert recruitment.screened_out_code.encode() in page.content
    assert browser.place.state == "screened_out"


def test_people_paused_by_us_are_paid(recruitment, lead, guest):
    browser = guest(recruitment)
    enrolments.pause(enrolment=browser.place.enrolment, by=lead, reason="Practice was not passed.")
    assert recruitment.screened_out_code.encode() in done(browser).content


def test_an_ended_place_does_not_change(recruitment, guest):
    browser = guest(recruitment)
    browser.answer(3)
    browser.get(browser.page("end"))
    assert places.end(place=browser.place, state="left").state == "completed"
    recruitment.refresh_from_db()
    assert recruitment.held == 1


def test_people_who_came_by_an_invitation_have_no_limit(marking, client):
    person = new_annotator(marking)
    client.force_login(person.user)
    assert Enrolment.objects.get(annotator=person).most_screens is None
    assert client.get(reverse("annotate:done", args=[marking.pk])).status_code == 200


def test_an_erased_id_leaves_the_code_and_no_way_back(recruitment, panel, guest):
    panel.completion_address = "https://panel.example/{place}?cc={code}"
    panel.save()
    browser = guest(recruitment)
    browser.answer(3)
    browser.get(browser.page("end"))
    assert browser.get(browser.page("return"))["Location"].startswith("https://panel.example/5f3a0c-session?")
    place = browser.place
    place.submission_hash, place.submission_sealed = None, ""
    place.save()
    assert browser.get(browser.page("return"))["Location"] == browser.page("end")
    assert identities.KEPT.days == 90
