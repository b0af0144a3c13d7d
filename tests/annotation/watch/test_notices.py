"""Notices: finished, stuck, short of people, junk, low pay, over; and the letter about them."""

import smtplib
from datetime import timedelta

import pytest
from django.core import mail
from django.core.cache import cache
from django.utils import timezone

from annotation.assignment import leases
from annotation.campaigns import extension, lifecycle
from annotation.models import Annotation, Campaign, Enrolment, Notice, QualityEvent
from annotation.watch import notices
from jobs.models import Job
from jobs.run.execution import execute
from jobs.run.recovery import sweep
from tests.annotation.assignment.test_concurrency import label_all
from tests.annotation.assignment.test_quota_assignment import opened, person
from tests.annotation.factories import new_annotator, submit

pytestmark = pytest.mark.django_db
LATER = timezone.now() + timedelta(hours=25)


@pytest.fixture(autouse=True)
def _nobody_looked():
    cache.delete(notices.LOOKED)


def standing():
    return list(Notice.objects.filter(resolved_at=None).values_list("campaign__slug", "kind"))


def test_a_campaign_with_all_its_answers_is_finished_until_it_is_extended(marking, lead):
    for _ in range(2):
        assert standing() == []
        label_all(marking, new_annotator(marking))
        notices.look()
    assert standing() == [("marking", "finished")]
    assert notices.look() == notices.NoticeChanges()
    extension.extend(campaign=marking, by=lead, annotators_per_task=3)
    assert len(notices.look().resolved) == 1
    assert standing() == []


def test_an_open_lease_is_not_finished(marking):
    label_all(marking, new_annotator(marking))
    last = new_annotator(marking)
    for _ in range(7):
        submit(leases.next_assignment(campaign=marking, annotator=last))
    leases.next_assignment(campaign=marking, annotator=last)
    notices.look()
    assert standing() == []


def test_a_campaign_is_stuck_after_a_day_without_answers(marking):
    annotator = new_annotator(marking)
    submit(leases.next_assignment(campaign=marking, annotator=annotator))
    notices.look(now=timezone.now() + timedelta(hours=23))
    assert standing() == []
    notices.look(now=LATER)
    assert Notice.objects.get().details == (
        "No answer came in the last 24 hours: 8 screens wait and 1 person takes part."
    )
    submit(leases.next_assignment(campaign=marking, annotator=annotator))
    notices.look()
    assert standing() == []


def test_nobody_enrolled_paused_closed_and_imported_campaigns_are_not_stuck(marking, lead):
    notices.look(now=LATER)
    assert standing() == []
    new_annotator(marking)
    for changes in ({"state": "paused"}, {"state": "closed"}, {"imported": True}):
        Campaign.objects.update(**({"state": "open", "imported": False} | changes))
        notices.look(now=LATER)
        assert standing() == [], changes
    Campaign.objects.update(state="open", imported=False)
    Enrolment.objects.update(state="paused")
    notices.look(now=LATER)
    assert standing() == []


def test_the_day_restarts_after_a_pause(marking, lead):
    new_annotator(marking)
    Campaign.objects.update(opened_at=timezone.now() - timedelta(days=9))
    Enrolment.objects.update(joined_at=timezone.now() - timedelta(days=9))
    lifecycle.pause(campaign=marking, by=lead)
    lifecycle.resume(campaign=marking, by=lead)
    notices.look()
    assert standing() == []


def test_tasks_that_no_annotator_can_complete_are_a_shortfall_naming_who_is_missing(study, lead):
    campaign = opened(study, lead, "at_least 1 gender != man", wanted=2)
    label_all(campaign, person(campaign, gender="man"))
    notices.look()
    notice = Notice.objects.get()
    assert notice.kind == "shortfall"
    assert notice.details.startswith("4 tasks cannot be completed by the people who take part")
    person(campaign, gender="woman")
    notices.look()
    assert standing() == []


def test_closing_ends_a_notice(marking, lead):
    for _ in range(2):
        label_all(marking, new_annotator(marking))
    notices.look()
    lifecycle.close(campaign=marking, by=lead)
    notices.look()
    notice = Notice.objects.get()
    assert notice.resolved_at is not None


