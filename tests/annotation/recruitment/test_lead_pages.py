"""Leads plan, open, review and settle recruitments; nobody else sees them."""

from datetime import timedelta
from decimal import Decimal

import pytest
from django.urls import reverse
from django.utils import timezone

from annotation.assignment import quota_rules
from annotation.campaigns import lifecycle
from annotation.kinds.registry import kind_of
from annotation.models import Campaign
from annotation.recruitment import cost, identities, recruitments
from annotation.recruitment.lead import cells
from annotation.recruitment.models import PanelPerson, PanelPlace, Recruitment
from annotation.recruitment.payments import decisions, review
from annotation.recruitment.payments.decisions import Decision
from foundation.errors import Conflict, DomainError
from studies.models import AuditEntry

pytestmark = pytest.mark.django_db

PLACE = {"study": "isles", "campaign": "marking"}
LONG = (
    "The same answer was given to every screen within a second each, although a message asked to look again. "
)


def page(name, **more):
    return reverse(f"annotation:{name}", kwargs={**PLACE, **more})


def terms(**changes):
    return {
        "name": "Anybody", "places": "60", "screens": "40", "minutes": "20", "reward": "3.00",
        "currency": "gbp", "fee_percent": "33.3", **changes,
    }  # fmt: skip


def test_a_recruitment_is_created_and_gets_a_link_for_the_panel(marking, study, lead_client):
    assert b"No panel yet" in lead_client.get(page("recruitments")).content
    described = lead_client.get(page("panel_new") + "?panel=prolific").context["form"].initial
    lead_client.post(page("panel_new"), described)
    planned = lead_client.post(page("recruitment_new"), terms(provider=study.providers.get().pk), follow=True)
    recruitment = Recruitment.objects.get()
    assert (recruitment.reward, recruitment.currency, recruitment.state) == (300, "GBP", "draft")
    content = planned.content.decode()
    assert "239.94 GBP" in content  # 60 × 3.00, and a third on top
    assert f"{recruitment.public_id}/?PROLIFIC_PID={{{{%PROLIFIC_PID%}}}}&amp;SESSION_ID=" in content
    lead_client.post(page("recruitment_open", recruitment=recruitment.pk))
    recruitment.refresh_from_db()
    assert recruitment.state == "open"
    assert b"239.94 GBP" in lead_client.get(page("recruitments")).content


def test_a_lead_reads_which_currencies_the_budget_leaves_out(marking, recruit, lead_client, lead):
    sentence = "The campaign’s budget is in EUR, so it does not include recruitments in GBP and USD."
    for currency, reward in (("GBP", "2.00"), ("USD", "3.00"), ("EUR", "3.00")):
        recruit(name=currency, currency=currency, reward=Decimal(reward))
    assert "budget" not in lead_client.get(page("recruitments")).content.decode()
    budget = {"pay_budget": 4.0, "pay_currency": "EUR"}
    lifecycle.change_settings(campaign=marking, by=lead, options=budget)
    assert sentence in lead_client.get(page("recruitments")).content.decode()
    Recruitment.objects.exclude(currency="EUR").delete()
    assert "budget" not in lead_client.get(page("recruitments")).content.decode()


@pytest.mark.parametrize(
    ("changes", "sentence"),
    [
        ({"reward": "1.99"}, "The reward comes to 5.97 GBP an hour. Pay at least 6.00 GBP"),
        ({"reward": "2.66", "currency": "USD"}, "Pay at least 8.00 USD an hour"),
        ({"reward": "2.005"}, "no more than 2 decimal places"),
        ({"currency": "£"}, "at least 3 characters"),
        ({"currency": "JPY", "reward": "300.50"}, "Give an amount in JPY with no more decimal places"),
        ({"places": "0"}, "greater than or equal to 1"),
    ],
)
def test_impossible_terms_are_refused(marking, panel, lead_client, changes, sentence):
    response = lead_client.post(page("recruitment_new"), terms(provider=panel.pk, **changes))
    assert response.status_code == 400
    assert sentence in response.content.decode()
    assert not Recruitment.objects.exists()


@pytest.mark.parametrize(
    "change",
    [{"imported": True}, {"labelled_in": "label_studio"}, {"state": "closed", "closed_at": timezone.now()}],
)
def test_nobody_is_recruited_where_no_screens_are_given_out(marking, recruit, change):
    Campaign.objects.update(**change)
    marking.refresh_from_db()
    with pytest.raises(Conflict, match="not closed and is labelled in Stereoscope"):
        recruit()
    assert not Recruitment.objects.exists()


def test_pay_exactly_at_the_floor_is_accepted(marking, panel, lead_client):
    lead_client.post(page("recruitment_new"), terms(provider=panel.pk, reward="2.00"))
    assert Recruitment.objects.get().reward == 200


