"""Costs of panels count towards a campaign's budget, and pay below the minimum raises a notice."""

from datetime import timedelta
from decimal import Decimal

import pytest
from django.utils import timezone

from annotation.campaigns import lifecycle
from annotation.models import CampaignStop, Notice
from annotation.recruitment import places
from annotation.recruitment.models import PanelPlace
from annotation.watch import notices, stop_rules
from annotation.watch.spending import spent
from tests.annotation.factories import new_annotator

pytestmark = pytest.mark.django_db


def test_places_cost_as_soon_as_they_are_given_and_their_people_nothing_more(marking, recruit, guest, lead):
    recruitment = recruit(fee_percent=Decimal("33.3"))
    marking = lifecycle.change_settings(
        campaign=marking, by=lead, options={"pay_amount": 1.0, "pay_per": "task", "pay_currency": "GBP"}
    )
    assert spent(marking).amount == 0
    guest(recruitment, "ann").answer(2)
    assert str(spent(marking)) == "2.67 GBP"  # 2.00 and a third on top; none of the campaign's rate
    declined = guest(recruitment, "ben")
    places.end(place=declined.place, state="declined")
    assert str(spent(marking)) == "2.67 GBP"
    left = guest(recruitment, "cleo")
    left.answer(1)
    places.end(place=left.place, state="left")
    assert str(spent(marking)) == "5.33 GBP"
    PanelPlace.objects.filter(pk=left.place.pk).update(
        outcome="rejected", reason="x" * 100, decided_at=timezone.now()
    )
    assert str(spent(marking)) == "2.67 GBP"


def test_places_stop_the_campaign_at_its_budget(marking, recruitment, guest, lead):
    lifecycle.change_settings(
        campaign=marking,
        by=lead,
        options={"pay_budget": 4.0, "pay_currency": "GBP", "stop_at_budget": True},
    )
    first = guest(recruitment, "ann")
    assert stop_rules.apply_rules() == []
    guest(recruitment, "ben")
    (stop,) = stop_rules.apply_rules()
    assert (stop.rule, stop.reason) == ("budget", "4.00 GBP of the budget of 4.00 GBP has been spent.")
    # Those who hold a place wait or finish, and are paid.
    first.place.refresh_from_db()
    assert first.place.state == "working"


def test_amounts_in_another_currency_are_named_and_not_added(marking, recruitment, guest):
    guest(recruitment, "ann")
    spending = spent(marking)
    assert (spending.amount, spending.currency, spending.other_currencies) == (0, "EUR", ("GBP",))
    assert not CampaignStop.objects.exists()


def test_a_budget_that_leaves_out_another_currency_says_so(marking, recruit, recruitment, guest, lead):
    lifecycle.change_settings(
        campaign=marking,
        by=lead,
        options={"pay_budget": 4.0, "pay_currency": "EUR", "stop_at_budget": True},
    )
    in_euros = recruit(name="Others", currency="EUR")
    guest(recruitment, "ann")
    guest(in_euros, "ben")
    assert stop_rules.apply_rules() == []
    guest(in_euros, "cleo")
    (stop,) = stop_rules.apply_rules()
    assert stop.reason == "4.00 EUR of the budget of 4.00 EUR has been spent, without payments in GBP."


def test_people_who_need_longer_than_planned_are_noticed(marking, recruit, guest, lead):
    recruitment = recruit(places=3)
    for name in ("ann", "ben", "cleo"):
        place = guest(recruitment, name).place
        places.end(place=place, state="completed")
        PanelPlace.objects.filter(pk=place.pk).update(arrived_at=timezone.now() - timedelta(minutes=30))
    notices.look()
    details = Notice.objects.get(kind="low_pay").details
    assert "Half of the people recruited as “Anybody” earn 4.00 GBP an hour or less" in details
    assert "a bonus of 1.00 GBP" in details
    assert new_annotator(marking).pseudonym not in details
