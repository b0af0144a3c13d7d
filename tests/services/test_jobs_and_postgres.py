"""A worker survives a crash of PostgreSQL, and finishes the interrupted job."""

import pytest

from tests.foundation.database.own_database import platform_on
from tests.jobs.brokers import own_redis
from tests.jobs.engine.test_worker import QUICK, Jobs, end, wait_for
from tests.services.clusters import private_cluster

pytestmark = [pytest.mark.services, pytest.mark.slow, pytest.mark.database_free]


@pytest.fixture(scope="module")
def cluster():
    with private_cluster() as cluster:
        yield cluster


@pytest.mark.parametrize("engine", ["database", "celery"])
def test_a_database_that_crashes_delays_a_job_and_ends_no_worker(cluster, engine, tmp_path, request):
    settings = dict(QUICK)
    if engine == "celery":
        redis = own_redis(tmp_path)
        settings["CELERY_BROKER_URL"] = redis.__enter__().url
        request.addfinalizer(lambda: redis.__exit__(None, None, None))
    jobs = Jobs(platform_on(cluster.url, tmp_path, **settings), tmp_path)
    pk = jobs.enqueue(steps=10, seconds=0.3)
    with jobs.worker() as worker:
        wait_for(lambda: len(jobs.steps()) >= 2)
        cluster.restart()
        wait_for(lambda: jobs.state(pk) == "succeeded")
        assert jobs.look(pk)[1] >= 2
        later = jobs.enqueue(file="later", steps=1)
        wait_for(lambda: jobs.state(later) == "succeeded")
        end(worker)
    assert jobs.steps() == [str(step) for step in range(10)]
    assert jobs.workers() == []
