"""People get one place by a panel's link, and no later address contains their ids."""

from collections import Counter
from concurrent.futures import ThreadPoolExecutor

import pytest
from django.db import connection
from django.test import Client
from django.urls import reverse

from accounts.models import Annotator
from annotation.assignment import leases
from annotation.campaigns import lifecycle
from annotation.models import Assignment
from annotation.recruitment import places, providers, recruitments
from annotation.recruitment.models import PanelPerson, PanelPlace, Provider
from annotation.recruitment.panel import arrival
from foundation.errors import Conflict
from tests.annotation.databases import shared_database
from tests.annotation.factories import submit
from tests.annotation.recruitment.conftest import Guest

pytestmark = pytest.mark.django_db


def test_a_link_leads_at_once_to_an_address_without_ids(recruitment):
    browser = Guest()
    response = browser.arrive(recruitment, "5f3a0c")
    assert (response.status_code, response["Location"]) == (303, browser.page("welcome"))
    page = browser.get(response["Location"])
    assert page.status_code == 200
    assert b"5f3a0c" not in page.content
    assert b"at most 3 screens" in page.content
    assert b"2.00 GBP" in page.content


def test_arriving_people_are_led_through_consent_to_their_screens(recruitment, guest):
    browser = guest(recruitment, ready=False)
    enrolment = browser.place.enrolment
    assert (
        reverse("annotate:consent", args=[enrolment.campaign_id]).encode()
        in browser.get(browser.page("welcome")).content
    )
    browser.agree()
    assert browser.get(reverse("annotate:task", args=[enrolment.campaign_id])).status_code == 200
    # Their way back is the panel's link: no other is offered.
    link = browser.get(reverse("annotate:link", args=[enrolment.campaign_id]))
    assert link["Location"] == reverse("annotate:task", args=[enrolment.campaign_id])


def test_the_same_link_is_the_same_place_in_any_browser(recruitment, guest):
    first = guest(recruitment)
    second = Guest()
    assert second.arrive(recruitment, "5f3a0c")["Location"] == second.page("welcome")
    assert second.place == first.place
    assert PanelPlace.objects.count() == 1
    recruitment.refresh_from_db()
    assert recruitment.held == 1


def test_a_person_is_one_annotator_in_all_cells(recruitment, recruit, guest):
    other = recruit(name="Second cell")
    browser = guest(recruitment)
    browser.answer(3)
    browser.get(browser.page("end"))
    again = Guest()
    again.arrive(other, "5f3a0c", "another-session")
    assert again.place.enrolment == browser.place.enrolment
    assert Annotator.objects.count() == PanelPerson.objects.count() == 1
    assert again.answer(9) == 3


def test_beginning_in_another_cell_gives_up_the_earlier_place(recruitment, recruit, guest):
    other = recruit(name="Second cell")
    browser = guest(recruitment)
    browser.answer(1)
    Guest().arrive(other, "5f3a0c", "another-session")
    states = dict(PanelPlace.objects.values_list("recruitment__name", "state"))
    assert states == {"Anybody": "left", "Second cell": "working"}
    recruitment.refresh_from_db()
    assert recruitment.held == 0


def test_pages_of_a_recruitment_are_for_people_with_a_place_in_it(recruitment, recruit, guest):
    browser = guest(recruitment)
    browser.recruitment = recruit(name="Second cell")
    assert browser.get(browser.page("end")).status_code == 404
    # As after an erasure: nobody signs in as this annotator, and a visitor is nobody.
    Annotator.objects.filter(pk=browser.place.enrolment.annotator_id).update(user=None)
    assert Client().get(reverse("panel:end", args=[recruitment.public_id])).status_code == 404


def test_the_link_of_a_paused_cell_leaves_the_earlier_place(recruitment, recruit, guest, lead):
    paused = recruitments.move(recruitment=recruit(name="Second cell"), to="pause", by=lead)
    browser = guest(recruitment)
    browser.answer(1)
    again = Guest()
    assert again.arrive(paused, "5f3a0c", "another-session")["Location"] == again.page("refused")
    assert browser.place.state == "working"


