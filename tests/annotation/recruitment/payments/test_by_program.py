"""A panel with an API: a lead's order is a planned payment, which a job sends."""

from datetime import timedelta

import pytest
from django.urls import reverse
from django.utils import timezone

from annotation.recruitment.models import PanelPayment
from annotation.recruitment.payments import decisions, job_queue
from annotation.recruitment.payments.decisions import Decision
from annotation.recruitment.prolific import access
from foundation.errors import Conflict
from jobs.models import Job
from jobs.run.execution import execute

pytestmark = pytest.mark.django_db
REASON = (
    "The same answer was given to every screen within a second each, although a message asked to look again."
)


@pytest.fixture
def connected(paid_study):
    """The recruitment, with the token of an account at the panel."""
    provider = paid_study.recruitment.provider
    provider.kind, provider.workspace = "prolific", paid_study.fake.workspace
    provider.token_sealed = access.seal(paid_study.fake.token)
    provider.save()
    return paid_study


def page(name, recruitment):
    at = {"study": "isles", "campaign": "marking", "recruitment": recruitment.pk}
    return reverse(f"annotation:{name}", kwargs=at)


def work_off() -> Job:
    """Run the job of payments as if it were due."""
    job = Job.objects.get(kind=job_queue.PAY)
    Job.objects.filter(pk=job.pk).update(wait_until=None)
    PanelPayment.objects.update(next_try_at=None)
    execute(job.pk)
    job.refresh_from_db()
    return job


def states() -> set[str]:
    return set(PanelPayment.objects.values_list("kind", "state"))


def test_a_job_sends_a_leads_decisions_until_the_panel_shows_them(connected, lead_client):
    lead_client.post(page("recruitment_approve", connected.recruitment))
    assert not Job.objects.exists()
    connected.place()
    connected.place(ends="give_back", answered=1)
    lead_client.post(page("recruitment_approve", connected.recruitment))
    confirmation = lead_client.get(page("recruitment_bonuses", connected.recruitment)).content.decode()
    assert "A bonus cannot be taken back" in " ".join(confirmation.split())
    lead_client.post(page("recruitment_bonuses", connected.recruitment), {"total": "67"})
    assert states() == {("approve", "planned"), ("bonus", "planned")}
    assert work_off().state == "queued"  # it checks again shortly
    assert states() == {("approve", "sent"), ("bonus", "sent")}
    assert work_off().state == "succeeded"
    assert states() == {("approve", "confirmed"), ("bonus", "confirmed")}
    assert connected.paid("reward") == [200]
    assert connected.paid() == [67]


def test_a_decision_cannot_change_once_sent(connected, lead):
    place = connected.place()
    decisions.approve_all(recruitment=connected.recruitment, by=lead)
    decisions.decide(place=place, decision=Decision("rejected", REASON, "LOW_EFFORT"), by=lead)
    assert states() == {("reject", "planned")}
    work_off()
    with pytest.raises(Conflict, match="was already sent to the panel"):
        decisions.decide(place=place, decision=Decision("approved"), by=lead)
    assert connected.fake.documents("submission")[0]["status"] == "REJECTED"


def test_a_bonus_that_may_have_been_paid_is_not_taken_back_while_it_is_planned_again(connected, lead):
    payment = connected.order(connected.place(ends="give_back"))
    connected.fake.configure(bonus_delay=7200.0)
    connected.fake.fault("pay_bonuses", "closed_after")
    for _ in range(2):
        connected.send()
        connected.let_pass(hours=2)
    decisions.plan_again(payment=payment, by=lead)
    with pytest.raises(Conflict, match="was already sent to the panel"):
        decisions.decide(place=payment.place, decision=Decision("approved"), by=lead)
    assert connected.paid() == [50]
    assert connected.state(payment) == "planned"


def test_due_payments_get_a_job_and_failed_jobs_a_pause(connected, lead):
    connected.place()
    decisions.approve_all(recruitment=connected.recruitment, by=lead)
    jobs = Job.objects.filter(kind=job_queue.PAY)
    job_queue.sweep()
    assert jobs.count() == 1
    now = timezone.now()
    jobs.update(state="failed", finished_at=now)
    job_queue.sweep()
    assert jobs.count() == 1
    jobs.update(finished_at=now - timedelta(minutes=6))
    job_queue.sweep()
    assert jobs.count() == 2