def test_checking_many_campaigns_takes_as_many_queries(marking, study, lead, django_assert_num_queries):
    with django_assert_num_queries(4):
        notices.look()
    for number in range(3):
        draft = lifecycle.create(study=study, name=f"More {number}", kind="stereotype_marking", by=lead)
        new_annotator(lifecycle.open_(campaign=draft, by=lead))
    with django_assert_num_queries(4):
        notices.look()


@pytest.fixture
def mailing(settings, lead):
    settings.EMAIL_HOST = "mail.example.org"
    settings.SITE_URL = "https://labels.example.org"
    lead.email = "lena@example.org"
    lead.save()


def finished(marking):
    for _ in range(2):
        label_all(marking, new_annotator(marking))


def test_leads_with_an_address_get_one_letter_for_each_notice(
    marking, mailing, analyst, django_capture_on_commit_callbacks
):
    analyst.email = "anton@example.org"
    analyst.save()
    finished(marking)
    with django_capture_on_commit_callbacks(execute=True):
        notices.look()
        notices.look()
    job = Job.objects.get()
    execute(job.pk)
    execute(job.pk)
    (letter,) = mail.outbox
    assert letter.to == ["lena@example.org"]
    assert letter.subject == "Stereoscope: “Marking” has all its answers"
    assert "https://labels.example.org/studies/isles/campaigns/marking/" in letter.body
    job.refresh_from_db()
    assert (job.state, job.result) == ("succeeded", {"summary": "Sent to 1 lead."})


def test_without_a_mail_server_no_letter_is_planned(marking, lead):
    finished(marking)
    notices.look()
    assert standing() == [("marking", "finished")]
    assert not Job.objects.exists()


def test_a_resolved_notice_is_not_mailed(marking, mailing, lead):
    finished(marking)
    notices.look()
    lifecycle.close(campaign=marking, by=lead)
    notices.look()
    execute(Job.objects.get(kind=notices.NOTIFY).pk)
    assert mail.outbox == []


def test_a_refusing_mail_server_fails_the_job_without_quoting_its_answer(marking, mailing, monkeypatch):
    from django.core.mail.backends import locmem

    def refuse(self, messages):
        raise smtplib.SMTPAuthenticationError(535, b"user lena password hunter2 is wrong")

    monkeypatch.setattr(locmem.EmailBackend, "send_messages", refuse)
    finished(marking)
    notices.look()
    execute(Job.objects.get().pk)
    job = Job.objects.get()
    assert job.state == "failed"
    assert "SMTPAuthenticationError" in job.error
    assert "hunter2" not in job.error


def test_the_worker_checks_campaigns_once_a_minute(marking, settings):
    finished(marking)
    sweep()
    assert standing() == [("marking", "finished")]
    Notice.objects.all().delete()
    sweep()
    assert standing() == []


def test_jobs_are_swept_even_if_other_work_fails(settings, caplog):
    settings.JOB_SWEEPS = ["tests.annotation.watch.test_notices.broken"]
    assert sweep().requeued == ()
    assert "broken failed while jobs were swept" in caplog.text


def broken():
    raise ValueError("broken")


def test_leads_see_stuck_campaigns_on_their_pages(marking, lead_client, analyst_client):
    new_annotator(marking)
    Campaign.objects.update(opened_at=timezone.now() - timedelta(days=9))
    Enrolment.objects.update(joined_at=timezone.now() - timedelta(days=9))
    from studies.models import AuditEntry

    AuditEntry.objects.filter(action="campaign.opened").update(at=timezone.now() - timedelta(days=9))
    said = "No answer came in the last 24 hours"
    assert f"Marking is stuck: {said}" in lead_client.get("/studies/").content.decode()
    assert f"Marking is stuck: {said}" in lead_client.get("/studies/isles/").content.decode()
    for client in (lead_client, analyst_client):
        assert said in client.get("/studies/isles/campaigns/marking/").content.decode()
    assert not Annotation.objects.exists()


def test_unclaimed_expired_leases_do_not_hide_that_work_stopped(marking):
    annotator = new_annotator(marking)
    label_all(marking, new_annotator(marking))
    while (leased := leases.next_assignment(campaign=marking, annotator=annotator)) is not None:
        if marking.tasks.filter(held__lt=2).count() == 0:
            break
        submit(leased)
    notices.look(now=LATER)
    assert standing() == [("marking", "stuck")]


