"""A worker is killed while it asks: no answered request is repeated, and none is missing."""

import time
from contextlib import ExitStack

import pytest

from tests.foundation.database.own_database import own_server
from tests.generation.endpoints.chat_endpoint import chat_endpoint, completion
from tests.generation.probing.probing_study import WORDS

STUDY = """
study = Study.objects.create(name='Isles', slug='isles', seed=7)
[StudyGroup.objects.create(study=study, name=name, display_name=name) for name in ('Velmari', 'Orsani')]
answer = 0
"""
DONE = "SELECT text FROM generation_answer WHERE outcome = 'done'"
COUNTS = "SELECT outcome, number, cost_e8 FROM generation_answercount WHERE number <> 0 OR cost_e8 <> 0"
AT_ONCE = 4
ANSWERS = 2 * 3 * 20


def wait_for(reached, what: str, seconds: float = 120) -> None:
    end = time.monotonic() + seconds
    while not reached():
        assert time.monotonic() < end, what
        time.sleep(0.02)


@pytest.mark.slow
def test_a_worker_killed_twice_leaves_no_duplicate_and_no_gap(tmp_path):
    pytest.importorskip("openai", reason="the full requirements are not installed")
    (tmp_path / "words.toml").write_bytes(WORDS)

    def answer(body):
        time.sleep(0.1)
        return completion(f"[{body['seed']}]")

    with chat_endpoint(answer) as endpoint, ExitStack() as stack:
        server = stack.enter_context(
            own_server(
                tmp_path,
                JOB_LEASE_SECONDS="2",
                JOB_BACKOFF_SECONDS="0",
                JOB_MAX_ATTEMPTS="20",
                OPENAI_BASE_URLS=endpoint.url,
                OPENAI_CHATS_AT_ONCE=str(AT_ONCE),
            )
        )
        server.ask(STUDY)
        words = ("--probe-set", str(tmp_path / "words.toml"), "--runs", "20")
        model = (
            "--backend",
            "chat",
            "--model",
            "talker",
            "--price-in",
            "1",
            "--price-out",
            "1",
            "--budget",
            "1",
        )
        said = server.run("probe", "--study", "Isles", *words, *model, "--queue").stdout
        assert said == "Queued as job 1.\n"
        for least in (20, 60):
            with server.start("db_worker", "--no-startup-delay", "--interval", "0.1") as worker:
                wait_for(lambda least=least: len(server.rows(DONE)) >= least, "the worker asks nothing")
                worker.kill()
                worker.wait()
            time.sleep(0.3)  # requests under way reach the endpoint
            answered = {text for (text,) in server.rows(DONE)}
            asked_before = len(endpoint.asked)
            assert asked_before - len(answered) <= 2 * AT_ONCE * (1 if least == 20 else 2)
            server.bring_back_jobs()
            assert server.rows("SELECT state FROM jobs_job") == [("queued",)]
        server.run("db_worker", "--batch", "--no-startup-delay")
        assert server.rows("SELECT state FROM jobs_job") == [("succeeded",)]
        again = {f"[{body['seed']}]" for body in endpoint.asked[asked_before:]}
        assert not again & answered
        texts = [text for (text,) in server.rows(DONE)]
        assert len(texts) == len(set(texts)) == ANSWERS
        assert ANSWERS <= len(endpoint.asked) <= ANSWERS + 4 * AT_ONCE
        ((spent,),) = server.rows("SELECT sum(cost) FROM generation_answer")
        assert server.rows(COUNTS) == [("done", ANSWERS, round(float(spent) * 10**8))]
        # Stored before the call, so that lost answers are charged too: 25 tokens an answer, and the maximum.
        assert float(spent) >= ANSWERS * 25 / 1_000_000 * 0.999
