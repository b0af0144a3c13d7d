"""Jobs that dead workers left behind."""

from datetime import UTC, datetime, timedelta

import pytest
from django.utils import timezone
from django_tasks_db.models import DBTaskResult

from jobs.leases import claim
from jobs.models import Job
from jobs.sweeping import sweep

pytestmark = pytest.mark.django_db

LONG_AGO = datetime(2020, 1, 1, tzinfo=UTC)


def test_a_job_of_a_dead_worker_is_queued_again(make_job, django_capture_on_commit_callbacks):
    job = make_job()
    claim(job.pk)
    Job.objects.update(lease_expires_at=LONG_AGO)
    with django_capture_on_commit_callbacks(execute=True):
        assert sweep().requeued == (job.pk,)
    job.refresh_from_db()
    assert job.state == Job.State.QUEUED
    assert DBTaskResult.objects.count() == 1
    assert sweep().requeued == ()


def test_a_job_whose_worker_lives_is_left_alone(make_job):
    claim(make_job().pk)
    swept = sweep()
    assert (swept.requeued, swept.given_up, swept.redelivered) == ((), (), ())


def test_a_job_that_kept_killing_its_workers_is_given_up_with_a_sentence(make_job, settings):
    job = make_job()
    for _ in range(settings.JOB_MAX_ATTEMPTS):
        assert claim(job.pk) is not None
        Job.objects.update(lease_expires_at=LONG_AGO)
    assert sweep().given_up == (job.pk,)
    job.refresh_from_db()
    assert job.state == Job.State.FAILED
    assert job.error == "The worker died 3 times while doing this, so it is not tried again by itself."


def test_a_job_whose_message_was_lost_is_announced_again(make_job, django_capture_on_commit_callbacks):
    job = make_job()
    Job.objects.update(heartbeat_at=timezone.now() - timedelta(minutes=20))
    with django_capture_on_commit_callbacks(execute=True):
        assert sweep().redelivered == (job.pk,)
    assert DBTaskResult.objects.count() == 1
    assert sweep().redelivered == ()
