"""Settings that a lead may change during a campaign."""

import pytest

from annotation.assignment import leases
from annotation.campaigns import lifecycle
from annotation.models import Campaign
from foundation.errors import Conflict, DomainError
from studies.models import AuditEntry
from tests.annotation.factories import new_annotator

pytestmark = pytest.mark.django_db


@pytest.mark.parametrize("state", ["open", "paused", "closed"])
def test_pay_lease_and_name_of_a_campaign_that_was_opened_can_change(marking, lead, state):
    Campaign.objects.update(state=state)
    changed = lifecycle.change_settings(
        campaign=marking, by=lead, options={"pay_amount": 12.5}, lease_minutes=10, name=" Second  round "
    )
    assert (changed.options, changed.lease_minutes, changed.name) == (
        {"pay_amount": 12.5},
        10,
        "Second round",
    )
    changed.refresh_from_db()
    assert (changed.options, changed.lease_minutes, changed.name) == (
        {"pay_amount": 12.5},
        10,
        "Second round",
    )
    assert changed.state == state


def test_a_change_is_recorded_with_the_old_value(marking, lead):
    lifecycle.change_settings(campaign=marking, by=lead, options={"edit_minutes": 5})
    lifecycle.change_settings(campaign=marking, by=lead, options={"edit_minutes": 10}, name="Marking")
    entry = AuditEntry.objects.filter(action="campaign.settings_changed").first()
    assert entry.actor == lead
    assert entry.details == {"before": {"edit_minutes": 5}, "after": {"edit_minutes": 10}}


def test_a_change_that_changes_nothing_leaves_no_entry(marking, lead):
    lifecycle.change_settings(campaign=marking, by=lead, name="Marking", lease_minutes=30)
    assert not AuditEntry.objects.filter(action="campaign.settings_changed").exists()


def test_omitted_options_stay_and_none_restores_the_default(marking, lead):
    lifecycle.change_settings(campaign=marking, by=lead, options={"gold_share": 0.1, "repeat_share": 0.05})
    lifecycle.change_settings(campaign=marking, by=lead, options={"gold_share": None})
    marking.refresh_from_db()
    assert marking.options == {"repeat_share": 0.05}


@pytest.mark.parametrize(
    ("given", "field"),
    [
        ({"options": {"random_per_stereotype": 2}}, "options.random_per_stereotype"),
        ({"options": {"colour": "red"}}, "options.colour"),
        ({"options": {"gold_share": 0.9}}, "options.gold_share"),
        ({"options": {"pay_currency": "euro"}}, "options.pay_currency"),
        ({"lease_minutes": 0}, "lease_minutes"),
        ({"name": " "}, "name"),
    ],
)
def test_fixed_and_invalid_settings_are_named_and_nothing_changes(marking, lead, given, field):
    with pytest.raises(DomainError) as refusal:
        lifecycle.change_settings(campaign=marking, by=lead, **given)
    assert list(refusal.value.fields) == [field]
    marking.refresh_from_db()
    assert (marking.options, marking.lease_minutes, marking.name) == ({}, 30, "Marking")


def test_a_new_lease_applies_to_tasks_given_out_afterwards(marking, lead):
    early = leases.next_assignment(campaign=marking, annotator=new_annotator(marking))
    lifecycle.change_settings(campaign=marking, by=lead, lease_minutes=5)
    marking.refresh_from_db()
    late = leases.next_assignment(campaign=marking, annotator=new_annotator(marking))
    early.refresh_from_db()
    minutes = [(one.expires_at - one.leased_at).total_seconds() / 60 for one in (early, late)]
    assert minutes == [30, 5]


def test_imported_labels_have_no_settings(marking, lead):
    Campaign.objects.update(imported=True)
    with pytest.raises(Conflict, match="imported from a file"):
        lifecycle.change_settings(campaign=marking, by=lead, name="Other")