@pytest.mark.parametrize(
    "changes", [{"completion_address": "http://x"}, {"person_parameter": "a b"}, {"place_parameter": "pid"}]
)
def test_an_invalid_panel_is_refused(marking, lead_client, study, changes):
    described = {"name": "P", "person_parameter": "pid", **changes}
    assert lead_client.post(page("panel_new"), described).status_code == 400
    assert not study.providers.exists()


def test_cells_follow_from_the_quotas(study, lead, marking):
    campaign = lifecycle.create(
        study=study, name="Cells", kind="stereotype_marking", by=lead, annotators_per_task=3
    )
    rules = ["woman_and_man", "at_least 1 age_band = 18-24"]
    quota_rules.store(
        campaign,
        quota_rules.parse(rules, annotators_per_task=3, kind=kind_of(campaign)),
    )
    opened = lifecycle.open_(campaign=campaign, by=lead)
    screens = opened.tasks.count()
    proposal = cells.propose(opened)
    assert {cell.name: cell.answers for cell in proposal.cells} == {
        "Gender: woman": screens,
        "Gender: man": screens,
        "Anybody": screens,
    }
    assert proposal.cells[0].places(3) == -(-screens // 3)
    assert proposal.others == ("At least 1 of each task’s annotators: age band is 18-24.",)


def test_a_rule_about_the_group_shown_gives_a_cell_for_each_group(study, lead, marking):
    campaign = lifecycle.create(
        study=study, name="Groups", kind="stereotype_marking", by=lead, annotators_per_task=2
    )
    rules = quota_rules.parse(["from_the_region"], annotators_per_task=2, kind=kind_of(campaign))
    quota_rules.store(campaign, rules)
    opened = lifecycle.open_(campaign=campaign, by=lead)
    proposal = cells.propose(opened)
    assert sum(cell.answers for cell in proposal.cells) == 2 * opened.tasks.count()
    assert all(cell.name.startswith("Region of origin: ") for cell in proposal.cells[:-1])


def test_everybody_who_worked_is_proposed_and_approved_together(recruitment, guest, lead, lead_client):
    worked = guest(recruitment, "a")
    worked.answer(3)
    worked.get(worked.page("end"))
    guest(recruitment, "b", ready=False).post(reverse("panel:stop", args=[recruitment.public_id]))
    still = guest(recruitment, "c")
    assert review.undecided(recruitment).count() == 1
    lead_client.post(page("recruitment_approve", recruitment=recruitment.pk))
    outcomes = dict(PanelPlace.objects.values_list("state", "outcome"))
    assert outcomes == {"completed": "approved", "declined": "", "working": ""}
    with pytest.raises(Conflict, match="still working"):
        decisions.decide(place=still.place, decision=Decision("approved"), by=lead)


def test_a_rejection_is_a_persons_decision_with_a_reason(recruitment, guest, lead_client):
    worked = guest(recruitment, "a")
    worked.answer(3)
    worked.get(worked.page("end"))
    address = page("panel_place", recruitment=recruitment.pk, place=worked.place.pk)
    decision = {"action": "decide", "outcome": "rejected", "reason": "Bad.", "category": "OTHER"}
    assert lead_client.post(address, decision).status_code == 400
    assert worked.place.outcome == ""
    lead_client.post(address, decision | {"reason": LONG})
    assert worked.place.outcome == "rejected"


def test_a_returned_place_is_ended_by_the_lead(recruitment, guest, lead_client):
    browser = guest(recruitment)
    browser.answer(1)
    lead_client.post(page("panel_place_end", recruitment=recruitment.pk, place=browser.place.pk))
    recruitment.refresh_from_db()
    assert (browser.place.state, recruitment.held) == ("left", 0)


def test_ids_are_shown_to_the_lead_once_and_the_history_says_so(recruitment, guest, lead_client):
    browser = guest(recruitment)
    address = {"recruitment": recruitment.pk, "place": browser.place.pk}
    assert b"5f3a0c-session" not in lead_client.get(page("panel_place", **address)).content
    shown = lead_client.post(page("panel_place_show", **address), follow=True)
    assert b"5f3a0c-session" in shown.content
    assert b"5f3a0c-session" not in lead_client.get(page("panel_place", **address)).content
    assert AuditEntry.objects.filter(action="panel_place.id_shown").count() == 1
    history = lead_client.get(reverse("studies:history", args=["isles"])).content
    assert "viewed the panel’s id of a place".encode() in history


def test_ids_are_erased_ninety_days_after_everybody_was_paid(recruitment, guest, lead):
    browser = guest(recruitment)
    browser.answer(3)
    browser.get(browser.page("end"))
    with pytest.raises(Conflict, match="Close the recruitment first"):
        decisions.settle(recruitment=recruitment, by=lead)
    recruitments.move(recruitment=recruitment, to="close", by=lead)
    with pytest.raises(Conflict, match="Approve or reject"):
        decisions.settle(recruitment=recruitment, by=lead)
    decisions.approve_all(recruitment=recruitment, by=lead)
    settled = decisions.settle(recruitment=recruitment, by=lead)
    with pytest.raises(Conflict, match="settled"):
        decisions.decide(place=browser.place, decision=Decision("rejected", LONG, "OTHER"), by=lead)
    for days, left in ((89, 1), (91, 0)):
        moment = timezone.now() - timedelta(days=days)
        Recruitment.objects.filter(pk=settled.pk).update(settled_at=moment)
        identities.erase_old()
        assert PanelPlace.objects.exclude(submission_sealed="").count() == left
        assert PanelPerson.objects.exclude(id_sealed="").count() == left
    assert browser.place.enrolment.annotator.pseudonym  # their work stays theirs
    with pytest.raises(DomainError, match="erased"):
        identities.show(place=browser.place, by=lead)


def test_an_id_stays_while_another_recruitment_needs_it(recruitment, recruit, guest, lead):
    other = recruit(name="Second cell")
    browser = guest(recruitment)
    browser.answer(3)
    browser.get(browser.page("end"))
    browser.arrive(other, "5f3a0c", "another-session")
    long_ago = timezone.now() - timedelta(days=100)
    Recruitment.objects.filter(pk=recruitment.pk).update(state="closed", settled_at=long_ago)
    assert identities.erase_old() == 1
    assert PanelPerson.objects.exclude(id_sealed="").count() == 1
    assert PanelPlace.objects.exclude(submission_sealed="").get().recruitment == other


def test_pay_below_the_floor_is_reported_with_a_remedy(recruitment, guest, lead_client):
    browser = guest(recruitment)
    browser.answer(3)
    browser.get(browser.page("end"))
    arrived = browser.place.ended_at - timedelta(minutes=30)
    PanelPlace.objects.update(arrived_at=arrived)
    content = lead_client.get(page("recruitment", recruitment=recruitment.pk)).content.decode()
    assert "4.00 GBP an hour" in content.replace("\n", " ").replace("        ", "")
    assert "1.00 GBP" in content
    earned = cost.earned(recruitment)
    assert (earned.minutes, earned.below_floor, earned.top_up.units) == (30.0, True, 100)


def test_amounts_follow_the_currency():
    assert str(cost.Money(123456, "GBP")) == "1,234.56 GBP"
    assert str(cost.Money(500, "JPY")) == "500 JPY"
    assert cost.units_of(Decimal("2.50"), "GBP") == 250


@pytest.mark.parametrize("name", ["recruitments", "panel_new"])
def test_recruitment_is_for_leads_alone(
    recruitment, lead_client, analyst_client, stranger_client, client, name
):
    people = (lead_client, analyst_client, stranger_client, client)
    assert [one.get(page(name)).status_code for one in people] == [200, 403, 404, 302]


@pytest.mark.parametrize("name", ["open", "pause", "close", "approve", "settle"])
def test_only_leads_change_a_recruitment(recruitment, analyst_client, stranger_client, client, name):
    address = page(f"recruitment_{name}", recruitment=recruitment.pk)
    before = Recruitment.objects.values().get()
    assert [one.post(address).status_code for one in (analyst_client, stranger_client, client)] == [
        403,
        404,
        302,
    ]
    assert Recruitment.objects.values().get() == before


def test_a_place_of_another_recruitment_is_not_found(recruitment, recruit, guest, lead_client):
    other = recruit(name="Second cell")
    place = guest(recruitment).place
    for name in ("panel_place_show", "panel_place_end"):
        address = page(name, recruitment=other.pk, place=place.pk)
        assert lead_client.post(address).status_code == 404


def test_an_id_is_shown_on_the_page_of_its_own_place_alone(recruitment, guest, lead_client):
    shown, other = (guest(recruitment, person).place for person in ("5f3a0c", "6a0b1c"))
    lead_client.post(page("panel_place_show", recruitment=recruitment.pk, place=shown.pk))
    seen = lead_client.get(page("panel_place", recruitment=recruitment.pk, place=other.pk))
    assert "-session" not in seen.content.decode()


def test_invalid_transitions_are_refused(recruitment, lead):
    with pytest.raises(Conflict, match="is open"):
        recruitments.move(recruitment=recruitment, to="open", by=lead)


def test_queries_of_the_list_do_not_grow_with_its_length(recruit, guest, lead_client, queries):
    recruit()
    one = queries(lead_client, page("recruitments"))
    for number in range(6):
        guest(recruit(name=f"Cell {number}"), f"person-{number}", ready=False)
    assert queries(lead_client, page("recruitments")) <= one


def test_queries_of_a_page_do_not_grow_with_places(recruit, guest, lead_client, queries):
    recruitment = recruit(places=9)
    address = page("recruitment", recruitment=recruitment.pk)
    guest(recruitment, "first", ready=False)
    one = queries(lead_client, address)
    for number in range(6):
        guest(recruitment, f"person-{number}", ready=False)
    assert queries(lead_client, address) <= one
