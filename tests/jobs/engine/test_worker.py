"""Real worker processes, some of them killed: the same tests for both engines.

The database engine, and Celery on a Redis that each test process starts for itself.
"""

import signal
import time
from contextlib import ExitStack

import pytest

from tests.foundation.database.own_database import own_server
from tests.jobs.brokers import own_redis, rabbitmq_queues

pytestmark = pytest.mark.slow

QUICK = {
    "DJANGO_SETTINGS_MODULE": "tests.jobs.worker_settings",
    "JOB_LEASE_SECONDS": "2",
    "JOB_BACKOFF_SECONDS": "0",
    "JOB_REDELIVER_SECONDS": "1",
    "JOB_MAX_ATTEMPTS": "2",
}
# Ctrl-C while the worker writes that it is ready.
INTERRUPTED = """
import io, logging, os, signal, sys
from jobs.engine import backends

class Terminal(io.RawIOBase):
    pressed = False

    def writable(self):
        return True

    def write(self, data):
        if b"Ready" in bytes(data) and not self.pressed:
            self.pressed = True
            os.kill(os.getpid(), signal.SIGINT)
        return os.write(2, data)

sys.stderr = io.TextIOWrapper(io.BufferedWriter(Terminal()), line_buffering=True)
logging.basicConfig(stream=sys.stderr, force=True)
backends.work(["default"], interval=1, batch=False, ready=lambda: print("Ready.", file=sys.stderr))
"""


class Jobs:
    """A server with jobs that leave a line in a file for each step."""

    def __init__(self, server, folder):
        self.server, self.folder = server, folder

    def enqueue(self, *, kind="steps", queue="default", file="done", **arguments):
        return self.enqueue_many([file], [queue], kind=kind, **arguments)[0]

    def enqueue_many(self, files, queues, *, kind="steps", **arguments):
        asked = [
            ({"file": str(self.folder / file), "steps": 4, **arguments}, queue)
            for file, queue in zip(files, queues, strict=True)
        ]
        return self.server.ask(
            "from jobs.run.execution import enqueue\n"
            f"answer = [enqueue(kind='{kind}', title='Steps', arguments=given, by=None, queue=queue).pk"
            f" for given, queue in {asked!r}]"
        )

    def worker(self, *options):
        return self.server.start("worker", "--interval", "0.1", *options)

    def look(self, pk):
        columns = "state, attempts, steps_done, error"
        return self.server.rows(f"SELECT {columns} FROM jobs_job WHERE id = {pk}")[0]

    def state(self, pk):
        return self.look(pk)[0]

    def log(self, pk):
        return [
            text
            for (text,) in self.server.rows(f"SELECT text FROM jobs_jobline WHERE job_id = {pk} ORDER BY id")
        ]

    def workers(self):
        return self.server.rows("SELECT name FROM jobs_worker")

    def steps(self, file="done"):
        path = self.folder / file
        return path.read_text().split() if path.exists() else []


@pytest.fixture(scope="module")
def redis(tmp_path_factory):
    with own_redis(tmp_path_factory.mktemp("redis")) as redis:
        yield redis


@pytest.fixture(params=["database", "celery"])
def jobs(request, tmp_path):
    settings = dict(QUICK)
    if request.param == "celery":
        settings["CELERY_BROKER_URL"] = request.getfixturevalue("redis").url
        settings["CELERY_QUEUE_PREFIX"] = tmp_path.name
    with own_server(tmp_path, **settings) as server:
        yield Jobs(server, tmp_path)


def wait_for(condition, seconds=120.0):
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end, "waited too long"
        time.sleep(0.05)


def end(worker):
    worker.terminate()
    output, _ = worker.communicate(timeout=120)
    assert worker.returncode == 0, output
    return output


def test_a_job_of_a_killed_worker_is_finished_by_another_and_no_step_is_done_twice(jobs):
    pk = jobs.enqueue(steps=6, seconds=0.3)
    with jobs.worker() as first:
        wait_for(lambda: len(jobs.steps()) >= 2)
        first.kill()
        first.wait()
    assert jobs.look(pk)[:2] == ("running", 1)
    with jobs.worker() as second:
        wait_for(lambda: jobs.state(pk) == "succeeded")
        wait_for(lambda: len(jobs.workers()) == 2)  # the dead worker is still listed
        end(second)
    assert jobs.look(pk) == ("succeeded", 2, 6, "")
    # The step at which the worker was killed may already have been written.
    assert jobs.steps() == ["0", "1", "2", "3", "4", "5"]
    assert len(jobs.workers()) == 1
    assert "; the job is queued again." in jobs.log(pk)[1]
    assert jobs.log(pk)[-1].startswith("Done. ")


def test_a_job_that_kills_its_workers_is_given_up(jobs):
    pk = jobs.enqueue(kind="kill")
    for _ in range(2):
        with jobs.worker() as worker:
            assert worker.wait(timeout=60) == -signal.SIGKILL
    with jobs.worker() as worker:
        wait_for(lambda: jobs.state(pk) == "failed")
        end(worker)
    state, attempts, _, error = jobs.look(pk)
    assert (state, attempts) == ("failed", 2)
    assert (
        error
        == "The worker died 2 times while running this job, so the job is not tried again automatically."
    )