def test_the_link_of_a_full_cell_leaves_the_earlier_place(recruitment, recruit, guest):
    full = recruit(name="Second cell", places=1)
    guest(full, "somebody-else")
    browser = guest(recruitment)
    again = Guest()
    assert again.arrive(full, "5f3a0c", "another-session")["Location"] == again.page("refused")
    assert browser.place.state == "working"


def test_the_link_of_a_cell_that_the_person_completed_leaves_the_later_place(recruitment, recruit, guest):
    first = guest(recruitment)
    first.answer(3)
    first.get(first.page("end"))
    later, again = Guest(), Guest()
    later.arrive(recruit(name="Second cell"), "5f3a0c", "another-session")
    assert again.arrive(recruitment, "5f3a0c", "a-third-session")["Location"] == again.page("refused")
    assert later.place.state == "working"


def test_a_person_who_comes_again_to_a_full_cell_exchanges_the_place(recruit, guest):
    cell = recruit(places=1)
    guest(cell)
    Guest().arrive(cell, "5f3a0c", "another-session")
    assert list(PanelPlace.objects.order_by("pk").values_list("state", flat=True)) == ["left", "working"]


def test_work_in_another_campaign_leaves_the_earlier_place(recruitment, recruit, rating, guest):
    browser = guest(recruitment)
    earlier, annotator = browser.place, browser.place.enrolment.annotator
    browser.answer(1)
    Guest().arrive(recruit(campaign=rating), "5f3a0c", "another-session")
    while leased := leases.next_assignment(campaign=rating, annotator=annotator):
        submit(leased, {"rating": 4})
    assert Assignment.objects.filter(task__campaign=rating).count() == 3
    earlier.refresh_from_db()
    assert (earlier.state, places.answered_in(earlier)) == ("working", 1)


def test_a_panel_that_names_only_people_gives_them_a_place_in_each_cell(recruitment, recruit, panel, guest):
    Provider.objects.filter(pk=panel.pk).update(place_parameter="")
    for each in (recruitment, panel):
        each.refresh_from_db()
    first, other = guest(recruitment).place, recruit(name="Second cell")
    browser = Guest()
    assert browser.arrive(other, "5f3a0c")["Location"] == browser.page("welcome")
    assert (browser.place.recruitment, browser.place.enrolment) == (other, first.enrolment)
    assert PanelPlace.objects.count() == 2


@pytest.mark.parametrize(
    "query",
    [
        {},
        {"pid": "a"},
        {"pid": "{{%PID%}}", "session": "s"},
        {"pid": "a", "session": "x" * 201},
        {"pid": "a\x01b", "session": "s"},
    ],
)
def test_a_link_without_ids_gives_no_place(recruitment, query):
    client = Client()
    response = client.get(reverse("panel:arrive", args=[recruitment.public_id]), query)
    assert response["Location"] == reverse("panel:refused", args=[recruitment.public_id])
    assert b"does not say who you are" in client.get(response["Location"]).content
    assert PanelPlace.objects.count() == 0


def test_a_head_request_to_a_link_gives_no_place(recruitment):
    address = reverse("panel:arrive", args=[recruitment.public_id])
    assert Client().head(address, {"pid": "a", "session": "b"}).status_code == 405
    assert PanelPlace.objects.count() == 0


def test_an_unknown_recruitment_is_reported(db):
    unknown = "2b1c0c7e-3f0f-4c3a-8b0a-6f6b1d1c9a10"
    client = Client()
    response = client.get(reverse("panel:arrive", args=[unknown]), {"pid": "a", "session": "b"})
    assert client.get(response["Location"]).status_code == 404


def test_no_more_people_begin_than_there_are_places(recruitment, guest):
    for person in ("a", "b"):
        guest(recruitment, person)
    late = Guest()
    refused = late.get(late.arrive(recruitment, "c")["Location"])
    assert b"All places are taken" in refused.content
    assert b"give your place back" in refused.content
    assert PanelPlace.objects.count() == 2


