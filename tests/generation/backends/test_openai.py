"""Images from an OpenAI-compatible endpoint: a local server that answers correctly, incorrectly or not at all."""

import gzip
import json
import logging
from decimal import Decimal

import pytest

from foundation.errors import DomainError
from generation.backends.base import ImageRequest, ModelUnusable
from generation.backends.openai.backend import OpenAIBackend
from generation.backends.openai.download import fetch
from generation.models import GenerationRequest, GenerationRun, Image
from generation.runs.budget import reserve
from generation.runs.execution import reopen_failed, run
from generation.runs.planning import plan_run
from jobs.progress.reporter import Cancelled, LeaseLost, Unwatched
from tests.generation.backends.images_endpoint import Drip, image, images_endpoint, png, refusal

KEY = "sk-test-a-key-that-must-not-leave"
WANTED = ImageRequest("an orsani person", 5)
BUSY = refusal(429, "rate_limit_exceeded", "Slow down.", retry_after="0.01")
PAID = ImageRequest("an orsani person", 5, paid=True)
HEAD = b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 100\r\n\r\n"
BROKEN = (500, {"retry-after": "0.01"}, {"error": {"message": "Oops."}})

pytestmark = pytest.mark.filterwarnings("ignore::DeprecationWarning")


@pytest.fixture
def endpoint(settings):
    pytest.importorskip("openai", reason="the full requirements are not installed")
    with images_endpoint() as server:
        settings.OPENAI_BASE_URLS = [server.url]
        settings.OPENAI_API_KEY = KEY
        settings.OPENAI_TIMEOUT_SECONDS = 20
        yield server


def load(**parameters):
    backend = OpenAIBackend()
    return backend.load(model_id="painter-3", parameters=backend.clean(parameters, groups=[]))


