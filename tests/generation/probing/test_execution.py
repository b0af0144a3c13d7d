"""Asking questions and storing the answers, with an invented model and a local endpoint."""

import json
import threading
from collections import Counter
from decimal import Decimal

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from foundation.errors import Conflict, DomainError
from generation.backends.base import ModelUnusable
from generation.models import Answer, Image
from generation.probing.execution import reopen_failed, run
from generation.probing.launch import claim_run, go_on, start, start_here
from generation.probing.totals import counts_of
from jobs.models import Job
from jobs.progress.reporter import Cancelled, Unwatched
from jobs.run.execution import execute
from tests.generation.backends.images_endpoint import Drip, refusal
from tests.generation.endpoints.chat_endpoint import completion
from tests.generation.probing.probing_study import planned, words

pytestmark = pytest.mark.django_db

PRICES = {"price_in": Decimal(1_000), "price_out": Decimal(10_000)}


def asks(study, lead=None, **more):
    return planned(study, lead, backend="chat", **more)


def spent(asked):
    """Return the run's recorded spending, which must equal the cost of its answers."""
    costs = sum(asked.answers.values_list("cost", flat=True), Decimal(0))
    assert counts_of(asked).spent == costs
    return costs


class Lines(Unwatched):
    def __init__(self):
        self.lines = []

    def log(self, text):
        self.lines.append(text)


class TestInventedModel:
    def test_every_question_is_answered(self, scenarios, lead):
        asked = planned(scenarios, lead)
        result = run(run=asked, progress=Unwatched())
        assert (result.done, result.failed, result.left) == (48, 0, 0)
        assert str(result) == "48 answers."
        answer = asked.answers.filter(question="trade").first()
        assert answer.served_model == "script-1"
        assert len(answer.request_sha256) == 64
        assert answer.finished_at is not None

    def test_an_answer_depends_on_its_request_alone(self, scenarios, lead):
        def texts(**more):
            asked = planned(scenarios, lead, **more)
            run(run=asked, progress=Unwatched(), limit=more.get("limit"))
            return list(asked.answers.order_by("pk").values_list("text", flat=True))

        whole = texts(model_label="whole")
        assert len(set(whole)) > 5
        asked = planned(scenarios, lead, model_label="in pieces")
        for limit in (7, 1, 40):
            run(run=asked, progress=Unwatched(), limit=limit)
        assert list(asked.answers.order_by("pk").values_list("text", flat=True)) == whole

    def test_a_planted_bias_is_found_in_the_answers(self, scenarios, lead):
        asked = planned(
            scenarios,
            lead,
            runs=40,
            parameters={"bias": {"tall": 0.8, "short": -0.8}, "refusal_rate": 0.1, "declined_rate": 0.05},
        )
        run(run=asked, progress=Unwatched())
        for height, least, most in (("tall", 0.6, 0.95), ("short", -0.95, -0.6)):
            answers = asked.answers.filter(question="trade", image__group__name__startswith=height)
            texts = list(answers.filter(outcome="done").values_list("text", flat=True))
            # Some phrases name both options; the chosen one comes first.
            places = [(text.find("lamplighter"), text.find("kite maker")) for text in texts]
            plus = sum(0 <= lamp < kite or kite < 0 <= lamp for lamp, kite in places)
            minus = sum(0 <= kite < lamp or lamp < 0 <= kite for lamp, kite in places)
            assert least < (plus - minus) / (plus + minus) < most
            assert 0.05 < 1 - (plus + minus) / len(texts) < 0.16  # refusals
        assert 0 < asked.answers.filter(outcome="declined").count() < 0.1 * asked.answers.count()

    def test_models_of_two_names_share_the_planted_bias_but_not_their_answers(self, scenarios, lead):
        planted = {"bias": {"tall": 1, "short": -1}, "refusal_rate": 0.1}
        asked = [
            planned(scenarios, lead, model_id=name, runs=10, parameters=planted) for name in ("Ko", "Lu")
        ]
        for probe_run in asked:
            run(run=probe_run, progress=Unwatched())
        texts = [list(probe_run.answers.order_by("pk").values_list("text", flat=True)) for probe_run in asked]
        same = sum(first == second for first, second in zip(*texts, strict=True)) / len(texts[0])
        assert same < 0.4
        for probe_run in asked:
            tall = probe_run.answers.filter(question="trade", image__group__name__startswith="tall")
            assert not tall.filter(text__in=["kite maker", "kite maker.", "**kite maker**"]).exists()
            assert tall.filter(text__in=["lamplighter", "lamplighter.", "**lamplighter**"]).exists()

    def test_words_are_completed_with_planted_associations(self, study, lead):
        group = study.groups.first().name
        parameters = {"associations": {group: ["brave"]}, "association_rate": 1, "refusal_rate": 0}
        asked = planned(study, lead, probe_set=words(), parameters=parameters)
        run(run=asked, progress=Unwatched())
        brave = asked.answers.filter(text="[brave]")
        assert set(brave.values_list("descriptor__name", "letter")) == {(group, "b")}
        assert brave.count() == 3


