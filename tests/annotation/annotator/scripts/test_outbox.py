"""`outbox.js`: a submission arrives once, however many attempts it takes."""

import pytest

from tests.annotation.annotator.scripts.conftest import until
from tests.annotation.annotator.scripts.server import Reply, refusal

pytestmark = [pytest.mark.e2e, pytest.mark.database_free]

LOST = None
ACCEPTED = Reply(200, {"status": "accepted", "next": None})
SEND = """async (body) => {
  const { send } = await import("/static/annotation/annotator/submission/outbox.js");
  window.waits = [];
  send("/submit", body, { waiting: (seconds) => waits.push(seconds) }).then((outcome) => (window.outcome = outcome));
}"""


def send(page, body=None) -> None:
    page.goto("/")
    page.evaluate(SEND, body or {"submission_id": "s1"})


def waits(page, count: int) -> list[int]:
    """Return the announced pauses, once there are this many."""
    until(page, lambda: page.evaluate("waits.length") >= count)
    return page.evaluate("waits")


def outcome(page) -> dict:
    until(page, lambda: page.evaluate("window.outcome !== undefined"))
    return page.evaluate("outcome")


def test_an_acknowledged_answer_is_sent_once(page, server):
    server.replies.append(ACCEPTED)
    send(page)
    assert outcome(page) == {"ok": True, "data": ACCEPTED.body}
    page.clock.run_for(60_000)
    assert [post.body for post in server.received] == [{"submission_id": "s1"}]


def test_pauses_grow_to_fifteen_seconds_and_each_is_waited_for(page, server):
    send(page)
    for number, seconds in enumerate([1, 2, 4, 8, 15, 15], start=1):
        assert waits(page, number)[-1] == seconds
        page.clock.run_for(1000 * seconds - 1)
        page.evaluate("fetch('/')")  # a request that began before this would have arrived
        assert len(server.received) == number
        page.clock.run_for(1)
        until(page, lambda number=number: len(server.received) > number)


def test_each_attempt_sends_the_same_submission(page, server):
    server.replies.extend([LOST, Reply(503, "busy"), ACCEPTED])
    send(page, {"submission_id": "s1", "answer": {"ticked": ["a1"]}, "active_seconds": 2.5})
    for attempt in (1, 2):
        page.clock.run_for(1000 * waits(page, attempt)[-1])
    assert outcome(page)["ok"]
    assert [post.body for post in server.received] == 3 * [
        {"submission_id": "s1", "answer": {"ticked": ["a1"]}, "active_seconds": 2.5}
    ]


@pytest.mark.parametrize(
    "reply",
    [
        pytest.param(LOST, id="no answer"),
        pytest.param(Reply(500, "broken"), id="500"),
        pytest.param(Reply(502, {"error": {}}), id="502 with JSON"),
        pytest.param(refusal(429), id="429"),
        pytest.param(Reply(200, "<h1>Welcome to our hotel</h1>"), id="200 that is none of ours"),
        pytest.param(Reply(302, "", location="/elsewhere/ahead/"), id="a redirect, even to JSON"),
        pytest.param(Reply(403, "<h1>Forbidden</h1>"), id="403 of a proxy"),
    ],
)
def test_responses_that_are_not_ours_are_retried(page, server, reply):
    server.replies.extend([reply, ACCEPTED])
    send(page)
    assert waits(page, 1) == [1]
    page.clock.run_for(1000)
    assert outcome(page)["ok"]
    assert len(server.received) == 2


@pytest.mark.parametrize("status", [400, 401, 403, 404, 409, 410, 422])
def test_a_refusal_is_final_and_says_why(page, server, status):
    server.replies.append(refusal(status, "some_code", "A sentence.", ticked="Tick one."))
    send(page)
    error = {"code": "some_code", "message": "A sentence.", "fields": {"ticked": "Tick one."}}
    assert outcome(page) == {"ok": False, "status": status, "error": error}
    page.clock.run_for(60_000)
    assert len(server.received) == 1


def test_a_refusal_without_reasons_has_empty_ones(page, server):
    server.replies.append(Reply(400, {"detail": "no"}))
    send(page)
    assert outcome(page)["error"] == {"code": "", "message": "", "fields": {}}


def test_an_empty_response_counts_as_success(page, server):
    server.replies.append(Reply(204))
    send(page)
    assert outcome(page) == {"ok": True, "data": {}}


def test_a_returning_network_ends_the_pause_without_a_second_attempt(page, server):
    server.replies.extend([LOST, LOST, ACCEPTED])
    send(page)
    waits(page, 1)
    page.evaluate("dispatchEvent(new Event('online'))")
    assert waits(page, 2) == [1, 2]
    page.clock.run_for(1999)  # past the end of the first pause
    page.evaluate("fetch('/')")
    assert len(server.received) == 2
    page.clock.run_for(1)
    assert outcome(page)["ok"]


def test_the_token_is_read_from_the_cookie_for_each_attempt(page, server):
    server.replies.extend([LOST, ACCEPTED])
    page.context.add_cookies([{"name": "stereoscope_csrf", "value": "before", "url": server.url}])
    send(page)
    waits(page, 1)
    page.context.add_cookies([{"name": "stereoscope_csrf", "value": "after", "url": server.url}])
    page.clock.run_for(1000)
    assert outcome(page)["ok"]
    assert [post.csrf_token for post in server.received] == ["before", "after"]


def test_without_a_cookie_the_token_is_that_of_the_page(page, server):
    server.replies.append(ACCEPTED)
    server.pages["/"] = "<!doctype html><input name=csrfmiddlewaretoken value=of-the-page>"
    send(page)
    assert outcome(page)["ok"]
    assert server.received[0].csrf_token == "of-the-page"


@pytest.mark.parametrize(
    ("status", "code", "signed_out"),
    [
        (401, "", True),
        (403, "not_authenticated", True),
        (403, "consent_missing", False),
        (403, "", False),
        (404, "not_authenticated", False),
    ],
)
def test_signed_out_people_are_recognised_by_the_response(page, status, code, signed_out):
    page.goto("/")
    asked = """async (outcome) => {
      const { isSignedOut } = await import("/static/annotation/annotator/submission/outbox.js");
      return isSignedOut(outcome);
    }"""
    assert page.evaluate(asked, {"status": status, "error": {"code": code}}) is signed_out
