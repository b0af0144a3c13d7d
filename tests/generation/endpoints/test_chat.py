"""The client of chat completions: a local server that answers correctly, incorrectly or not at all."""

import json
import socket
import struct
import threading
import time

import pytest

from generation.endpoints.chat import ChatClient, Message, Sampling
from generation.endpoints.connection import EndpointUnusable, Failure, address_of, allowed_endpoint
from tests.generation.backends.images_endpoint import Drip, refusal
from tests.generation.endpoints.chat_endpoint import chat_endpoint, completion

KEY = "sk-test-a-key-that-must-not-leave"
ASKED = [
    Message("system", "Answer in one word."),
    Message("user", "Who is this?", "data:image/png;base64,AA=="),
]
SAMPLING = Sampling(max_tokens=30, temperature=0.75, top_p=1)

pytestmark = pytest.mark.database_free


@pytest.fixture
def endpoint(settings):
    pytest.importorskip("openai", reason="the full requirements are not installed")
    with chat_endpoint() as server:
        settings.OPENAI_BASE_URLS = [server.url]
        settings.OPENAI_API_KEY = KEY
        settings.OPENAI_TIMEOUT_SECONDS = 20
        yield server


def client():
    return ChatClient(address_of(allowed_endpoint("")), "talker")


def test_a_request_states_model_messages_and_sampling(endpoint):
    client().complete(ASKED, Sampling(30, temperature=0.75, top_p=1, seed=7, samples=2, logprobs=3))
    assert endpoint.asked == [
        {
            "model": "talker",
            "messages": [
                {"role": "system", "content": "Answer in one word."},
                {
                    "role": "user",
                    "content": [
                        {"type": "text", "text": "Who is this?"},
                        {"type": "image_url", "image_url": {"url": "data:image/png;base64,AA=="}},
                    ],
                },
            ],
            "temperature": 0.75,
            "top_p": 1,
            "seed": 7,
            "n": 2,
            "logprobs": True,
            "top_logprobs": 3,
            "max_tokens": 30,
        }
    ]
    assert endpoint.keys == [f"Bearer {KEY}"]


def test_the_response_is_stored_with_model_and_usage(endpoint):
    endpoint.script = [completion("a", "b", model="talker-2", fingerprint="fp_9", usage=(120, 7))]
    reply = client().complete(ASKED, SAMPLING)
    assert [choice.text for choice in reply.choices] == ["a", "b"]
    assert (reply.served_model, reply.fingerprint) == ("talker-2", "fp_9")
    assert (reply.tokens_in, reply.tokens_out) == (120, 7)
    assert reply.facts == {"request_id": "req-1"}


@pytest.mark.parametrize("tokens", [-1, True, "7", 2.5, None, 2**40])
def test_invalid_token_counts_become_none(endpoint, tokens):
    status, headers, body = completion("a")
    endpoint.script = [(status, headers, body | {"usage": {"prompt_tokens": tokens}})]
    assert client().complete(ASKED, SAMPLING).tokens_in is None


def test_log_probabilities_are_kept_where_given(endpoint):
    status, headers, body = completion("a")
    places = [{"token": "a", "logprob": -0.1, "top_logprobs": []}]
    body["choices"][0]["logprobs"] = {"content": places}
    endpoint.script = [(status, headers, body)]
    assert client().complete(ASKED, SAMPLING).choices[0].logprobs == places


def test_a_refusal_of_the_model_is_an_answer(endpoint):
    endpoint.script = [completion(None, refusal="I would rather not.")]
    (choice,) = client().complete(ASKED, SAMPLING).choices
    assert (choice.text, choice.refusal) == ("", "I would rather not.")


def test_the_filter_of_the_endpoint_declines(endpoint):
    endpoint.script = [refusal(400, "content_policy_violation", "Not this.")]
    failure = client().complete(ASKED, SAMPLING)
    assert failure == Failure(
        "The endpoint: Not this.",
        charged=False,
        declined=True,
        status=400,
        code="content_policy_violation",
        detail="Not this.",
    )


def test_the_token_limit_uses_the_name_that_the_model_accepts(endpoint):
    refused = refusal(400, "unsupported_parameter", "Use max_completion_tokens.")
    refused[2]["error"]["param"] = "max_tokens"
    endpoint.script = [refused]
    asking = client()
    asking.complete(ASKED, SAMPLING)
    asking.complete(ASKED, SAMPLING)
    limits = [sorted({"max_tokens", "max_completion_tokens"} & set(body)) for body in endpoint.asked]
    assert limits == [["max_tokens"], ["max_completion_tokens"], ["max_completion_tokens"]]


@pytest.mark.parametrize(
    "answer",
    [
        (200, {}, b"<html>no JSON"),
        (200, {}, {"choices": []}),
        (200, {}, {"choices": None}),
        (200, {}, ["choices"]),
        (200, {}, {"choices": [{"message": {"content": 5}}]}),
        (200, {}, {"choices": [{"message": None}]}),
    ],
)
def test_an_invalid_completion_fails_and_may_be_charged(endpoint, answer):
    endpoint.script = [answer]
    failure = client().complete(ASKED, SAMPLING)
    assert (failure.reason, failure.charged) == ("The endpoint's answer is not a chat completion.", True)


def test_rate_limits_are_waited_for_and_broken_calls_that_may_be_charged_are_not_retried(endpoint):
    busy = refusal(429, "rate_limit_exceeded", "Slow down.", retry_after="0.01")
    endpoint.script = [busy, busy, Drip()]
    failure = client().complete(ASKED, SAMPLING, paid=True)
    assert (failure.reason, failure.charged) == (
        "The endpoint closed the connection before it answered.",
        True,
    )
    assert len(endpoint.asked) == 3