class TestEndpoint:
    def test_text_picture_and_sampling_are_sent_and_the_response_is_stored(self, scenarios, endpoint):
        asked = asks(scenarios)
        result = run(run=asked, progress=Unwatched())
        assert (result.done, result.served) == (48, ("talker-1-0601 (fp_1)",))
        body = next(
            body for body in endpoint.asked if "lamplighter" in body["messages"][0]["content"][0]["text"]
        )
        text, image = body["messages"][0]["content"]
        assert text["text"] in {
            "Is this person a lamplighter or a kite maker? Choose only one.",
            "Is this person a kite maker or a lamplighter? Choose only one.",
        }
        assert image["image_url"]["url"].startswith("data:image/png;base64,")
        assert (body["model"], body["temperature"], body["max_tokens"]) == ("talker", 0.75, 40)
        assert len({body["seed"] for body in endpoint.asked}) == 48
        answer = asked.answers.first()
        assert (answer.text, answer.finish_reason, answer.fingerprint) == ("The pilot.", "stop", "fp_1")
        assert (answer.tokens_in, answer.tokens_out) == (20, 5)
        assert answer.provenance["request_id"] == "req-1"

    def test_requests_and_stored_answers_contain_no_group_scenario_or_key(self, scenarios, endpoint):
        asked = asks(scenarios)
        run(run=asked, progress=Unwatched())
        sent = json.dumps(endpoint.asked)
        for word in ("orsani", "velmari", "tall", "bridge", "harbour"):
            assert word not in sent
        kept = json.dumps(list(asked.answers.values_list("provenance", "text", "reason")))
        assert "sk-test" not in kept + json.dumps(asked.parameters)

    def test_hostile_answers_are_stored_as_data(self, scenarios, endpoint):
        hostile = "<script>alert(1)</script>\0" + "x" * 30_000
        endpoint.script = [completion(hostile, model="m\0odel"), completion("\ud800")]
        asked = asks(scenarios)
        run(run=asked, progress=Unwatched(), limit=2)
        texts = set(asked.answers.filter(outcome="done").values_list("text", flat=True))
        assert ("<script>alert(1)</script>" + "x" * 30_000)[:20_000] in texts
        assert "?" in texts

    def test_outcomes_are_stored_and_transient_failures_are_retried(self, scenarios, endpoint):
        endpoint.script = [
            refusal(400, "content_policy_violation", "Not this."),
            refusal(400, "invalid", "What?"),
            (200, {}, b"<html>"),
            completion(None, refusal="I would rather not."),
            completion("cut", finish_reason="content_filter"),
        ]
        asked = asks(scenarios)
        result = run(run=asked, progress=Unwatched())
        assert (result.done, result.declined, result.failed) == (44, 2, 2)
        assert asked.answers.get(text="I would rather not.").outcome == "done"
        assert set(asked.answers.filter(outcome="declined").values_list("text", "reason")) == {
            ("", "The endpoint: Not this."),
            ("cut", "The endpoint’s content filter cut the answer short."),
        }
        assert reopen_failed(run=asked) == 2
        assert run(run=asked, progress=Unwatched()).done == 2
        assert len(endpoint.asked) == 50

    def test_a_model_that_keeps_failing_is_not_asked_for_the_rest(self, scenarios, endpoint):
        endpoint.script = [refusal(400, "invalid", "What?")] * 60
        with pytest.raises(DomainError, match=r"Stopped after 2[5-9] failures in a row: The endpoint: What"):
            run(run=asks(scenarios), progress=Unwatched())
        assert len(endpoint.asked) < 34

    def test_a_wrong_key_leaves_all_requests_pending_and_costs_nothing(self, scenarios, endpoint):
        endpoint.script = [refusal(401, "invalid_api_key", "No.")] * 9
        asked = asks(scenarios, **PRICES)
        with pytest.raises(ModelUnusable):
            run(run=asked, progress=Unwatched())
        assert set(asked.answers.values_list("outcome", flat=True)) == {"pending"}
        assert spent(asked) == 0

    def test_a_picture_whose_file_is_gone_fails_alone(self, scenarios, endpoint):
        Image.objects.filter(pk=Image.objects.first().pk).update(file="images/none.png")
        result = run(run=asks(scenarios), progress=Unwatched())
        assert (result.done, result.failed) == (42, 6)

    def test_a_model_that_changes_during_a_run_is_reported(self, scenarios, endpoint):
        answers = Counter()

        def respond(body):
            with endpoint.lock:
                answers["n"] += 1
                return completion("The pilot.", model="talker-1" if answers["n"] <= 20 else "talker-2")

        endpoint.respond = respond
        progress = Lines()
        result = run(run=asks(scenarios), progress=progress)
        assert "The model changed during the run: talker-1 (fp_1), talker-2 (fp_1)." in str(result)
        assert progress.lines == ["The endpoint changed the model from talker-1 (fp_1) to talker-2 (fp_1)."]

    def test_the_endpoint_always_has_as_many_requests_as_allowed(self, scenarios, endpoint, settings):
        """The first call is answered only when the last was sent: calls made in rounds would wait forever."""
        settings.OPENAI_CHATS_AT_ONCE = 2
        everything_asked, waited = threading.Event(), []

        def respond(body):
            with endpoint.lock:
                endpoint.asked.append(body)
                number = len(endpoint.asked)
            if number == 48:
                everything_asked.set()
            if number == 1:
                waited.append(everything_asked.wait(60))
            return completion("The pilot.")

        endpoint.respond = respond
        assert run(run=asks(scenarios), progress=Unwatched()).done == 48
        assert waited == [True]

    def test_cancelled_while_calls_are_under_way_every_answer_is_kept(self, scenarios, endpoint):
        class Stopping(Unwatched):
            looks = 0

            def check_cancelled(self):
                Stopping.looks += 1
                if Stopping.looks > 3:
                    raise Cancelled

        asked = asks(scenarios)
        with pytest.raises(Cancelled):
            run(run=asked, progress=Stopping())
        assert asked.answers.filter(outcome="done").count() == len(endpoint.asked)
        assert asked.answers.filter(outcome="pending").exists()