def test_the_lead_sets_the_hours_until_a_campaign_is_stuck(marking, lead):
    new_annotator(marking)
    lifecycle.change_settings(campaign=marking, by=lead, options={"stuck_hours": 2})
    notices.look(now=timezone.now() + timedelta(minutes=110))
    assert standing() == []
    notices.look(now=timezone.now() + timedelta(minutes=130))
    assert Notice.objects.get().details.startswith("No answer came in the last 2 hours: 8 screens wait")


def flag(campaign, number):
    for enrolment in campaign.enrolments.order_by("pk")[:number]:
        QualityEvent.objects.create(
            enrolment=enrolment, measure="variety", action="warn", value=0.0, threshold=0.15, rests_on=20
        )


def test_too_many_flagged_people_raise_a_notice_until_fewer_are(study, lead):
    campaign = opened(study, lead, wanted=9)
    for _ in range(8):
        submit(leases.next_assignment(campaign=campaign, annotator=new_annotator(campaign)))
    new_annotator(campaign)  # has not answered yet, and is not counted
    flag(campaign, 2)
    notices.look()
    assert standing() == []  # exactly a quarter is not more
    lifecycle.change_settings(campaign=campaign, by=lead, options={"junk_share": 0.2})
    notices.look()
    notice = Notice.objects.get()
    assert notice.kind == "junk"
    assert notice.details.startswith("Quality rules flag 2 of the 8 people who answered (25%).")
    QualityEvent.objects.update(ended_at=timezone.now(), ending="recovered")
    notices.look()
    assert standing() == []


def test_few_annotators_raise_no_notice_of_flagged_people(marking):
    for _ in range(4):
        submit(leases.next_assignment(campaign=marking, annotator=new_annotator(marking)))
    flag(marking, 4)
    notices.look()
    assert standing() == []


def pay(campaign, lead, amount, per, currency="GBP"):
    rate = {"pay_amount": amount, "pay_per": per, "pay_currency": currency}
    lifecycle.change_settings(campaign=campaign, by=lead, options=rate)


def test_an_hourly_rate_below_the_minimum_raises_a_notice(marking, lead):
    pay(marking, lead, 5.99, "hour")
    notices.look()
    assert Notice.objects.get().details == "The rate is 5.99 GBP an hour, which is less than 6.00 GBP."
    for amount, currency in ((6.0, "GBP"), (5.0, "EUR"), (0.0, "USD")):
        pay(marking, lead, amount, "hour", currency)
        notices.look()
        assert standing() == [], currency


@pytest.mark.parametrize(("amount", "kinds"), [(0.08, []), (0.07, ["low_pay"])])
def test_a_rate_for_each_screen_is_judged_by_the_median_time(study, lead, amount, kinds):
    campaign = opened(study, lead, wanted=9)
    pay(campaign, lead, amount, "task", "USD")
    for _ in range(5):
        annotator = new_annotator(campaign)
        for seconds in (1.0, 36.0, 36.0, 3_000.0):
            annotation = submit(leases.next_assignment(campaign=campaign, annotator=annotator))
            Annotation.objects.filter(pk=annotation.pk).update(active_seconds=seconds)
    notices.look()
    assert [kind for _, kind in standing()] == kinds
    for notice in Notice.objects.all():
        assert "take 36 seconds or longer. At 0.07 USD a screen this is 7.00 USD an hour" in notice.details


def test_leads_are_mailed_only_the_notices_they_chose(marking, mailing, lead):
    lifecycle.change_settings(campaign=marking, by=lead, options={"notices": ["stuck"]})
    finished(marking)
    notices.look()
    assert standing() == [("marking", "finished")]
    assert not Job.objects.exists()


def test_no_notice_names_a_person(study, lead):
    campaign = opened(study, lead, "at_least 1 gender != man", wanted=9)
    for _ in range(6):
        submit(leases.next_assignment(campaign=campaign, annotator=person(campaign, gender="woman")))
    flag(campaign, 6)
    pay(campaign, lead, 1.0, "hour")
    notices.look(now=LATER)
    assert {kind for _, kind in standing()} == {"stuck", "shortfall", "junk", "low_pay"}
    details = " ".join(Notice.objects.values_list("details", flat=True))
    for enrolment in campaign.enrolments.select_related("annotator__user"):
        assert enrolment.annotator.pseudonym not in details
        assert enrolment.annotator.user.username not in details
