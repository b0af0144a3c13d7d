"""A worker using batches is killed at each step: nothing is uploaded, submitted, charged or stored twice."""

from contextlib import ExitStack

import pytest

from tests.foundation.database.own_database import own_server
from tests.generation.endpoints.batch_server import batch_server
from tests.generation.probing.probing_study import WORDS
from tests.generation.probing.test_killed import STUDY, wait_for

ANSWERS = 2 * 3 * 100
SIZE = 250
DONE = "SELECT count(*) FROM generation_answer WHERE outcome = 'done'"
UNDER_WAY = "SELECT count(*) FROM generation_batchrequest"
COST = 25 / 2 / 1_000_000  # of 20 tokens in and 5 out, at half the price


@pytest.mark.slow
def test_a_worker_killed_at_each_step_loses_and_duplicates_nothing(tmp_path):
    pytest.importorskip("openai", reason="the full requirements are not installed")
    (tmp_path / "words.toml").write_bytes(WORDS)
    with ExitStack() as stack:
        endpoint = stack.enter_context(batch_server(stall={"files": 5, "batches": 5}, seconds=3))
        server = stack.enter_context(
            own_server(
                tmp_path,
                JOB_LEASE_SECONDS="2",
                JOB_BACKOFF_SECONDS="0",
                JOB_MAX_ATTEMPTS="20",
                OPENAI_BASE_URLS=endpoint.url,
            )
        )
        server.ask(STUDY)
        options = ["--backend", "chat", "--model", "talker", "--runs", "100", "--batch-endpoint"]
        options += ["--batch-size", str(SIZE), "--batch-poll-seconds", "1"]
        options += ["--price-in", "1", "--price-out", "1", "--budget", "1", "--queue"]
        server.run("probe", "--study", "Isles", "--probe-set", str(tmp_path / "words.toml"), *options)

        def count(statement):
            return server.rows(statement)[0][0]

        def kill_when(reached, what):
            """Start a worker; kill it as soon as a condition holds, and let its lease run out."""
            with server.start("db_worker", "--no-startup-delay", "--interval", "0.1") as worker:
                wait_for(reached, what)
                worker.kill()
                worker.wait()
            server.bring_back_jobs()
            assert server.rows("SELECT state FROM jobs_job") == [("queued",)]

        kill_when(lambda: count(UNDER_WAY) > 0, "no batch is filled")
        kill_when(lambda: len(endpoint.state()["files"]) > 0, "nothing is uploaded")
        kill_when(lambda: len(endpoint.state()["batches"]) > 0, "no batch is submitted")
        endpoint.control(stall={"files": 0, "batches": 0})
        kill_when(lambda: len(endpoint.state()["batches"]) > 1, "no second batch is submitted")
        kill_when(lambda: 0 < count(DONE) < ANSWERS, "nothing is collected")

        ended = [("succeeded",)], [("failed",)]
        with server.start("worker", "--interval", "0.1"):
            wait_for(lambda: server.rows("SELECT state FROM jobs_job") in ended, "the job does not end")
        assert server.rows("SELECT state, error FROM jobs_job") == [("succeeded", "")]
        state = endpoint.state()
        assert set(state["executed"].values()) == {1}
        assert len(state["executed"]) == ANSWERS
        texts = [text for (text,) in server.rows("SELECT text FROM generation_answer WHERE outcome = 'done'")]
        assert sorted(texts) == sorted(f"[{seed}]" for seed in state["executed"])
        assert len([name for name in state["files"] if name.startswith("stereoscope-")]) == len(
            state["batches"]
        )
        assert count(UNDER_WAY) == 0
        assert float(count("SELECT sum(cost) FROM generation_answer")) == pytest.approx(ANSWERS * COST)