@pytest.mark.database_free
class TestAnswers:
    def test_one_request_is_one_image_with_the_metadata_of_the_endpoint(self, endpoint):
        endpoint.script = [image(revised_prompt="an Orsani\nperson, smiling")]
        answer = load(size="512x512", quality="low").draw(WANTED)
        assert (answer.outcome, answer.data, answer.charged) == ("done", png(), True)
        made = answer.provenance
        assert made["revised_prompt"] == "an Orsani person, smiling"
        assert (made["endpoint"], made["request_id"]) == (endpoint.url, "req-1")
        (asked,) = endpoint.asked
        assert asked == {
            "model": "painter-3",
            "prompt": "an orsani person",
            "n": 1,
            "size": "512x512",
            "quality": "low",
        }
        assert endpoint.keys == [f"Bearer {KEY}"]

    def test_a_seed_is_sent_only_when_wanted(self, endpoint):
        load(send_seed="yes").draw(ImageRequest("a person", 2**40 + 3))
        assert endpoint.asked[0]["seed"] == 3

    def test_a_picture_behind_an_address_of_the_endpoint_is_fetched_without_the_key(self, endpoint):
        origin = endpoint.url.removesuffix("/v1")
        endpoint.files["/made/1.png?token=a"] = (200, png())
        endpoint.script = [(200, {}, {"created": 1, "data": [{"url": f"{origin}/made/1.png?token=a"}]})]
        assert load(response_format="url").draw(WANTED).data == png()
        assert endpoint.keys == [f"Bearer {KEY}", ""]

    @pytest.mark.parametrize("problem", [BUSY, BROKEN])
    def test_transient_errors_are_retried(self, endpoint, problem):
        endpoint.script = [problem, problem, image()]
        assert load().draw(WANTED).outcome == "done"
        assert len(endpoint.asked) == 3

    def test_lasting_errors_are_given_up(self, endpoint):
        endpoint.script = [BUSY] * 9
        answer = load().draw(WANTED)
        assert (answer.outcome, answer.charged) == ("failed", False)
        assert answer.reason == "The endpoint: Slow down. The request was sent 5 times."
        assert len(endpoint.asked) == 5

    def test_a_refusal_is_an_outcome(self, endpoint):
        endpoint.script = [refusal(400, "content_policy_violation", "Your request was rejected.")]
        answer = load().draw(WANTED)
        assert (answer.outcome, answer.charged) == ("refused", False)
        assert answer.reason == "The endpoint: Your request was rejected."

    @pytest.mark.parametrize(
        ("answer", "sentence"),
        [
            (refusal(401, "invalid_api_key", f"Incorrect API key {KEY}."), "does not accept the key"),
            (
                refusal(403, "unsupported_country", f"Your country is not served. {KEY}"),
                "refused the request (403). The endpoint: Your country is not served.",
            ),
            ((403, {}, {"detail": "Ask the owner."}), "(403). The endpoint: Ask the owner."),
            ((403, {}, b"Blocked by the\nproxy"), "(403). The endpoint: Blocked by the proxy"),
            (refusal(403, "long", "x" * 5_000), "x" * 200),
            (refusal(404, "model_not_found", "None such."), "The endpoint has no model “painter-3”"),
            (refusal(429, "insufficient_quota", "Pay."), "has no credit left"),
            (refusal(429, "rate_limit", "Later.", retry_after="3600"), "asks you to wait 3,600 seconds"),
        ],
    )
    def test_errors_that_affect_every_request_stop_the_run(self, endpoint, answer, sentence):
        endpoint.script = [answer]
        with pytest.raises(ModelUnusable) as stopped:
            load().draw(WANTED)
        assert sentence in stopped.value.message
        assert KEY not in stopped.value.message
        assert len(stopped.value.message) < 450

    @pytest.mark.parametrize(
        ("answer", "sentence", "charged"),
        [
            ((200, {}, b"<html>no JSON"), "The endpoint's answer contains no image.", True),
            ((200, {}, {"created": 1, "data": []}), "The endpoint's answer contains no image.", True),
            ((200, {}, {"created": 1, "data": [{"b64_json": "%%%"}]}), "is not base64", True),
            (
                (200, {}, {"created": 1, "data": [{"url": "http://127.0.0.1:1/a.png"}]}),
                "is neither https",
                True,
            ),
            (refusal(400, "invalid", f"Bad size,\x00 said {KEY}."), "The endpoint: Bad size, said ….", False),
            ((302, {"location": "http://127.0.0.1:1/"}, b""), "The endpoint answered with 302", False),
        ],
    )
    def test_an_answer_without_a_valid_image_fails_its_request(self, endpoint, answer, sentence, charged):
        endpoint.script = [answer]
        answer = load().draw(WANTED)
        assert (answer.outcome, answer.charged) == ("failed", charged)
        assert sentence in answer.reason
        assert KEY not in answer.reason

    def test_an_unresponsive_endpoint_times_out(self, endpoint, settings):
        settings.OPENAI_TIMEOUT_SECONDS = 1
        endpoint.script = [3]
        answer = load().draw(WANTED)
        assert answer.reason == "The endpoint did not answer within 1 seconds."
        assert answer.charged

    @pytest.mark.parametrize(
        ("problem", "sentence"),
        [
            (BROKEN, "The endpoint: Oops."),
            (refusal(504, "", "Too slow."), "The endpoint: Too slow."),
            (refusal(408, "", "Too slow."), "The endpoint: Too slow."),
            (Drip(), "The endpoint closed the connection before it answered."),
        ],
    )
    def test_an_image_that_may_have_been_made_is_charged_once_and_not_repeated(
        self, endpoint, problem, sentence
    ):
        endpoint.script = [problem]
        answer = load().draw(PAID)
        assert (answer.outcome, answer.charged, answer.reason) == ("failed", True, sentence)
        assert len(endpoint.asked) == 1

    def test_a_rate_limited_request_is_not_charged_and_retried(self, endpoint):
        endpoint.script = [BUSY, refusal(503, "", "Later.", retry_after="0.01"), image()]
        assert load().draw(PAID).outcome == "done"
        assert len(endpoint.asked) == 3

    def test_an_unreachable_endpoint_is_not_charged(self, endpoint, settings):
        settings.OPENAI_BASE_URLS = ["http://127.0.0.1:1/v1"]
        model = load()
        model.stop()  # so that the first pause is also the last
        with pytest.raises(ModelUnusable, match="The run stopped while the endpoint was busy"):
            model.draw(PAID)

    @pytest.mark.parametrize("drip", [Drip(HEAD, b" " * 60), Drip(b"HTTP/1.1 200 OK\r\nX-Slow: ", b"a" * 60)])
    def test_a_trickling_answer_times_out(self, endpoint, settings, drip):
        settings.OPENAI_TIMEOUT_SECONDS = 1
        endpoint.script = [drip]
        answer = load().draw(WANTED)
        assert (answer.reason, answer.charged) == ("The endpoint did not answer within 1 seconds.", True)
        assert len(endpoint.asked) == 1

    def test_an_answer_without_end_is_not_read(self, endpoint, settings):
        settings.IMAGE_MAX_BYTES = 3000
        endpoint.script = [(200, {}, b" " * (2 << 20))]
        answer = load().draw(WANTED)
        assert (answer.reason, answer.charged) == ("The endpoint's answer has more than 1.0 MiB.", True)

    def test_a_compressed_answer_is_not_opened(self, endpoint):
        endpoint.script = [(200, {"content-encoding": "gzip"}, gzip.compress(b" " * 10_000))]
        assert "is compressed, although that was not requested" in load().draw(WANTED).reason