def test_nobody_begins_while_the_recruitment_is_not_open(recruitment, marking, lead, guest):
    early = guest(recruitment, "a")
    recruitments.move(recruitment=recruitment, to="pause", by=lead)
    late = Guest()
    assert b"Nobody can start here now" in late.get(late.arrive(recruitment, "b")["Location"]).content
    assert early.answer(1) == 1  # people at work continue
    recruitments.move(recruitment=recruitment, to="open", by=lead)
    lifecycle.pause(campaign=marking, by=lead)
    assert late.arrive(recruitment, "b")["Location"] == late.page("refused")


def test_nobody_takes_part_twice(recruitment, guest):
    browser = guest(recruitment)
    browser.answer(3)
    browser.get(browser.page("end"))
    again = Guest()
    page = again.get(again.arrive(recruitment, "5f3a0c", "another-session")["Location"])
    assert b"You have already taken part" in page.content


def test_a_place_is_not_given_to_another_person(recruitment, guest):
    guest(recruitment, "a")
    thief = Guest()
    page = thief.get(thief.arrive(recruitment, "b", "a-session")["Location"])
    assert b"belongs to somebody else" in page.content


def test_a_lead_who_tries_the_link_stays_who_they_are(recruitment, lead_client):
    query = {"pid": "a", "session": "b"}
    response = lead_client.get(reverse("panel:arrive", args=[recruitment.public_id]), query)
    assert response["Location"] == reverse("panel:refused", args=[recruitment.public_id])
    assert b"signed in as somebody else" in lead_client.get(response["Location"]).content
    assert PanelPlace.objects.count() == 0


def test_a_browser_used_by_two_people_signs_in_the_second(recruitment, guest):
    browser = guest(recruitment, "a")
    first = browser.place
    browser.arrive(recruitment, "b")
    assert browser.place != first


def test_where_a_person_has_one_id_it_names_the_place_too(marking, study, lead, recruit):
    sona = providers.add(
        study=study,
        by=lead,
        name="SONA",
        links=providers.LinkForm(
            "SONA", "survey_code", completion_address="https://sona.example/credit?code={person}"
        ),
    )
    recruitment = recruit(name="Students")
    type(recruitment).objects.filter(pk=recruitment.pk).update(provider=sona)
    browser = Guest()
    browser.recruitment = recruitment
    browser.get(browser.page("arrive"), {"survey_code": "41/2"})
    browser.agree().answer(3)
    browser.get(browser.page("end"))
    assert browser.get(browser.page("return"))["Location"] == "https://sona.example/credit?code=41%2F2"


def test_pages_of_a_place_are_for_its_person_alone(recruitment, guest, stranger_client, lead_client):
    browser = guest(recruitment)
    for client in (Client(), stranger_client, lead_client):
        for name in ("welcome", "end", "return"):
            assert client.get(browser.page(name)).status_code == 404
        assert client.post(browser.page("stop")).status_code == 404
    assert browser.place.state == "working"


@pytest.mark.django_db(transaction=True)
def test_people_who_come_at_once_never_get_more_places_than_there_are(recruit, tmp_path):
    recruitment = recruit(places=3)

    def come(number: int) -> str:
        try:
            link = arrival.PanelLink(f"person-{number}", f"session-{number}")
            arrival.arrive(recruitment=recruitment, link=link, user=None)
        except Conflict as refusal:
            return refusal.code
        finally:
            connection.close()
        return "came"

    with shared_database(tmp_path):
        with ThreadPoolExecutor(6) as pool:
            came = list(pool.map(come, range(12)))
        recruitment.refresh_from_db()
        assert Counter(came) == {"came": 3, "recruitment_full": 9}
        assert recruitment.held == PanelPlace.objects.count() == 3
        assert Assignment.objects.count() == 0