@pytest.mark.parametrize(
    ("answer", "code"),
    [
        (refusal(401, "invalid_api_key", f"Incorrect {KEY}."), "endpoint_forbidden"),
        (refusal(403, "no", KEY), "endpoint_forbidden"),
        (refusal(404, "model_not_found", "None such."), "model_missing"),
        (refusal(402, "", "The credit is used up."), "endpoint_unpaid"),
        (refusal(429, "insufficient_quota", "Pay."), "endpoint_unpaid"),
    ],
)
def test_errors_that_affect_every_request_are_raised_without_the_key(endpoint, answer, code):
    endpoint.script = [answer]
    with pytest.raises(EndpointUnusable) as stopped:
        client().complete(ASKED, SAMPLING)
    assert stopped.value.code == code
    assert KEY not in stopped.value.message + stopped.value.detail


def test_an_answer_without_end_is_not_read(endpoint):
    endpoint.script = [(200, {}, b" " * (9 << 20))]
    failure = client().complete(ASKED, SAMPLING)
    assert (failure.reason, failure.charged) == ("The endpoint's answer has more than 8.0 MiB.", True)


def test_only_allowed_endpoints_are_reached_and_the_key_goes_to_the_first(endpoint, settings):
    settings.OPENAI_BASE_URLS = ["https://elsewhere.invalid/v1", endpoint.url]
    with pytest.raises(ValueError, match="is not allowed here"):
        allowed_endpoint("http://169.254.169.254/v1")
    ChatClient(address_of(endpoint.url), "talker").complete(ASKED, SAMPLING)
    assert endpoint.keys == ["Bearer none"]


class TestConnectionsThatAreKept:
    def asking(self):
        return ChatClient(address_of(allowed_endpoint("")), "talker", keep_alive=True)

    @pytest.fixture
    def kept(self, endpoint):
        endpoint.keeps_connections = True
        return endpoint

    def test_a_thread_uses_its_connection_again(self, kept):
        asking = self.asking()
        for _ in range(5):
            assert asking.complete(ASKED, SAMPLING).choices
        asking.close()
        assert kept.connections == 1

    def test_without_keeping_each_call_has_its_own(self, kept):
        asking = client()
        for _ in range(3):
            asking.complete(ASKED, SAMPLING)
        assert kept.connections == 3

    def test_an_answer_that_trickles_in_is_ended_on_a_used_connection_too(self, kept, settings):
        settings.OPENAI_TIMEOUT_SECONDS = 2
        asking = self.asking()
        asking.complete(ASKED, SAMPLING)
        kept.script = [Drip(b"HTTP/1.1 200 OK\r\nContent-Length: 500\r\n\r\n", b" " * 500)]
        began = time.monotonic()
        failure = asking.complete(ASKED, SAMPLING)
        assert (failure.reason, failure.charged) == ("The endpoint did not answer within 2 seconds.", True)
        assert time.monotonic() - began < 10
        assert kept.connections == 1
        asking.close()

    def test_a_connection_that_the_endpoint_closed_is_not_used(self, kept):
        asking = self.asking()
        asking.complete(ASKED, SAMPLING)
        kept.keeps_connections, kept.closes_silently = False, True
        asking.complete(ASKED, SAMPLING)
        time.sleep(0.1)
        assert asking.complete(ASKED, SAMPLING, paid=True).choices
        assert kept.connections == 2
        asking.close()


class TestRequestsThatAreCutOff:
    """A server closes connections while it reads: requests that it cannot have read completely were not executed."""

    @pytest.fixture
    def cutting(self, settings):
        pytest.importorskip("openai", reason="the full requirements are not installed")
        with socket.create_server(("127.0.0.1", 0)) as listener:
            settings.OPENAI_BASE_URLS = [f"http://127.0.0.1:{listener.getsockname()[1]}/v1"]
            settings.OPENAI_API_KEY = KEY
            settings.OPENAI_TIMEOUT_SECONDS = 20
            yield listener

    def serve(self, listener, *, first_reads_all):
        """Close the first connection early, and answer on the second."""
        first, _ = listener.accept()
        if first_reads_all:
            _read_request(first)
        else:
            first.recv(100)
        # Close with a reset: unsent data is discarded.
        first.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        first.close()
        listener.settimeout(5)
        try:
            second, _ = listener.accept()
        except TimeoutError:
            return
        with second:
            _read_request(second)
            body = json.dumps(completion("The pilot.")[2]).encode()
            second.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n" % len(body) + body)

    @pytest.mark.parametrize(
        ("first_reads_all", "answered"), [(False, True), (True, False)], ids=["cut off", "read whole"]
    )
    def test_are_repeated_only_if_they_cannot_have_been_read(self, cutting, first_reads_all, answered):
        large = [Message("user", "Who is this?", "data:image/png;base64," + "A" * (64 << 20))]
        server = threading.Thread(
            target=self.serve, args=(cutting,), kwargs={"first_reads_all": first_reads_all}
        )
        server.start()
        reply = client().complete(large, SAMPLING, paid=True)
        server.join()
        if answered:
            assert reply.choices[0].text == "The pilot."
        else:
            assert (reply.reason, reply.charged) == (
                "The endpoint closed the connection before it answered.",
                True,
            )


def _read_request(connection):
    data = b""
    while b"\r\n\r\n" not in data:
        data += connection.recv(1 << 16)
    head, _, body = data.partition(b"\r\n\r\n")
    left = int(head.lower().split(b"content-length: ")[1].split(b"\r\n")[0]) - len(body)
    while left > 0:
        left -= len(connection.recv(1 << 20))