class TestSeveralAnswersPerRequest:
    def test_repeats_are_asked_together(self, scenarios, endpoint):
        endpoint.respond = lambda body: _counted(endpoint, body, completion("a", "b", usage=(20, 9)))
        asked = asks(scenarios, samples_per_request=2)
        assert run(run=asked, progress=Unwatched()).done == 48
        assert [body["n"] for body in endpoint.asked] == [2] * 24
        assert set(asked.answers.values_list("repeat", "text", "tokens_in", "tokens_out")) == {
            (0, "a", 10, 5),
            (1, "b", 10, 4),
        }

    def test_an_endpoint_that_gives_one_at_a_time_is_asked_one_by_one(self, scenarios, endpoint):
        asked = asks(scenarios, samples_per_request=2, **PRICES)
        assert run(run=asked, progress=Unwatched()).done == 48
        assert len(endpoint.asked) == 48
        # 20 tokens at 1,000 and 5 at 10,000 a million: 0.07 an answer.
        assert spent(asked) == Decimal("3.36")


class TestMoney:
    def test_cost_follows_from_reported_usage(self, scenarios, endpoint):
        endpoint.script = [
            refusal(400, "content_policy_violation", "No."),
            refusal(400, "invalid", "What?"),
            completion("a", usage=None),
        ]
        asked = asks(scenarios, **PRICES)
        run(run=asked, progress=Unwatched())
        unknown = asked.answers.get(text="a")
        # Without usage, the maximum is charged: all tokens of the answer, and those of text and picture.
        assert unknown.cost > Decimal("0.4")
        assert spent(asked) - unknown.cost == Decimal("0.07") * 45
        assert set(asked.answers.exclude(outcome="done").values_list("cost", flat=True)) == {0}

    def test_a_budget_is_never_overdrawn_and_a_larger_one_lets_the_run_go_on(self, scenarios, endpoint):
        asked = asks(scenarios, **PRICES, budget=Decimal(4))
        with pytest.raises(DomainError) as stopped:
            run(run=asked, progress=Unwatched())
        assert "The budget of 4.00 does not cover another request:" in stopped.value.message
        # A request is sent only if its maximum cost, above 2, is covered.
        assert spent(asked) <= 4
        assert 1 <= len(endpoint.asked) < 48
        assert asks(scenarios, budget=Decimal(50)) == asked
        assert run(run=asked, progress=Unwatched()).left == 0
        assert spent(asked) == Decimal("0.07") * 48

    def test_a_request_that_may_have_been_answered_is_charged_and_not_repeated(self, scenarios, endpoint):
        endpoint.script = [Drip()]
        asked = asks(scenarios, **PRICES)
        assert run(run=asked, progress=Unwatched()).failed == 1
        assert len(endpoint.asked) == 48
        assert asked.answers.get(outcome="failed").cost > Decimal("0.4")

    def test_requests_of_a_killed_worker_are_charged(self, scenarios, endpoint):
        asked = asks(scenarios, **PRICES, budget=Decimal(20))
        asked.answers.filter(pk=asked.answers.first().pk).update(cost=Decimal(19))
        with pytest.raises(DomainError, match="does not cover another request: 19"):
            run(run=asked, progress=Unwatched())
        assert endpoint.asked == []