@pytest.mark.database_free
class TestWhereItGoes:
    def test_a_lead_reaches_only_endpoints_that_the_operator_allows(self, endpoint):
        for url in ("http://169.254.169.254/v1", "http://127.0.0.1:5432", f"{endpoint.url}/../other"):
            with pytest.raises(DomainError, match="is not allowed here"):
                load(endpoint=url)

    def test_without_allowed_endpoints_none_can_be_reached(self, settings):
        settings.OPENAI_BASE_URLS = []
        with pytest.raises(DomainError, match="OPENAI_BASE_URLS"):
            load()

    def test_the_key_goes_to_the_first_endpoint_only(self, endpoint, settings):
        settings.OPENAI_BASE_URLS = ["https://elsewhere.invalid/v1", endpoint.url]
        load(endpoint=endpoint.url).draw(WANTED)
        assert endpoint.keys == ["Bearer none"]

    def test_the_key_is_not_logged(self, endpoint, caplog):
        endpoint.script = [BROKEN, image()]
        with caplog.at_level(logging.DEBUG):
            load().draw(WANTED)
        assert caplog.records
        assert KEY not in caplog.text

    @pytest.mark.parametrize(
        ("url", "why"),
        [
            ("http://example.com/a.png", "neither https nor"),
            ("https://127.0.0.1/a.png", "is not on a public host"),
            ("https://localhost/a.png", "is not on a public host"),
            ("https://[::1]/a.png", "is not on a public host"),
            ("https://169.254.169.254/latest/meta-data", "is not on a public host"),
            ("https://10.0.0.1/a.png", "is not on a public host"),
            ("file:///etc/passwd", "is not a web address"),
            ("https://user@127.0.0.1/", "is not a web address"),
            ("http://127.0.0.1:99999/", "is not an address"),
            ("data:image/png;base64,AAAA", "is not a web address"),
        ],
    )
    def test_a_dangerous_address_is_not_fetched(self, url, why):
        with pytest.raises(DomainError) as refused:
            fetch(url, endpoint="https://api.example.com/v1", limit=1000, seconds=1)
        assert why in refused.value.message
        assert url not in refused.value.message

    def test_neither_redirects_nor_endless_files_are_followed(self, endpoint):
        origin = endpoint.url.removesuffix("/v1")
        endpoint.files |= {"/away.png": (302, b""), "/huge.png": (200, b"x" * 2000)}
        for path, why in (
            ("away", "was answered with 302"),
            ("huge", "has more than"),
            ("none", "with 404"),
        ):
            with pytest.raises(DomainError, match=why):
                fetch(f"{origin}/{path}.png", endpoint=endpoint.url, limit=1000, seconds=5)

    @pytest.mark.parametrize(
        "drip",
        [Drip(b"HTTP/1.1 200 OK\r\nX-Slow: ", b"a" * 60), Drip(b"HTTP/1.1 200 OK\r\n\r\n", png()[:60])],
    )
    def test_a_trickling_picture_times_out(self, endpoint, drip):
        endpoint.files["/slow.png"] = drip
        url = endpoint.url.removesuffix("/v1") + "/slow.png"
        with pytest.raises(DomainError, match="takes too long"):
            fetch(url, endpoint=endpoint.url, limit=10_000, seconds=1)


def spent(planned):
    """Return the run's recorded spending, which must equal the cost of its images."""
    planned.refresh_from_db()
    costs = sum(planned.requests.values_list("cost", flat=True), Decimal(0))
    assert planned.spent == costs
    return planned.spent


