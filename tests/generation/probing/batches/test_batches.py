"""Questions asked in batches, with a real server in a separate process and many faults."""

from decimal import Decimal

import pytest
from django.utils import timezone

from foundation.errors import DomainError
from generation.models import Answer, BatchRequest, ProbeBatch
from generation.probing.estimates import estimate
from generation.probing.execution import reopen_failed, run
from generation.probing.totals import counts_of
from jobs.progress.reporter import Unwatched
from tests.generation.endpoints.batch_server import batch_server
from tests.generation.probing.probing_study import plan_of, planned

pytestmark = pytest.mark.django_db

BATCHES = {"batch_endpoint": True, "batch_poll_seconds": 1}
PRICES = {"price_in": Decimal(1_000), "price_out": Decimal(10_000)}
# 20 tokens in and 5 out at half the price.
COST = Decimal("0.035")


class Quick(Unwatched):
    """Waits only a moment where a job would rest, and keeps the log."""

    def __init__(self):
        self.rests = 0
        self.lines = []

    def rest(self, seconds):
        self.rests += 1
        assert self.rests < 100

    def log(self, text):
        self.lines.append(text)


@pytest.fixture
def server(settings):
    pytest.importorskip("openai", reason="the full requirements are not installed")
    with batch_server() as server:
        settings.OPENAI_BASE_URLS = [server.url]
        settings.OPENAI_API_KEY = "sk-test"
        settings.OPENAI_TIMEOUT_SECONDS = 5
        yield server


def asks(study, **more):
    return planned(study, backend="chat", batches=BATCHES | more.pop("batches", {}), **more)


def assert_whole(asked, server):
    """Check that every question has one answer that was requested once, and that no request is under way."""
    texts = list(asked.answers.filter(outcome="done").values_list("text", flat=True))
    executed = server.state()["executed"]
    assert sorted(texts) == sorted(f"[{seed}]" for seed in executed)
    assert len(texts) == len(set(texts)) == asked.answers.count() == 48
    assert set(executed.values()) == {1}
    assert not BatchRequest.objects.exists()
    costs = sum(asked.answers.values_list("cost", flat=True), Decimal(0))
    assert costs == counts_of(asked).spent
    return costs


class TestABatch:
    def test_is_uploaded_submitted_and_collected(self, scenarios, server):
        asked = asks(scenarios, **PRICES)
        result = run(run=asked, progress=Quick())
        assert (result.done, result.left, result.served) == (48, 0, ("talker-1",))
        assert assert_whole(asked, server) == 48 * COST
        (batch,) = asked.batches.all()
        assert (batch.state, batch.requests, batch.result) == ("ended", 48, "completed: 48 done")
        assert server.state()["files"][0] == f"stereoscope-{batch.key}.jsonl"
        answer = asked.answers.first()
        assert len(answer.request_sha256) == 64
        assert (answer.tokens_in, answer.tokens_out) == (20, 5)

    def test_has_the_same_requests_as_questions_that_are_asked_one_by_one(self, scenarios, server):
        asked = asks(scenarios)
        run(run=asked, progress=Quick())
        again = asks(scenarios, fresh=False, model_label="again")
        result = run(run=again, progress=Quick())
        assert (result.done, result.reused) == (0, 48)
        assert again.batches.count() == 0

    def test_holds_no_more_requests_than_it_may(self, scenarios, server):
        asked = asks(scenarios, batches={"batch_size": 20})
        run(run=asked, progress=Quick())
        assert list(asked.batches.values_list("requests", flat=True)) == [20, 20, 8]
        assert_whole(asked, server)

    def test_ends_at_a_limit(self, scenarios, server):
        asked = asks(scenarios)
        assert run(run=asked, progress=Quick(), limit=10).left == 38
        assert run(run=asked, progress=Quick()).done == 38
        assert_whole(asked, server)


class TestMoney:
    def test_an_estimate_counts_the_price_of_batches(self, scenarios, server):
        plan = plan_of(scenarios, backend="chat", batches=BATCHES, **PRICES)
        alone = plan_of(scenarios, backend="chat", **PRICES)
        assert estimate(plan).cost == pytest.approx(estimate(alone).cost / 2)

    def test_a_budget_is_never_exceeded_and_unused_reservations_are_freed(self, scenarios, server):
        asked = asks(scenarios, budget=Decimal("1.68"), **PRICES)  # 48 × 0.035; the reservation is far higher
        with pytest.raises(DomainError, match=r"The budget of 1.68 does not cover another request"):
            run(run=asked, progress=Quick())
        assert counts_of(asked).spent <= Decimal("1.68")
        assert asked.batches.count() > 1
        assert asks(scenarios, budget=Decimal(100), **PRICES) == asked
        run(run=asked, progress=Quick())
        assert assert_whole(asked, server) == 48 * COST