def test_a_worker_reads_its_inboxes_while_its_job_runs(jobs):
    pk = jobs.enqueue(steps=1, seconds=60)
    with jobs.worker():
        wait_for(lambda: jobs.state(pk) == "running")
        before = len(jobs.steps("var/inbox"))
        wait_for(lambda: len(jobs.steps("var/inbox")) >= before + 2)
        assert jobs.look(pk)[0] == "running"


def test_workers_share_a_queue_and_each_takes_only_from_its_own_queues(jobs):
    """One step takes longer than the lease, which its worker renews: the other worker does not take the job."""
    with jobs.worker("--queue", "default") as one, jobs.worker("--queue", "default") as other:
        wait_for(lambda: len(jobs.workers()) == 2)
        gpu, *keys = jobs.enqueue_many(["gpu", "a", "b"], ["gpu", "default", "default"], steps=1, seconds=4.5)
        wait_for(lambda: all(jobs.state(pk) == "succeeded" for pk in keys))
        assert jobs.state(gpu) == "queued"
        end(one)
        end(other)
    rows = jobs.server.rows("SELECT worker, attempts FROM jobs_job WHERE queue = 'default'")
    assert len({worker for worker, _ in rows}) == 2
    assert [attempts for _, attempts in rows] == [1, 1]
    assert [jobs.steps(file) for file in "ab"] == [["0"]] * 2
    with jobs.worker("--queue", "gpu") as worker:
        wait_for(lambda: jobs.state(gpu) == "succeeded")
        end(worker)


def test_a_job_survives_the_end_of_its_worker_cancellation_and_a_retry(jobs):
    pk = jobs.enqueue(steps=60, seconds=0.3)
    with jobs.worker() as worker:
        wait_for(lambda: jobs.steps())
        end(worker)
    assert jobs.look(pk)[:2] == ("queued", 1)
    assert jobs.workers() == []
    handed_over = len(jobs.steps())
    with jobs.worker() as worker:
        wait_for(lambda: len(jobs.steps()) > handed_over)
        jobs.server.ask(
            f"from jobs.run.control import cancel\nanswer = cancel(job=Job.objects.get(pk={pk})).pk"
        )
        wait_for(lambda: jobs.state(pk) == "cancelled")
        assert len(jobs.steps()) < 60
        jobs.server.ask(
            f"from jobs.run.control import retry\njob = Job.objects.get(pk={pk})\njob.arguments['seconds'] = 0\n"
            "job.save()\nanswer = retry(job=job).pk"
        )
        wait_for(lambda: jobs.state(pk) == "succeeded")
        end(worker)
    assert jobs.steps() == [str(step) for step in range(60)]
    assert {"Somebody cancelled the job.", "Somebody asked to try again."} <= set(jobs.log(pk))


def test_a_worker_that_says_it_is_ready_listens_to_ctrl_c(jobs):
    ended = jobs.server.run("shell", "-v", "0", "-c", INTERRUPTED)
    assert "Traceback" not in ended.stderr


@pytest.mark.database_free
def test_the_database_engine_can_end_when_there_is_no_more_work(tmp_path):
    with own_server(tmp_path, **QUICK) as server:
        jobs = Jobs(server, tmp_path)
        pk = jobs.enqueue()
        server.run("worker", "--batch")
        assert jobs.look(pk) == ("succeeded", 1, 4, "")
        refused = server.run("worker", "--batch", check=False, CELERY_BROKER_URL="redis://127.0.0.1:1/0")
        assert refused.returncode == 2
        assert "--batch works only for jobs queued in the database" in refused.stderr


@pytest.mark.database_free
def test_no_job_is_lost_when_the_broker_restarts_empty(tmp_path):
    """Queued jobs are announced again; jobs created meanwhile are stored and announced later."""
    with own_redis(tmp_path) as redis, own_server(tmp_path, **QUICK, CELERY_BROKER_URL=redis.url) as server:
        jobs = Jobs(server, tmp_path)
        before = jobs.enqueue(file="before")
        redis.stop()
        meanwhile = jobs.enqueue(file="meanwhile")
        trouble = "from jobs.engine import backends\nanswer = backends.trouble()"
        assert server.ask(trouble) == "OperationalError"
        with jobs.worker() as worker:
            wait_for(lambda: jobs.workers())
            redis.start()
            wait_for(lambda: jobs.state(before) == jobs.state(meanwhile) == "succeeded")
            assert server.ask(trouble) == ""
            end(worker)


@pytest.mark.database_free
def test_celery_works_on_rabbitmq_too(tmp_path):
    with ExitStack() as stack:
        queues = stack.enter_context(rabbitmq_queues())
        server = stack.enter_context(own_server(tmp_path, **QUICK, **queues))
        jobs = Jobs(server, tmp_path)
        killed = jobs.enqueue(file="killed", steps=5, seconds=0.3)
        with jobs.worker() as first:
            wait_for(lambda: jobs.steps("killed"))
            first.kill()
            first.wait()
        with jobs.worker() as second:
            wait_for(lambda: jobs.state(killed) == "succeeded")
            end(second)
        assert jobs.steps("killed") == ["0", "1", "2", "3", "4"]