@pytest.mark.django_db
class TestRuns:
    def plan(self, study, lead, **more):
        return plan_run(study=study, backend="openai", model_id="painter-3", by=lead, **more)

    def test_outcomes_are_stored_with_their_cost(self, endpoint, study, lead, prompts, settings):
        settings.OPENAI_IMAGES_AT_ONCE = 4
        planned = self.plan(study, lead, price=Decimal("0.04"))
        endpoint.script = [
            image(),
            refusal(400, "content_policy_violation", "No."),
            (200, {}, b"nothing"),
            refusal(400, "invalid", "What?"),
        ]
        result = run(run=planned, progress=Unwatched())
        assert (result.done, result.refused, result.failed, result.left) == (9, 1, 2, 0)
        # Nine images, and one answer without an image, which may have been charged.
        assert spent(planned) == Decimal("0.40")
        refused = planned.requests.get(outcome="refused")
        assert (refused.image, refused.reason, refused.cost) == (None, "The endpoint: No.", 0)
        assert KEY not in json.dumps(list(Image.objects.values_list("provenance", flat=True)))
        assert reopen_failed(run=planned) == 2
        assert run(run=planned, progress=Unwatched()).done == 2
        assert spent(planned) == Decimal("0.48")

    def test_a_budget_stops_the_run_and_a_larger_one_lets_it_go_on(
        self, endpoint, study, lead, prompts, settings
    ):
        settings.OPENAI_IMAGES_AT_ONCE = 4
        planned = self.plan(study, lead, price=Decimal("0.5"), budget=Decimal("3.2"))
        with pytest.raises(DomainError) as stopped:
            run(run=planned, progress=Unwatched())
        assert stopped.value.message == (
            "The budget of 3.20 does not cover another image: 3.00 has been spent. Raise the budget to continue."
        )
        assert len(endpoint.asked) == 6
        assert Image.objects.count() == 6
        assert self.plan(study, lead, budget=Decimal(10)) == planned
        assert run(run=planned, progress=Unwatched()).done == 6
        assert spent(planned) == 6

    def test_requests_under_way_in_a_killed_worker_are_charged(self, endpoint, study, lead, prompts):
        planned = self.plan(study, lead, price=Decimal(1), budget=Decimal(12))
        planned.requests.filter(pk=planned.requests.first().pk).update(cost=1)
        assert reserve(planned, Decimal(1))
        with pytest.raises(DomainError, match=r"The budget of 12.00 does not cover another image"):
            run(run=planned, progress=Unwatched())
        assert Image.objects.count() == 11

    def test_a_wrong_key_leaves_every_request_pending_and_costs_nothing(self, endpoint, study, lead, prompts):
        planned = self.plan(study, lead, price=Decimal(1))
        endpoint.script = [refusal(401, "invalid_api_key", "No.")] * 4
        with pytest.raises(ModelUnusable):
            run(run=planned, progress=Unwatched())
        assert set(planned.requests.values_list("outcome", flat=True)) == {GenerationRequest.Outcome.PENDING}
        assert spent(planned) == 0

    def test_a_price_and_a_budget_set_during_a_run_apply_at_once(
        self, endpoint, study, lead, prompts, settings
    ):
        settings.OPENAI_IMAGES_AT_ONCE = 1
        planned = self.plan(study, lead)

        class Stating(Unwatched):
            def advance(self, n=1, message=""):
                GenerationRun.objects.filter(pk=planned.pk).update(price=1, budget=2)

        with pytest.raises(DomainError, match=r"The budget of 2.00 does not cover another image"):
            run(run=planned, progress=Stating())
        assert Image.objects.count() == 3
        assert spent(planned) == 2

    def test_answers_under_way_are_stored_when_one_cannot_be_charged(
        self, endpoint, study, lead, prompts, settings
    ):
        settings.OPENAI_IMAGES_AT_ONCE = 4
        planned = self.plan(study, lead, price=Decimal(1))

        class Losing(Unwatched):
            def advance(self, n=1, message=""):
                raise LeaseLost("job 1")

        with pytest.raises(LeaseLost):
            run(run=planned, progress=Losing())
        assert len(endpoint.asked) == Image.objects.count() == spent(planned) == 4

    def test_cancelling_does_not_wait_for_the_end_of_a_pause(self, endpoint, study, lead, prompts, settings):
        settings.OPENAI_IMAGES_AT_ONCE = 2
        planned = self.plan(study, lead, price=Decimal(1))
        endpoint.script = [refusal(429, "rate_limit", "Later.", retry_after="110"), image()]

        class Cancelling(Unwatched):
            def check_cancelled(self):
                if len(endpoint.asked) == 2:
                    raise Cancelled

        with pytest.raises(Cancelled):
            run(run=planned, progress=Cancelling())
        assert len(endpoint.asked) == 2
        assert Image.objects.count() == spent(planned) == 1

    def test_a_budget_needs_a_price(self, endpoint, study, lead, prompts):
        with pytest.raises(DomainError, match="A budget needs the price of an image"):
            self.plan(study, lead, budget=Decimal(1))
        assert not study.generation_runs.exists()
