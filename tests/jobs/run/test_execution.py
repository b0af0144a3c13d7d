"""Jobs done in this process: claimed, finished, failed, cancelled."""

import pytest
from django.db import connection, transaction
from django_tasks_db.models import DBTaskResult

from foundation.errors import Conflict, DomainError
from jobs.engine import shutdown
from jobs.engine.leases import claim, held
from jobs.models import Job
from jobs.progress.reporter import Cancelled, JobProgress, LeaseLost, Unwatched
from jobs.run.control import cancel, retry
from jobs.run.execution import enqueue, execute, run_here
from jobs.run.recovery import sweep

pytestmark = pytest.mark.django_db


class Watcher(Unwatched):
    """Records what a console would show; may act after each step."""

    def __init__(self, after_step=lambda: None):
        self.seen = []
        self.after_step = after_step

    def start(self, total=None):
        self.seen.append(total)

    def advance(self, n=1, message=""):
        self.seen.append(message)
        if message:
            self.after_step()


def test_a_job_done_here_ends_with_its_result_and_its_progress(make_job):
    watcher = Watcher()
    job = run_here(make_job(), watcher)
    assert job.state == Job.State.SUCCEEDED
    assert (job.steps_done, job.steps_total) == (3, 3)
    assert job.result == {"summary": "3 steps done."}
    assert job.finished_at is not None
    assert watcher.seen == [3, "", "step 0", "step 1", "step 2"]


def test_an_expected_failure_is_stored_as_its_sentence_and_raised(make_job):
    job = make_job("refuse")
    with pytest.raises(DomainError, match="nothing here to work on"):
        run_here(job, Unwatched())
    job.refresh_from_db()
    assert (job.state, job.error) == (Job.State.FAILED, "There is nothing here to work on.")


def test_an_unexpected_failure_is_one_sentence_for_people_and_a_traceback_in_the_log(make_job, caplog):
    job = make_job("break")
    with pytest.raises(ZeroDivisionError):
        execute(job.pk)
    job.refresh_from_db()
    assert job.state == Job.State.FAILED
    assert (
        job.error
        == "An unexpected error (ZeroDivisionError) stopped the job. The server's log has the details."
    )
    assert "1 / 0" in caplog.text


def test_an_expected_failure_does_not_look_like_a_broken_worker(make_job):
    job = make_job("refuse")
    execute(job.pk)
    job.refresh_from_db()
    assert job.state == Job.State.FAILED


def test_a_job_is_claimed_once(make_job):
    job = make_job()
    assert claim(job.pk).attempts == 1
    assert claim(job.pk) is None


def test_a_job_with_an_expired_lease_is_claimed_only_after_the_sweeper_counted_it(make_job):
    job = make_job()
    first = claim(job.pk)
    Job.objects.update(lease_expires_at="2020-01-01T00:00:00Z")
    assert claim(job.pk) is None
    sweep()
    second = claim(job.pk)
    assert (first.attempts, second.attempts, second.deaths) == (1, 2, 1)


def test_an_overtaken_worker_cannot_write_any_more(make_job):
    job = make_job()
    first = claim(job.pk)
    progress = JobProgress(first)
    progress.log("before")
    Job.objects.update(lease_expires_at="2020-01-01T00:00:00Z")
    sweep()
    claim(job.pk)
    progress.log("after")
    with pytest.raises(LeaseLost):
        progress.start(10)
    with pytest.raises(LeaseLost):
        progress.check_cancelled()
    assert not held(first).exists()
    job.refresh_from_db()
    assert job.steps_total is None
    assert "after" not in [line.text for line in job.lines.all()]


def test_a_job_that_ended_cannot_be_done_again(make_job):
    job = run_here(make_job(), Unwatched())
    with pytest.raises(Conflict, match="already running or has ended"):
        run_here(job, Unwatched())


def test_more_steps_than_announced_are_shown_as_all_of_them(make_job):
    progress = JobProgress(claim(make_job().pk))
    progress.start(2)
    progress.advance(5)
    progress.write()
    assert Job.objects.values_list("steps_done", "steps_total").get() == (2, 2)


