"""Recovery of jobs whose workers died."""

from datetime import UTC, datetime, timedelta

import pytest
import time_machine
from django.core.management import call_command
from django.utils import timezone
from django_tasks_db.models import DBTaskResult

from foundation.errors import NotFound
from jobs.engine.leases import claim
from jobs.engine.workers import alive, announced
from jobs.models import Job, Worker
from jobs.run.control import retry
from jobs.run.recovery import back_off, sweep

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


def die(job, **found):
    """Claim the job as a worker would, and simulate the worker's death."""
    Job.objects.update(wait_until=None)
    assert claim(job.pk, worker="box:1") is not None
    Job.objects.filter(pk=job.pk).update(lease_expires_at=LONG_AGO, **found)


def test_a_job_that_kept_killing_its_workers_is_given_up_with_a_sentence(make_job, settings):
    job = make_job()
    for _ in range(settings.JOB_MAX_ATTEMPTS - 1):
        die(job)
        assert sweep().requeued == (job.pk,)
    die(job)
    assert sweep().given_up == (job.pk,)
    job.refresh_from_db()
    assert (job.state, job.error_code) == (Job.State.FAILED, "given_up")
    assert (
        job.error
        == "The worker died 3 times while running this job, so the job is not tried again automatically."
    )
    assert job.lines.first().text == f"Failed. {job.error}"


def test_a_person_may_try_a_job_again_that_was_given_up(make_job, settings):
    settings.JOB_MAX_ATTEMPTS = 1
    job = make_job()
    die(job)
    assert sweep().given_up == (job.pk,)
    job.refresh_from_db()
    retry(job=job)
    job.refresh_from_db()
    assert (job.state, job.deaths, job.error_code) == (Job.State.QUEUED, 0, "")


def test_a_job_that_gets_further_before_each_death_is_never_given_up(make_job):
    job = make_job()
    for done in range(1, 8):
        die(job, steps_total=10, steps_done=done)
        assert sweep().requeued == (job.pk,)
    job.refresh_from_db()
    assert (job.deaths, job.attempts, job.fewest_left) == (1, 7, 3)


def test_only_fewer_steps_left_than_ever_before_count_as_getting_further(make_job):
    job = make_job()
    for done in (5, 2, 4):
        die(job, steps_total=10, steps_done=done)
        sweep()
    job.refresh_from_db()
    assert (job.state, job.deaths) == (Job.State.FAILED, 3)


def test_each_further_death_makes_a_job_wait_twice_as_long(settings):
    settings.JOB_BACKOFF_SECONDS = 30
    assert [back_off(n).total_seconds() for n in range(1, 6)] == [0, 30, 60, 120, 240]
    assert back_off(40) == timedelta(minutes=15)


def test_a_delayed_job_is_not_taken_early_and_announced_when_due(
    make_job, settings, django_capture_on_commit_callbacks
):
    job = make_job()
    die(job)
    sweep()
    die(job)
    with django_capture_on_commit_callbacks(execute=True):
        assert sweep().requeued == (job.pk,)
    assert not DBTaskResult.objects.exists()
    assert claim(job.pk) is None
    with time_machine.travel(timezone.now() + timedelta(seconds=settings.JOB_BACKOFF_SECONDS + 1)):
        with django_capture_on_commit_callbacks(execute=True):
            assert sweep().redelivered == (job.pk,)
        assert DBTaskResult.objects.count() == 1
        assert claim(job.pk).attempts == 3


def test_a_job_whose_message_was_lost_is_announced_again_once_a_worker_has_nothing_to_do(
    make_job, django_capture_on_commit_callbacks
):
    job = make_job()
    Job.objects.update(heartbeat_at=timezone.now() - timedelta(minutes=20))
    assert sweep().redelivered == ()
    with announced(["gpu"]) as gpu, announced(["default"]) as worker:
        Worker.objects.filter(pk=gpu.pk).update(idle_since=LONG_AGO)
        assert sweep().redelivered == ()
        Worker.objects.filter(pk=worker.pk).update(idle_since=LONG_AGO)
        with django_capture_on_commit_callbacks(execute=True):
            assert sweep().redelivered == (job.pk,)
        assert DBTaskResult.objects.count() == 1
        assert sweep().redelivered == ()


def test_a_worker_silent_for_a_day_is_removed(db):
    now = timezone.now()
    for name, hours in (("dead", 25), ("quiet", 23)):
        Worker.objects.create(
            name=name,
            host="box",
            started_at=now,
            heartbeat_at=now - timedelta(hours=hours),
            queues=["default"],
        )
    sweep()
    assert [worker.name for worker in Worker.objects.all()] == ["quiet"]
    assert not alive().exists()


def test_check_worker_says_whether_a_worker_runs_on_this_machine(db, capsys):
    with pytest.raises(NotFound, match=r"No worker on .+ has reported within a lease\."):
        call_command("check_worker")
    with announced(["default"]) as worker:
        call_command("check_worker")
        assert capsys.readouterr().out == f"{worker.name}\n"
        Worker.objects.update(host="elsewhere")
        with pytest.raises(NotFound):
            call_command("check_worker")
