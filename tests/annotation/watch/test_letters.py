"""Letters go out through a real mail server: one for each notice until it is resolved, to leads alone."""

from datetime import timedelta
from email.header import decode_header, make_header

import pytest
from django.utils import timezone

from annotation.assignment import leases
from annotation.campaigns import lifecycle
from annotation.models import Notice
from annotation.watch import notices, stop_rules
from jobs.models import Job
from jobs.run.execution import execute
from tests.annotation.factories import new_annotator, submit
from tests.services.mail import free_port, mail_server

__all__ = ["mail_server"]

pytestmark = pytest.mark.django_db
LATER = timezone.now() + timedelta(hours=25)


@pytest.fixture
def letters(mail_server, lead):
    """The letters that the mail server received; the lead has an address."""
    lead.email = "lena@example.org"
    lead.save()
    return mail_server.letters


def send(commit):
    """Check all campaigns twice, a day from now, and let a worker do the queued jobs."""
    with commit(execute=True):
        for _ in range(2):
            notices.look(now=LATER)
    for job in Job.objects.filter(state=Job.State.QUEUED):
        execute(job.pk)
        job.refresh_from_db()
        assert job.state == "succeeded", job.error


def test_one_letter_for_each_notice_until_it_is_resolved(
    marking, letters, analyst, django_capture_on_commit_callbacks
):
    analyst.email = "anton@example.org"
    analyst.save()
    annotator = new_annotator(marking)
    for _ in range(3):
        send(django_capture_on_commit_callbacks)
    (letter,) = letters()
    assert (letter["To"], letter["From"]) == ("lena@example.org", "stereoscope@labels.example.org")
    body = letter.get_payload(decode=True).decode()
    assert "No answer came in the last 24 hours: 8 screens wait and 1 person takes part." in body
    assert "https://labels.example.org/studies/isles/campaigns/marking/" in body
    assert annotator.pseudonym not in letter.as_string()
    assert annotator.user.username not in letter.as_string()
    notices.look()  # work goes on
    assert Notice.objects.get().resolved_at is not None
    send(django_capture_on_commit_callbacks)
    assert len(letters()) == 2


def test_a_stop_is_mailed_at_once(marking, letters, lead, django_capture_on_commit_callbacks):
    submit(leases.next_assignment(campaign=marking, annotator=new_annotator(marking)))
    lifecycle.change_settings(campaign=marking, by=lead, options={"stop_on": "2020-01-31T18:00"})
    stop_rules.apply_rules()
    send(django_capture_on_commit_callbacks)
    (letter,) = letters()
    subject = str(make_header(decode_header(letter["Subject"])))
    assert subject == "Stereoscope: “Marking” was stopped by a rule"
    assert "Paused by a stop rule" in letter.get_payload(decode=True).decode()


def test_an_unreachable_mail_server_fails_only_the_job(marking, lead, settings):
    lead.email = "lena@example.org"
    lead.save()
    settings.EMAIL_BACKEND = "django.core.mail.backends.smtp.EmailBackend"
    settings.EMAIL_HOST, settings.EMAIL_PORT = "127.0.0.1", free_port()
    new_annotator(marking)
    notices.look(now=LATER)
    (job,) = Job.objects.all()
    execute(job.pk)
    job.refresh_from_db()
    assert (job.state, job.error_code) == ("failed", "mail_not_sent")
    assert Notice.objects.get().resolved_at is None
