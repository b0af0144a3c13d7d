"""Stop rules pause or close a campaign as a lead would: once for each setting, however often they are checked."""

from datetime import timedelta

import pytest
from django.core.cache import cache
from django.test import Client
from django.utils import timezone

from annotation.assignment import leases
from annotation.campaigns import lifecycle
from annotation.models import Annotation, Assignment, Campaign, CampaignStop, Notice
from annotation.watch import notices, stop_rules
from foundation.errors import DomainError
from jobs.run.recovery import sweep
from studies.models import AuditEntry
from tests.annotation.assignment.test_concurrency import label_all
from tests.annotation.factories import new_annotator, submit

pytestmark = pytest.mark.django_db
PAGE = "/studies/isles/campaigns/marking/"


@pytest.fixture(autouse=True)
def _nobody_looked():
    cache.delete(stop_rules.APPLIED)


@pytest.fixture
def ruled(marking, lead):
    """Return the campaign after a lead set rules."""

    def set_rules(**options) -> Campaign:
        return lifecycle.change_settings(campaign=marking, by=lead, options=options)

    return set_rules


def state(campaign):
    campaign.refresh_from_db()
    return campaign.state


def local(moment):
    return timezone.localtime(moment).strftime("%Y-%m-%dT%H:%M")


def test_without_rules_nothing_stops(marking):
    for _ in range(2):
        label_all(marking, new_annotator(marking))
    assert stop_rules.apply_rules(now=timezone.now() + timedelta(days=999)) == []
    assert state(marking) == "open"


def test_a_complete_campaign_is_paused_with_its_rule_in_the_history(ruled, lead_client):
    campaign = ruled(stop_complete=True)
    label_all(campaign, new_annotator(campaign))
    assert stop_rules.apply_rules() == []
    label_all(campaign, new_annotator(campaign))
    (stop,) = stop_rules.apply_rules()
    assert (state(campaign), stop.rule, stop.state) == ("paused", "complete", "paused")
    entry = AuditEntry.objects.get(action="campaign.paused")
    assert (entry.actor, entry.details) == (
        None,
        {"rule": "all screens complete. Every screen has all the answers it needs."},
    )
    history = lead_client.get("/studies/isles/history/").content.decode()
    assert "paused the campaign “Marking” by a stop rule: all screens complete." in history


def test_the_lead_chooses_that_a_rule_closes(ruled):
    campaign = ruled(stop_complete=True, stop_by="close")
    for _ in range(2):
        label_all(campaign, new_annotator(campaign))
    stop_rules.apply_rules()
    assert state(campaign) == "closed"
    assert AuditEntry.objects.filter(action="campaign.closed", details__has_key="rule").exists()


def test_a_screen_that_is_open_with_somebody_is_not_complete(ruled):
    campaign = ruled(stop_complete=True)
    label_all(campaign, new_annotator(campaign))
    last = new_annotator(campaign)
    for _ in range(7):
        submit(leases.next_assignment(campaign=campaign, annotator=last))
    leases.next_assignment(campaign=campaign, annotator=last)
    assert stop_rules.apply_rules() == []


def test_a_check_that_is_open_with_somebody_keeps_no_campaign_from_being_complete(ruled):
    campaign = ruled(stop_complete=True)
    for _ in range(2):
        label_all(campaign, person := new_annotator(campaign))
    later = timezone.now() + timedelta(hours=1)
    Assignment.objects.create(
        task=campaign.tasks.first(), annotator=person, purpose="repeat", state="leased", expires_at=later
    )
    assert [stop.rule for stop in stop_rules.apply_rules()] == ["complete"]


def test_a_campaign_stops_at_its_date_but_open_tasks_may_be_submitted(ruled):
    now = timezone.now().replace(second=0, microsecond=0)
    campaign = ruled(stop_on=local(now + timedelta(hours=1)))
    annotator = new_annotator(campaign)
    leased = leases.next_assignment(campaign=campaign, annotator=annotator)
    assert stop_rules.apply_rules(now=now + timedelta(minutes=59)) == []
    assert len(stop_rules.apply_rules(now=now + timedelta(minutes=60))) == 1
    assert state(campaign) == "paused"
    assert submit(leased).status == "accepted"
    with pytest.raises(DomainError):
        leases.next_assignment(campaign=campaign, annotator=annotator)


def test_a_rule_stops_once_for_a_setting(ruled, lead):
    now = timezone.now().replace(second=0, microsecond=0)
    campaign = ruled(stop_on=local(now - timedelta(hours=1)))
    assert len(stop_rules.apply_rules(now=now)) == 1
    lifecycle.resume(campaign=campaign, by=lead)
    assert stop_rules.apply_rules(now=now) == []
    assert state(campaign) == "open"
    ruled(stop_on=local(now - timedelta(minutes=1)))
    assert len(stop_rules.apply_rules(now=now)) == 1
    assert state(campaign) == "paused"
    assert CampaignStop.objects.count() == 2


def test_a_rule_found_met_twice_stops_only_once(ruled, lead):
    campaign = ruled(stop_complete=True)
    reached = stop_rules.ReachedRule("complete", "2 a screen", "Every screen has all the answers it needs.")
    assert stop_rules.stop(campaign=campaign, reached=reached) is not None
    assert stop_rules.stop(campaign=campaign, reached=reached) is None
    lifecycle.resume(campaign=campaign, by=lead)
    assert stop_rules.stop(campaign=campaign, reached=reached) is None
    assert AuditEntry.objects.filter(action="campaign.paused").count() == 1


