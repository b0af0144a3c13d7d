"""A real worker process, also one that is killed."""

import time

import pytest

from tests.own_database import own_server

pytestmark = pytest.mark.slow


@pytest.fixture
def server(tmp_path):
    with own_server(
        tmp_path, DJANGO_SETTINGS_MODULE="tests.jobs.worker_settings", JOB_LEASE_SECONDS="1"
    ) as server:
        yield server


def enqueue(server, tmp_path, **arguments):
    arguments = {"file": str(tmp_path / "done"), "steps": 4, **arguments}
    return server.ask(
        f"from jobs.running import enqueue\n"
        f"answer = enqueue(kind='steps', title='Steps', arguments={arguments!r}, by=None).pk"
    )


def look(server, pk):
    return server.rows(f"SELECT state, attempts, steps_done, error FROM jobs_job WHERE id = {pk}")[0]


def steps_done(tmp_path):
    file = tmp_path / "done"
    return file.read_text().split() if file.exists() else []


def wait_for(condition, seconds=30.0):
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end, "waited too long"
        time.sleep(0.05)


def test_the_queues_own_worker_does_a_job(server, tmp_path):
    pk = enqueue(server, tmp_path)
    server.run("db_worker", "--batch", "--no-startup-delay")
    assert look(server, pk) == ("succeeded", 1, 4, "")
    assert steps_done(tmp_path) == ["0", "1", "2", "3"]


def test_a_job_of_a_killed_worker_is_finished_by_the_next_and_no_step_is_done_twice(server, tmp_path):
    pk = enqueue(server, tmp_path, steps=6, seconds=0.4)
    with server.start("db_worker", "--no-startup-delay", "--interval", "0.1") as worker:
        wait_for(lambda: len(steps_done(tmp_path)) >= 2)
        worker.kill()
    assert look(server, pk)[:2] == ("running", 1)
    time.sleep(1.1)
    assert "1 queued again" in server.run("sweep_jobs").stdout
    server.run("db_worker", "--batch", "--no-startup-delay")
    assert look(server, pk) == ("succeeded", 2, 6, "")
    assert steps_done(tmp_path) == ["0", "1", "2", "3", "4", "5"]


def test_our_worker_brings_back_by_itself_what_a_killed_one_left(server, tmp_path):
    pk = enqueue(server, tmp_path, steps=5, seconds=0.3)
    with server.start("worker", "--no-startup-delay", "--interval", "0.1") as worker:
        wait_for(lambda: steps_done(tmp_path))
        worker.kill()
    with server.start("worker", "--no-startup-delay", "--interval", "0.1") as worker:
        wait_for(lambda: look(server, pk)[0] == "succeeded")
        worker.terminate()
        output, _ = worker.communicate(timeout=20)
    assert worker.returncode == 0, output
    assert steps_done(tmp_path) == ["0", "1", "2", "3", "4"]


def test_a_long_step_outlives_the_lease_because_the_worker_renews_it(server, tmp_path):
    pk = enqueue(server, tmp_path, steps=1, seconds=3)
    with server.start("db_worker", "--batch", "--no-startup-delay") as worker:
        wait_for(lambda: look(server, pk)[0] == "running")
        time.sleep(1.5)
        assert "0 queued again" in server.run("sweep_jobs").stdout
        worker.communicate(timeout=30)
    assert look(server, pk) == ("succeeded", 1, 1, "")
