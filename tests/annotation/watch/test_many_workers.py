"""Concurrent workers with separate connections: a campaign is stopped once, reported once and checked once."""

import pytest
from django.core.cache import cache

from annotation.assignment import leases
from annotation.campaigns import lifecycle
from annotation.models import Campaign, CampaignStop, Notice, PrecisionLook
from annotation.watch import looks, notices, stop_rules
from studies.models import AuditEntry
from tests.annotation.assignment.test_concurrency import at_once
from tests.annotation.databases import shared_database
from tests.annotation.factories import new_annotator, submit

pytestmark = pytest.mark.django_db(transaction=True)
WORKERS = 8


@pytest.fixture
def campaign(marking, lead, tmp_path):
    cache.delete(stop_rules.APPLIED)
    with shared_database(tmp_path):
        yield marking


def test_workers_stop_a_campaign_once(campaign, lead):
    lifecycle.change_settings(campaign=campaign, by=lead, options={"stop_on": "2020-01-31T18:00"})
    results = at_once([stop_rules.apply_rules] * WORKERS + [notices.look] * 2)
    assert not [result for result in results if isinstance(result, Exception)]
    assert sum(len(result) for result in results[:WORKERS]) == 1
    assert Campaign.objects.get(pk=campaign.pk).state == "paused"
    assert AuditEntry.objects.filter(action="campaign.paused").count() == 1
    assert CampaignStop.objects.count() == 1
    assert Notice.objects.filter(kind="stopped", resolved_at=None).count() == 1


def test_a_lead_and_a_rule_at_once_pause_a_campaign_once(campaign, lead):
    lifecycle.change_settings(campaign=campaign, by=lead, options={"stop_on": "2020-01-31T18:00"})
    at_once([stop_rules.apply_rules, lambda: lifecycle.pause(campaign=campaign, by=lead)])
    assert Campaign.objects.get(pk=campaign.pk).state == "paused"
    assert AuditEntry.objects.filter(action="campaign.paused").count() == 1


def test_an_answer_that_is_submitted_while_a_rule_stops_the_campaign_stays(campaign, lead):
    annotators = [new_annotator(campaign) for _ in range(4)]
    leased = [leases.next_assignment(campaign=campaign, annotator=annotator) for annotator in annotators]
    lifecycle.change_settings(
        campaign=campaign, by=lead, options={"stop_on": "2020-01-31T18:00", "stop_by": "close"}
    )
    results = at_once([lambda one=one: submit(one) for one in leased] + [stop_rules.apply_rules] * 2)
    assert not [result for result in results if isinstance(result, Exception)]
    assert {result.status for result in results[:4]} == {"accepted"}
    assert Campaign.objects.get(pk=campaign.pk).state == "closed"


def test_concurrent_workers_count_a_precision_check_once(campaign, lead):
    options = {"stop_half_width": 0.2, "stop_least": 20}
    lifecycle.change_settings(campaign=campaign, by=lead, options=options)
    results = at_once([lambda: looks.record(campaign=campaign, answers=20, half_width=0.1)] * WORKERS)
    assert not [result for result in results if isinstance(result, Exception)]
    assert PrecisionLook.objects.count() == CampaignStop.objects.count() == 1