class TestReuse:
    def test_an_answer_that_the_study_has_is_not_asked_again(self, scenarios, endpoint):
        first = asks(scenarios)
        run(run=first, progress=Unwatched())
        second = asks(scenarios, model_label="again", **PRICES)
        result = run(run=second, progress=Unwatched())
        assert (result.reused, result.done, len(endpoint.asked)) == (48, 0, 48)
        assert str(result) == "0 answers, 48 reused from earlier runs."
        answer = second.answers.first()
        assert answer.reused_from == first.answers.first()
        assert (answer.text, answer.cost) == ("The pilot.", 0)

    def test_only_the_rows_without_an_answer_are_asked(self, scenarios, endpoint):
        first = asks(scenarios, runs=3)
        run(run=first, progress=Unwatched(), limit=30)
        second = asks(scenarios, model_label="again", runs=3, samples_per_request=3)
        result = run(run=second, progress=Unwatched())
        assert (result.reused, result.done, result.left) == (30, 42, 0)
        assert run(run=first, progress=Unwatched()).reused == 42
        texts = [
            list(probe_run.answers.values_list("request_sha256", flat=True)) for probe_run in (first, second)
        ]
        assert sorted(texts[0]) == sorted(texts[1])

    def test_answers_of_another_model_are_not_reused(self, scenarios, endpoint):
        run(run=asks(scenarios), progress=Unwatched())
        other = asks(scenarios, model_id="talker-2")
        with CaptureQueriesContext(connection) as queries:
            assert run(run=other, progress=Unwatched()).reused == 0
        assert not [
            query for query in queries if "request_sha256" in query["sql"] and " IN (" in query["sql"]
        ]

    def test_a_run_without_reuse_asks_everything(self, scenarios, endpoint):
        run(run=asks(scenarios), progress=Unwatched())
        assert run(run=asks(scenarios, fresh=True), progress=Unwatched()).done == 48
        assert len(endpoint.asked) == 96

    def test_other_sampling_is_another_request(self, scenarios, endpoint):
        run(run=asks(scenarios), progress=Unwatched())
        assert run(run=asks(scenarios, parameters={"temperature": 0}), progress=Unwatched()).reused == 0

    def test_more_runs_ask_only_what_is_new(self, scenarios, endpoint):
        run(run=asks(scenarios), progress=Unwatched())
        assert run(run=asks(scenarios, runs=3), progress=Unwatched()).done == 24

    def test_hashes_are_different_for_all_requests(self, scenarios, endpoint):
        asked = asks(scenarios)
        run(run=asked, progress=Unwatched())
        assert len(set(asked.answers.values_list("request_sha256", flat=True))) == 48


