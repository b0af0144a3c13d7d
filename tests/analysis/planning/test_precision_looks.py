"""Precision checks: none before there are enough answers, each counted once, and a stop when it suffices."""

import pytest
from django.core.cache import cache

from analysis.planning import precision_looks
from analysis.results.parameters import parameters_of
from analysis.results.reports import compute_report
from annotation.assignment import leases
from annotation.campaigns import lifecycle
from annotation.models import Campaign, CampaignStop, PrecisionLook
from annotation.watch import looks
from jobs.models import Job
from jobs.run.execution import execute
from studies.models import AuditEntry
from tests.annotation.factories import add_images, new_annotator, submit, ticking

pytestmark = pytest.mark.django_db
PEOPLE = 4


@pytest.fixture(autouse=True)
def _nobody_looked():
    cache.delete(precision_looks.LOOKED)


@pytest.fixture
def labelled(study, lead) -> Campaign:
    """A marking campaign of 8 screens with 4 of 5 answers each, which stops at any half-width after 20 answers."""
    add_images(study, 2)
    draft = lifecycle.create(
        study=study, name="Marking", kind="stereotype_marking", by=lead, annotators_per_task=PEOPLE + 1,
        attributes_per_screen=3, options={"stop_half_width": 100.0, "stop_least": 20, "stop_every": 20},
    )  # fmt: skip
    campaign = lifecycle.open_(campaign=draft, by=lead)
    for person in range(PEOPLE):
        label(campaign, person)
    return campaign


def label(campaign, person):
    """Answer every screen: the second and fourth person tick one attribute more than the others."""
    annotator = new_annotator(campaign)
    while (leased := leases.next_assignment(campaign=campaign, annotator=annotator)) is not None:
        texts = leased.task.task_attributes.order_by("position").values_list("attribute__text", flat=True)
        submit(leased, ticking(leased, *texts[: 1 + person % 2]))


def look(campaign):
    (job,) = precision_looks.queue_looks()
    execute(job.pk)
    job.refresh_from_db()
    campaign.refresh_from_db()
    return job


def test_the_half_width_equals_that_of_results_and_stops_the_campaign(labelled, study):
    job = look(labelled)
    assert job.result == {"summary": "Look 1 after 32 answers: the campaign stops."}
    assert labelled.state == "paused"
    report = compute_report(study=study, parameters=parameters_of(study), by=None)
    pooled = report.summary["headline"][0]["pooled"]
    counted_look, stop = PrecisionLook.objects.get(), CampaignStop.objects.get()
    assert counted_look.half_width == pytest.approx((pooled["theta_high"] - pooled["theta_low"]) / 2)
    assert (counted_look.number, counted_look.answers) == (1, 32)
    assert (stop.rule, stop.setting) == ("precision", "100")
    rule = AuditEntry.objects.get(action="campaign.paused").details["rule"]
    assert rule.startswith("precision reached. At look 1 the half-width of θ was ")


def test_a_wider_interval_is_recorded_but_does_not_stop_the_campaign(labelled, lead, lead_client):
    lifecycle.change_settings(campaign=labelled, by=lead, options={"stop_half_width": 0.001})
    look(labelled)
    assert labelled.state == "open"
    assert PrecisionLook.objects.get().half_width > 0.001
    page = lead_client.get("/studies/isles/campaigns/marking/").content.decode()
    assert "Precision checks" in page
    assert "false findings slightly more likely" in page


def test_no_check_is_due_before_the_minimum_number_of_answers(labelled, lead):
    lifecycle.change_settings(campaign=labelled, by=lead, options={"stop_least": 33})
    assert precision_looks.queue_looks() == []
    record = looks.record(campaign=labelled, answers=32, half_width=0.1)
    assert record == (None, None)
    assert not CampaignStop.objects.exists()


def test_the_next_check_waits_for_more_answers(labelled, lead):
    lifecycle.change_settings(
        campaign=labelled, by=lead, options={"stop_half_width": 0.001, "stop_every": 20}
    )
    look(labelled)
    assert precision_looks.queue_looks() == []
    assert looks.record(campaign=labelled, answers=51, half_width=0.1) == (None, None)
    lifecycle.change_settings(campaign=labelled, by=lead, options={"stop_half_width": 0.2})
    second, stop = looks.record(campaign=labelled, answers=52, half_width=0.1)
    assert (second.number, stop.rule) == (2, "precision")


def test_two_workers_record_a_check_once(labelled):
    first, stop = looks.record(campaign=labelled, answers=32, half_width=None, reason="no_bounded_interval")
    assert (first.number, stop) == (1, None)
    assert looks.record(campaign=labelled, answers=32, half_width=0.1) == (None, None)


def test_a_check_is_queued_once(labelled):
    assert len(precision_looks.queue_looks()) == 1
    assert precision_looks.queue_looks() == []
    assert precision_looks.look_now_and_then() == []


def test_a_paused_campaign_is_not_checked(labelled, lead):
    (job,) = precision_looks.queue_looks()
    lifecycle.pause(campaign=labelled, by=lead)
    execute(job.pk)
    assert Job.objects.get(pk=job.pk).result == {"summary": "It was too early to check the precision."}
    assert not PrecisionLook.objects.exists()