@pytest.mark.parametrize("move", [lifecycle.pause, lifecycle.close])
def test_a_campaign_that_a_lead_stopped_is_left_alone(ruled, lead, move):
    campaign = ruled(stop_on=local(timezone.now() - timedelta(hours=1)), stop_by="close")
    before = move(campaign=campaign, by=lead).state
    assert stop_rules.apply_rules() == []
    late = stop_rules.ReachedRule("complete", "2 a screen", "Every screen has all the answers it needs.")
    assert stop_rules.stop(campaign=campaign, reached=late) is None
    assert state(campaign) == before


def test_the_budget_counts_earned_pay_and_open_screens(ruled):
    campaign = ruled(pay_amount=0.5, pay_per="task", pay_budget=2.5, stop_at_budget=True)
    annotator = new_annotator(campaign)
    for _ in range(3):
        submit(leases.next_assignment(campaign=campaign, annotator=annotator))
    leases.next_assignment(campaign=campaign, annotator=annotator)
    assert stop_rules.apply_rules() == []  # 3 × 0.50 earned, and 0.50 open
    leases.next_assignment(campaign=campaign, annotator=new_annotator(campaign))
    (stop,) = stop_rules.apply_rules()
    assert (stop.rule, stop.setting) == ("budget", "2.50 EUR")
    assert stop.reason == "2.50 EUR of the budget of 2.50 EUR has been spent."


def test_open_screens_are_priced_by_the_time_of_earlier_ones(ruled):
    campaign = ruled(pay_amount=36.0, pay_per="hour", pay_budget=1.5, stop_at_budget=True)
    annotator = new_annotator(campaign)
    for seconds in (40.0, 60.0):
        annotation = submit(leases.next_assignment(campaign=campaign, annotator=annotator))
        Annotation.objects.filter(pk=annotation.pk).update(active_seconds=seconds)
    assert stop_rules.apply_rules() == []  # 36 an hour: 1.00
    leases.next_assignment(campaign=campaign, annotator=annotator)
    assert len(stop_rules.apply_rules()) == 1  # and 0.50 for 50 seconds


def test_a_budget_to_stop_at_has_to_be_set(ruled):
    with pytest.raises(DomainError, match="Set the budget at which the campaign stops"):
        ruled(stop_at_budget=True)


@pytest.mark.parametrize("moment", ["tomorrow", "2027-02-30T10:00", "2027-01-31", "2027-01-31T18:00:00Z"])
def test_a_date_is_a_date(ruled, moment):
    with pytest.raises(DomainError, match="a date and time such as"):
        ruled(stop_on=moment)


def test_leads_see_the_stop_until_the_campaign_is_reopened(ruled, lead, lead_client, settings):
    lead.email = "lena@example.org"
    lead.save()
    settings.EMAIL_HOST = "mail.example.org"
    campaign = ruled(stop_on="2020-01-31T18:00", stop_by="close")
    stop_rules.apply_rules()
    notices.look()
    (notice,) = Notice.objects.filter(resolved_at=None)
    assert notice.kind == "stopped"
    assert notice.details == "Closed by a stop rule. The set date and time have come: 2020-01-31, 18:00."
    assert notice.details in lead_client.get(PAGE).content.decode()
    assert f"Marking: {notice.details}" in lead_client.get("/studies/isles/").content.decode()
    lifecycle.reopen(campaign=campaign, by=lead)
    notices.look()
    assert not Notice.objects.filter(resolved_at=None).exists()


def test_the_notice_names_the_latest_stop(ruled, lead):
    campaign = ruled(stop_on="2020-01-31T18:00")
    stop_rules.apply_rules()
    lifecycle.resume(campaign=campaign, by=lead)
    ruled(stop_on="2020-02-29T18:00")
    stop_rules.apply_rules()
    notice = campaign.notices.get(kind="stopped", resolved_at=None)
    assert "2020-02-29" in notice.details


def test_the_worker_applies_rules_while_it_sweeps(ruled):
    campaign = ruled(stop_on="2020-01-31T18:00")
    sweep()
    assert state(campaign) == "paused"


def test_a_lead_sets_rules_in_the_form_and_reads_them_on_the_page(lead_client, marking):
    form = lead_client.get(f"{PAGE}settings/").context["form"]
    values = {
        name: value
        for name in form.fields
        if (value := form.get_initial_for_field(form.fields[name], name)) not in (None, False)
    }
    rules = {"stop_on": "2027-01-31T18:00", "stop_half_width": "0.2", "stop_by": "close", "notices": ["junk"]}
    lead_client.post(f"{PAGE}settings/", values | rules)
    marking.refresh_from_db()
    assert marking.options == {
        "stop_on": "2027-01-31T18:00",
        "stop_half_width": 0.2,
        "stop_by": "close",
        "notices": ["junk"],
    }
    page = lead_client.get(PAGE).content.decode()
    assert "Closes on 2027-01-31 at 18:00." in page
    assert "half-width of θ over all groups is at most 0.2, checked after 200 answers" in page
    assert "<dd>many people are flagged</dd>" in page.replace("\n", "")
    again = lead_client.get(f"{PAGE}settings/").content.decode()
    assert 'value="2027-01-31T18:00"' in again


def test_rules_can_be_set_over_the_api(lead, marking):
    client = Client()
    client.force_login(lead)
    answer = client.patch(
        f"/api/v1/campaigns/{marking.pk}/",
        {"options": {"stop_complete": True, "stop_half_width": 0.3, "notices": []}},
        content_type="application/json",
    )
    assert answer.status_code == 200, answer.content
    assert answer.json()["options"] == {"stop_complete": True, "stop_half_width": 0.3, "notices": []}


def test_only_campaigns_about_tendency_stop_at_a_precision(rating, lead):
    with pytest.raises(DomainError, match="no such option"):
        lifecycle.change_settings(campaign=rating, by=lead, options={"stop_half_width": 0.2})
