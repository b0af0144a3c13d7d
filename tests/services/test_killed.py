"""Servers and databases crash while eight annotators label: no acknowledged answer is lost or duplicated."""

import pytest

from tests.foundation.database.own_database import own_server, platform_on
from tests.services.annotators import PATIENCE, Annotators, campaign, check, wait_until, web_server
from tests.services.clusters import private_cluster

pytestmark = [pytest.mark.services, pytest.mark.slow]
TASKS = 150
KILLS = 8


def test_servers_that_are_killed_lose_no_answer_and_double_none(tmp_path):
    with own_server(tmp_path) as server:
        made = campaign(server, tasks=TASKS)
        with web_server(server, tmp_path) as web:
            annotators = Annotators(web.port, made)
            # Each after the same share of the work, so that a slow machine makes progress between kills, and all
            # happen before a fast one is finished: eight people with thinking time need most of a second for a share.
            for kill in range(1, KILLS + 1):
                share = kill / (KILLS + 1) * 3 * TASKS
                wait_until(lambda share=share: annotators.acknowledged() > share or not annotators.at_work())
                assert annotators.at_work(), annotators.seen
                if kill == KILLS // 2:
                    web.kill()
                    web.start()
                else:
                    web.kill_worker()
            wait_until(lambda: not annotators.at_work())
            check(server, made, annotators.seen, tasks=TASKS)
    assert set(annotators.seen.troubles) == {"no answer"}


@pytest.fixture
def crashing(tmp_path):
    """A PostgreSQL server that may crash, and the platform on it."""
    with private_cluster() as cluster:
        yield cluster, platform_on(cluster.url, tmp_path)


@pytest.mark.database_free
def test_a_database_that_crashes_loses_no_answer_and_the_server_recovers_by_itself(crashing, tmp_path):
    cluster, server = crashing
    made = campaign(server, tasks=TASKS)
    with web_server(server, tmp_path) as web:
        wait_until(lambda: len(web.workers()) == 2)  # the server responds as soon as the first is ready
        workers = web.workers()
        annotators = Annotators(web.port, made)
        for share in (0.2, 0.4):
            wait_until(lambda share=share: annotators.acknowledged() > share * 3 * TASKS)
            cluster.restart()
        wait_until(lambda: annotators.acknowledged() > 0.6 * 3 * TASKS)
        cluster.stop()
        assert (web.get("/healthz"), web.get("/readyz")) == (200, 503)
        before = annotators.seen.troubles["503"]
        wait_until(lambda: annotators.seen.troubles["503"] > before + 8)
        cluster.start()
        wait_until(lambda: not annotators.at_work())
        assert web.get("/readyz") == 200
        assert web.workers() == workers
        check(server, made, annotators.seen, tasks=TASKS)
    # Idle connections may be closed, too; no response has the status 500.
    assert annotators.seen.troubles.keys() - {"no answer"} == {"503"}
    log = (tmp_path / "gunicorn.log").read_text()
    assert "Traceback" not in log
    # Two workers, each with a line per minute.
    assert 0 < log.count("The database does not answer") < 2 * (2 + PATIENCE / 60)