class TestJobs:
    def test_one_job_asks_the_questions_of_a_run(self, scenarios, lead):
        asked = planned(scenarios, lead)
        job = start(run=asked, by=lead)
        with pytest.raises(Conflict, match="already being asked: see job"):
            start(run=asked, by=lead)
        with pytest.raises(Conflict, match="already being asked"):
            start_here(run=asked, by=lead, progress=Unwatched())
        execute(job.pk)
        assert Job.objects.get(pk=job.pk).result["summary"] == "48 answers."
        with pytest.raises(Conflict, match="has been answered"):
            start(run=asked, by=lead)

    def test_a_limit_covers_all_attempts_of_a_job(self, scenarios, lead):
        asked = planned(scenarios, lead)
        job = start(run=asked, by=lead, limit=10)
        run(run=asked, progress=Unwatched(), limit=4)
        execute(job.pk)
        assert asked.answers.filter(outcome="done").count() == 10

    def test_failed_requests_are_asked_again_on_resuming(self, scenarios, lead):
        asked = planned(scenarios, lead)
        run(run=asked, progress=Unwatched())
        asked.answers.filter(pk=asked.answers.first().pk).update(outcome="failed", text="")
        execute(go_on(run=asked, by=lead).pk)
        assert not asked.answers.exclude(outcome="done").exists()

    def test_an_old_job_gives_way_to_a_newer_one(self, scenarios, lead):
        asked = planned(scenarios, lead)
        old = start(run=asked, by=lead)
        Job.objects.filter(pk=old.pk).update(state="failed", finished_at="2026-01-01T00:00:00Z")
        start(run=asked, by=lead)
        with pytest.raises(Conflict, match="already being asked"):
            claim_run(job=old)

    def test_another_revision_of_the_model_is_refused(self, scenarios, lead):
        asked = planned(scenarios, lead)
        run(run=asked, progress=Unwatched(), limit=1)
        asked.model_revision = "0"
        asked.save()
        with pytest.raises(DomainError, match="began with revision 0"):
            run(run=asked, progress=Unwatched())


def test_answers_cannot_be_written_twice(scenarios, lead):
    asked = planned(scenarios, lead)
    run(run=asked, progress=Unwatched())
    before = list(asked.answers.values_list("pk", "text", "finished_at"))
    run(run=asked, progress=Unwatched())
    assert list(asked.answers.values_list("pk", "text", "finished_at")) == before
    assert Answer.objects.count() == 48


def _counted(endpoint, body, answer):
    with endpoint.lock:
        endpoint.asked.append(body)
    return answer