class TestFaults:
    @pytest.mark.parametrize("place", ["files", "batches"])
    @pytest.mark.parametrize("fault", ["taken", "lost", 500])
    def test_a_call_without_a_response_is_looked_up_and_done_once(self, scenarios, server, place, fault):
        server.control(faults={place: [fault]})
        asked = asks(scenarios, **PRICES)
        progress = Quick()
        run(run=asked, progress=progress)
        assert assert_whole(asked, server) == 48 * COST
        state = server.state()
        assert len(state["batches"]) == 1
        assert state["calls"][f"POST {place}"] == (1 if fault == "taken" else 2)
        assert any("Resume the run to check again" in line for line in progress.lines)

    def test_a_file_of_answers_that_breaks_off_is_fetched_again(self, scenarios, server):
        server.control(faults={"content": ["cut"]})
        asked = asks(scenarios)
        run(run=asked, progress=Quick())
        assert_whole(asked, server)

    def test_each_request_gets_the_outcome_in_its_line(self, scenarios, server):
        server.control(lines={"0": "error", "1": "filter", "2": "missing", "3": "double", "4": "odd"})
        asked = asks(scenarios, **PRICES)
        result = run(run=asked, progress=Quick())
        assert (result.done, result.declined, result.failed) == (45, 1, 2)
        reasons = dict(asked.answers.filter(outcome="failed").values_list("reason", "cost"))
        assert reasons["The endpoint: Not this."] == 0
        # It may have been answered and charged: the reservation stays.
        assert reasons["The endpoint’s batch has no answer to this question."] > COST
        assert asked.answers.get(outcome="declined").cost == 0
        server.control(lines={})
        assert reopen_failed(run=asked) == 2
        assert run(run=asked, progress=Quick()).done == 2

    def test_requests_missed_by_an_expired_batch_go_into_another(self, scenarios, server):
        server.control(ends=["expired"])
        asked = asks(scenarios, **PRICES)
        run(run=asked, progress=Quick())
        assert assert_whole(asked, server) == 48 * COST
        assert [batch.requests for batch in asked.batches.all()] == [48, 24]
        assert asked.batches.first().result == "expired: 24 done, 24 not asked"

    def test_a_batch_that_expires_without_an_answer_stops_the_run(self, scenarios, server):
        server.control(ends=["expired"], answered=0)
        asked = asks(scenarios, **PRICES)
        with pytest.raises(DomainError, match="A batch is expired, and none of its requests was answered"):
            run(run=asked, progress=Quick())
        assert counts_of(asked).spent == 0
        run(run=asked, progress=Quick())
        assert_whole(asked, server)

    def test_a_refused_batch_costs_nothing_and_is_reported(self, scenarios, server):
        server.control(ends=["failed"])
        asked = asks(scenarios, **PRICES)
        with pytest.raises(
            DomainError, match=r"The endpoint did not accept the batch. Too many tokens wait."
        ):
            run(run=asked, progress=Quick())
        assert counts_of(asked).spent == 0
        assert asked.answers.filter(outcome="pending").count() == 48
        run(run=asked, progress=Quick())
        assert_whole(asked, server)

    def test_a_batch_lost_by_the_endpoint_stays_charged(self, scenarios, server):
        asked = asks(scenarios, **PRICES)
        ProbeBatch.objects.create(
            run=asked, key="k", state="waiting", file_id="f", batch_id="batch_9", requests=1
        )
        answer = asked.answers.first()
        BatchRequest.objects.create(batch=asked.batches.get(), answer=answer, reserved=0)
        run(run=asked, progress=Quick())
        answer.refresh_from_db()
        assert (answer.outcome, answer.reason) == ("failed", "The endpoint no longer has the batch.")

    def test_an_endpoint_without_batches_says_so_in_one_sentence(self, scenarios, server):
        server.control(has_batches=False)
        asked = asks(scenarios, **PRICES)
        with pytest.raises(DomainError) as stopped:
            run(run=asked, progress=Quick())
        assert stopped.value.message == (
            f"The endpoint {server.url} does not support batches. Run the command without --batch-endpoint."
        )
        assert counts_of(asked).spent == 0


class TestPlans:
    def test_only_endpoints_take_batches(self, scenarios, lead):
        with pytest.raises(DomainError, match=r"Only endpoints accept batches. Choose the back-end “chat”."):
            planned(scenarios, lead, batches=BATCHES)

    def test_a_request_in_a_batch_has_one_answer(self, scenarios, server):
        with pytest.raises(DomainError, match="In a batch, each request has one answer"):
            asks(scenarios, samples_per_request=2)

    def test_questions_in_a_batch_are_not_also_asked_one_by_one(self, scenarios, server):
        server.control(seconds=3_600)
        asked = asks(scenarios, **PRICES)

        class Leaving(Quick):
            def rest(self, seconds):
                raise KeyboardInterrupt

        with pytest.raises(KeyboardInterrupt):
            run(run=asked, progress=Leaving())
        assert BatchRequest.objects.count() == 48
        # From now on, questions are asked one by one: those at the endpoint are waited for.
        assert planned(scenarios, backend="chat", **PRICES) == asked
        with pytest.raises(KeyboardInterrupt):
            run(run=asked, progress=Leaving())
        assert server.state()["calls"]["POST batches"] == 1
        assert Answer.objects.filter(outcome="pending", finished_at__lt=timezone.now()).count() == 0