def test_progress_is_not_written_inside_a_transaction_of_the_verb(make_job, django_assert_num_queries):
    progress = JobProgress(claim(make_job().pk))
    with transaction.atomic(), django_assert_num_queries(0):
        progress.start(4)
        progress.advance(1)
    progress.write()
    assert Job.objects.values_list("steps_done", "steps_total").get() == (1, 4)


def test_progress_is_written_at_most_twice_a_second(make_job, django_assert_max_num_queries):
    progress = JobProgress(claim(make_job().pk))
    with django_assert_max_num_queries(3):
        progress.start(10_000)
        for _ in range(10_000):
            progress.advance()
            progress.check_cancelled()


def test_a_waiting_job_is_cancelled_at_once(make_job):
    job = cancel(job=make_job())
    assert job.state == Job.State.CANCELLED
    execute(job.pk)
    job.refresh_from_db()
    assert (job.state, job.attempts) == (Job.State.CANCELLED, 0)


def test_a_running_job_stops_at_its_next_step_and_keeps_what_it_did(make_job, tmp_path):
    job = make_job(steps=50, seconds=0.06)
    watcher = Watcher(after_step=lambda: cancel(job=job) if not job.cancel_requested else None)
    done = run_here(job, watcher)
    assert done.state == Job.State.CANCELLED
    assert 1 <= len((tmp_path / "done").read_text().split()) < 50


def test_a_cancelled_job_tried_again_does_only_what_is_missing(make_job, tmp_path):
    (tmp_path / "done").write_text("0\n1\n")
    job = retry(job=cancel(job=make_job()))
    assert job.state == Job.State.QUEUED
    done = run_here(job, Unwatched())
    assert done.result == {"summary": "1 steps done."}


def test_a_job_that_ended_well_can_be_neither_cancelled_nor_tried_again(make_job):
    job = run_here(make_job(), Unwatched())
    with pytest.raises(Conflict, match="already ended"):
        cancel(job=job)
    with pytest.raises(Conflict, match="failed or was cancelled"):
        retry(job=job)


def test_ctrl_c_leaves_a_job_that_can_be_tried_again(make_job):
    def interrupt():
        raise KeyboardInterrupt

    job = make_job()
    with pytest.raises(KeyboardInterrupt):
        run_here(job, Watcher(after_step=interrupt))
    job.refresh_from_db()
    assert job.state == Job.State.CANCELLED
    assert retry(job=job).state == Job.State.QUEUED


def test_a_worker_that_is_asked_to_end_hands_its_job_back(
    make_job, tmp_path, django_capture_on_commit_callbacks
):
    job = make_job(steps=4)
    shutdown.ask()
    try:
        with django_capture_on_commit_callbacks(execute=True):
            execute(job.pk)
    finally:
        shutdown.forget()
    job.refresh_from_db()
    assert (job.state, job.attempts, job.deaths) == (Job.State.QUEUED, 1, 0)
    assert DBTaskResult.objects.get().args_kwargs["args"] == [job.pk]
    execute(job.pk)
    job.refresh_from_db()
    assert (job.state, job.attempts) == (Job.State.SUCCEEDED, 2)


def test_an_unregistered_kind_is_refused_before_it_is_queued(lead):
    with pytest.raises(DomainError, match="This server cannot run jobs of kind “juggle”"):
        enqueue(kind="juggle", title="Juggle", arguments={}, by=lead)
    assert not Job.objects.exists()


def test_only_the_key_of_a_job_goes_into_the_queue_and_only_once_it_is_committed(
    lead, tmp_path, django_capture_on_commit_callbacks
):
    with django_capture_on_commit_callbacks() as callbacks:
        job = enqueue(kind="steps", title="Steps", arguments={"file": str(tmp_path), "steps": 1}, by=lead)
        assert not DBTaskResult.objects.exists()
    for callback in callbacks:
        callback()
    assert DBTaskResult.objects.get().args_kwargs == {"args": [job.pk], "kwargs": {}}


def test_cancelled_is_raised_only_for_the_job_that_was_cancelled(make_job):
    one, other = claim(make_job().pk), claim(make_job().pk)
    cancel(job=one)
    with pytest.raises(Cancelled):
        JobProgress(one).check_cancelled()
    JobProgress(other).check_cancelled()
    assert connection.in_atomic_block
