"""`resend.js`: submissions of an earlier tab are sent from the next page opened."""

import json

import pytest

from tests.annotation.annotator.scripts.conftest import until
from tests.annotation.annotator.scripts.pages import NOW
from tests.annotation.annotator.scripts.server import Reply, refusal

pytestmark = [pytest.mark.e2e, pytest.mark.database_free]

LOST = None
SAVED = Reply(200, {"status": "accepted"})
NOBODY = "00000000-0000-0000-0000-000000000000"
PAGE = f"""<!doctype html>
<div data-unsent data-who="w1" data-submit-url="/assignments/{NOBODY}/submit" data-nobody="{NOBODY}" hidden></div>
<form data-sign-out action="/signed-out"><button>Sign out</button></form>
<script type="module" src="/static/annotation/annotator/submission/resend.js"></script>"""
PLACE = "[data-unsent]"
ARRIVED = "The answer you gave earlier is saved now."
NO_CONNECTION = "No connection. An answer you gave earlier is not saved yet; it is kept on this device."


def keep(page, *tasks: str, who: str = "w1", **content) -> None:
    """Store submissions for these tasks on the device, as an earlier tab would."""
    page.goto("/nothing")
    until_then = int(NOW.timestamp() * 1000) + 1_000_000
    for task in tasks:
        entry = {"who": who, "until": until_then, "sent": {"submission_id": f"id of {task}"}} | content
        page.evaluate(
            "([key, text]) => localStorage.setItem(key, text)",
            [f"annotate:draft:1:{task}:answer", json.dumps(entry)],
        )


def kept(page) -> list[str]:
    """Return the tasks whose answers are still on the device."""
    return sorted(key.split(":")[3] for key in page.evaluate("Object.keys(localStorage)"))


def opened(page, server) -> None:
    server.pages["/"] = PAGE
    page.goto("/")


def says(page, words: str) -> None:
    until(page, lambda: page.locator(PLACE).text_content() == words)
    assert page.locator(PLACE).is_visible()


def sent(server) -> list[tuple[str, str]]:
    return [(post.path.split("/")[2], post.body["submission_id"]) for post in server.received]


def test_an_answer_that_was_not_confirmed_is_sent_and_forgotten(page, server):
    keep(page, "t1")
    server.replies.append(SAVED)
    opened(page, server)
    says(page, ARRIVED)
    assert sent(server) == [("t1", "id of t1")]
    assert kept(page) == []


def test_several_answers_are_counted_and_each_is_sent_once(page, server):
    keep(page, "t1", "t2", "t3")
    server.replies.extend([SAVED, SAVED, SAVED])
    opened(page, server)
    says(page, "3 answers you gave earlier are saved now.")
    assert sorted(sent(server)) == [("t1", "id of t1"), ("t2", "id of t2"), ("t3", "id of t3")]
    assert kept(page) == []


@pytest.mark.parametrize(
    "left_behind",
    [
        pytest.param({"who": "w2"}, id="somebody else's"),
        pytest.param({"sent": None, "answer": {}}, id="begun and not sent"),
        pytest.param({"until": 1}, id="past its end"),
    ],
)
def test_only_unconfirmed_answers_are_sent(page, server, left_behind):
    keep(page, "t1", **left_behind)
    opened(page, server)
    page.evaluate("fetch('/')")
    assert server.received == []
    assert page.locator(PLACE).is_hidden()


@pytest.mark.parametrize(
    ("reply", "is_kept", "words"),
    [
        (refusal(400, "", "Nothing was ticked."), False, "could not be saved: Nothing was ticked."),
        (refusal(409, "", "It was answered."), False, "could not be saved: It was answered."),
        (refusal(410, "", "It is gone."), False, "could not be saved: It is gone."),
        (refusal(422, "", "It is wrong."), False, "could not be saved: It is wrong."),
        (refusal(403, "edit_window_over", "Too late."), False, "could not be saved: Too late."),
        (refusal(403, "campaign_closed", "It is closed."), False, "could not be saved: It is closed."),
        (
            refusal(403, "annotator_paused", "You are paused."),
            True,
            "is not saved yet: You are paused. The answer is kept on this device.",
        ),
    ],
)
def test_a_refusal_is_shown_and_answers_that_may_still_arrive_are_kept(page, server, reply, is_kept, words):
    keep(page, "t1")
    server.replies.append(reply)
    opened(page, server)
    says(page, f"An answer you gave earlier {words}")
    assert kept(page) == (["t1"] if is_kept else [])


@pytest.mark.parametrize(
    "reply", [refusal(401), refusal(403, "not_authenticated"), refusal(404)], ids=["401", "403", "404"]
)
def test_answers_are_kept_silently_while_their_author_is_signed_out(page, server, reply):
    keep(page, "t1")
    server.replies.append(reply)
    opened(page, server)
    until(page, lambda: server.received and page.locator(PLACE).is_hidden())
    assert kept(page) == ["t1"]
    server.replies.append(SAVED)  # signed in again
    opened(page, server)
    says(page, ARRIVED)
    assert sent(server) == 2 * [("t1", "id of t1")]


@pytest.mark.parametrize(
    ("reply", "left"),
    [(refusal(403, "annotator_paused"), 1), (refusal(400), 0), (refusal(404), 1)],
    ids=["not now", "never", "somebody else's"],
)
def test_an_answer_that_is_refused_does_not_hold_up_the_others(page, server, reply, left):
    keep(page, "t1", "t2", "t3")
    server.replies.extend([reply, SAVED, SAVED])
    opened(page, server)
    until(page, lambda: len(server.received) == 3 and len(kept(page)) == left)
    assert len({task for task, _ in sent(server)}) == 3


def test_each_refusal_is_shown(page, server):
    keep(page, "t1", "t2")
    server.replies.extend([refusal(409, "", "It was answered."), refusal(400, "", "Nothing was ticked.")])
    opened(page, server)
    says(
        page,
        "An answer you gave earlier could not be saved: It was answered."
        " An answer you gave earlier could not be saved: Nothing was ticked.",
    )
    assert kept(page) == []


def test_without_a_connection_it_says_so_and_tries_again(page, server):
    keep(page, "t1")
    server.replies.extend([LOST, LOST, SAVED])
    opened(page, server)
    for attempts, seconds in ((1, 1), (2, 2)):
        until(page, lambda attempts=attempts: len(server.received) == attempts)
        says(page, NO_CONNECTION)
        page.wait_for_timeout(50)
        page.clock.run_for(1000 * seconds)
    says(page, ARRIVED)
    assert sent(server) == 3 * [("t1", "id of t1")]


def test_two_tabs_send_the_same_submission_and_leave_nothing(page, server):
    keep(page, "t1")
    other = page.context.new_page()
    for tab in (page, other):
        opened(tab, server)
        until(tab, lambda tab=tab: tab.locator(PLACE).text_content() == NO_CONNECTION)
    server.replies.extend([SAVED, SAVED])
    for tab in (page, other):
        tab.evaluate("dispatchEvent(new Event('online'))")
        says(tab, ARRIVED)
    assert set(sent(server)) == {("t1", "id of t1")}
    assert kept(page) == []


def test_signing_out_deletes_drafts_and_keeps_sent_answers(page, server):
    keep(page, "begun", sent=None, answer={})
    keep(page, "sent")
    opened(page, server)
    until(page, lambda: server.received)
    page.get_by_role("button", name="Sign out").click()
    page.wait_for_url("**/signed-out**")
    assert kept(page) == ["sent"]
