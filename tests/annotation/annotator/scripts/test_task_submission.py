"""`task.js`: drafts are kept, and submissions arrive once for any response of the server."""

import pytest

from tests.annotation.annotator.scripts.conftest import until
from tests.annotation.annotator.scripts.pages import FIRST, SECOND, TASK_PATH, marking, rating
from tests.annotation.annotator.scripts.server import Reply, refusal
from tests.annotation.annotator.scripts.steps import (
    kept,
    open_task,
    ready,
    saved,
    says,
    submissions,
    ticked,
    work_for,
)

pytestmark = [pytest.mark.e2e, pytest.mark.database_free]

LOST = None
NEXT = Reply(200, {"status": "accepted", "next": marking(SECOND, progress={"done": 1, "left": 1})})
LAST = Reply(200, {"status": "accepted", "next": None})
TRYING = "Not saved yet: no connection. Your answer is kept on this device; trying again in 1 s."
HAT = {"attribute": "a1", "x": 0.1, "y": 0.1, "width": 0.2, "height": 0.2}


def submit(page, *keys: str) -> None:
    for key in keys:
        page.keyboard.press(key)
    page.get_by_role("button", name="Submit").click()


def submit_into_nothing(page) -> None:
    submit(page, "1")
    says(page, TRYING)


def test_an_answer_is_sent_and_the_next_task_shown_in_its_place(page, server):
    server.replies.append(NEXT)
    open_task(page, server, marking())
    submit(page, "1", "3")
    says(page, "Saved.")
    [post] = submissions(server)
    assert post.body["answer"] == {"ticked": ["a1", "a3"], "boxes": [], "none_of_the_above": False}
    assert post.body["instrument_version"] == 1
    assert ticked(page) == []
    assert page.locator("#progress").inner_text() == "1 done, 1 left"
    assert page.evaluate("document.activeElement.matches('[data-question]')")
    assert kept(page) is None
    assert page.url.endswith(TASK_PATH)


def test_people_from_a_panel_see_progress_and_reward(page, server):
    """Only the first payload names the place; the campaign's rate does not apply to these people."""
    rate = {"amount": "1.00", "rate": "12.00", "currency": "EUR", "per": "task"}
    place = {"before": 5, "reward": "4.10", "currency": "GBP"}
    progress = {"done": 17, "left": 28}
    server.replies.append(
        Reply(200, {"status": "accepted", "next": marking(SECOND, progress=progress | {"pay": rate})})
    )
    open_task(page, server, marking(progress={"done": 16, "left": 29, "place": place}))
    submit(page, "1")
    says(page, "Saved.")
    assert page.locator("#progress").inner_text() == "12 of 40 · £4.10"
    assert page.locator("#pay").inner_text() == ""


def test_the_next_answer_goes_to_the_next_task_under_an_id_of_its_own(page, server):
    server.replies.extend([NEXT, LAST])
    open_task(page, server, marking())
    submit(page, "1")
    saved(page)
    submit(page, "0")
    page.wait_for_url(f"**{TASK_PATH}done/")
    [first], [second] = submissions(server), submissions(server, SECOND)
    assert first.body["submission_id"] != second.body["submission_id"]
    assert second.body["answer"]["none_of_the_above"] is True


@pytest.mark.parametrize(
    ("reply", "address"),
    [
        pytest.param(LAST, "done/", id="no further task"),
        pytest.param(Reply(200, {"status": "accepted"}), "", id="no word on the next"),
        pytest.param(refusal(403, "consent_missing"), "", id="consent is missing"),
        pytest.param(refusal(403, "annotator_paused"), "", id="paused"),
        pytest.param(refusal(409, "campaign_not_open"), "", id="closed"),
        pytest.param(refusal(409, "labelled_in_label_studio"), "", id="labelled elsewhere"),
        pytest.param(
            Reply(200, {"next": marking(SECOND, instrument={"version": 2, "guidelines": "", "labels": {}})}),
            "",
            id="other guidelines",
        ),
    ],
)
def test_some_answers_lead_to_another_page(page, server, reply, address):
    open_task(page, server, marking())
    server.pages[TASK_PATH] = "<!doctype html><title>What comes then</title>"
    server.replies.append(reply)
    submit(page, "1")
    until(page, lambda: page.title() in {"What comes then", "A page"})
    assert page.url.endswith(TASK_PATH + address)


@pytest.mark.parametrize(
    ("status", "words"), [("accepted", "Saved."), ("surplus", "Saved, but after the time limit.")]
)
def test_the_page_says_whether_an_answer_was_in_time(page, server, status, words):
    server.replies.append(Reply(200, {"status": status, "next": marking(SECOND)}))
    open_task(page, server, marking())
    submit(page, "1")
    says(page, words)


def test_a_warning_stays_until_it_is_read(page, server):
    server.replies.append(
        Reply(200, {"status": "accepted", "next": marking(SECOND), "warning": "Slow down."})
    )
    open_task(page, server, marking())
    assert page.locator("#warning").is_hidden()
    submit(page, "1")
    page.locator("#warning").get_by_text("Slow down.").wait_for()


@pytest.mark.parametrize("status", [400, 409, 410, 422])
def test_a_refusal_is_shown_and_the_answer_stays_for_another_try(page, server, status):
    server.replies.extend([refusal(status, "", "It does not fit."), LAST])
    open_task(page, server, marking())
    submit(page, "1")
    page.locator("#task-problem").get_by_text("It does not fit.").wait_for()
    says(page, "Not saved.")
    assert ticked(page) == ["a1"]
    assert kept(page)["sent"] is None
    submit(page)
    page.wait_for_url("**/done/")
    refused, accepted = submissions(server)
    assert refused.body["submission_id"] != accepted.body["submission_id"]  # the refused answer was not kept


def test_a_refusal_of_a_field_is_shown_beside_it(page, server):
    fields = {"answer.boxes.a2": "Draw it on the picture."}
    server.replies.append(refusal(400, "", "Look at the fields.", **fields))
    open_task(page, server, marking())
    submit(page, "1", "2")
    page.locator("[data-attribute=a2] [data-error]").get_by_text("Draw it on the picture.").wait_for()
    assert page.locator("#task-problem").is_hidden()


@pytest.mark.parametrize(
    "reply", [refusal(401), refusal(403, "not_authenticated"), refusal(404)], ids=["401", "403", "404"]
)
def test_answers_sent_while_signed_out_are_kept_and_resent(page, server, reply):
    server.replies.append(reply)
    open_task(page, server, marking())
    submit(page, "1")
    says(page, "Not saved.")
    link = "Load the task again" if reply.status == 404 else "Sign in again"
    assert page.get_by_role("link", name=link).is_visible()
    assert kept(page)["sent"]["answer"]["ticked"] == ["a1"]
    server.replies.append(NEXT)
    page.goto(TASK_PATH)
    says(page, "Saved.")
    refused, accepted = submissions(server)
    assert refused.body == accepted.body


def test_without_a_connection_the_same_is_sent_until_it_arrives(page, server):
    server.replies.extend([LOST, LOST, NEXT])
    open_task(page, server, marking())
    submit_into_nothing(page)
    assert kept(page)["sent"] == submissions(server)[0].body
    page.clock.run_for(1000)
    says(page, TRYING.replace("1 s", "2 s"))
    page.clock.run_for(2000)
    says(page, "Saved.")
    first, second, third = (post.body for post in submissions(server))
    assert first == second == third


@pytest.mark.parametrize("again", ["click", "Enter", "Control+Enter", "skip"])
def test_nothing_else_is_sent_during_a_submission(page, server, again):
    open_task(page, server, marking())
    submit_into_nothing(page)
    if again == "click":
        page.locator("[data-submit]").click(force=True)
    elif again == "skip":
        page.keyboard.press("s")
    else:
        page.keyboard.press(again)
    page.evaluate("fetch('/')")
    assert len(server.received) == 1


@pytest.mark.parametrize("key", ["2", "0", "b", "Control+z"])
def test_keys_change_neither_screen_nor_draft_during_a_submission(page, server, key):
    open_task(page, server, marking())
    submit_into_nothing(page)
    before = kept(page)
    page.locator("body").press(key)
    assert ticked(page) == ["a1"]
    assert kept(page) == before
    server.replies.append(LAST)
    page.goto(TASK_PATH)  # left and reopened, it is sent automatically
    page.wait_for_url("**/done/")
    assert len({post.body["submission_id"] for post in submissions(server)}) == 1


def test_a_drag_that_ends_during_a_submission_does_not_change_the_draft(page, server):
    open_task(page, server, marking())
    page.keyboard.press("1")
    picture = page.locator("[data-image]").bounding_box()
    page.mouse.move(picture["x"] + picture["width"] / 2, picture["y"] + 50)
    page.mouse.down()
    page.mouse.move(picture["x"] + picture["width"] / 2 + 80, picture["y"] + 150)
    page.keyboard.press("Control+Enter")
    says(page, TRYING)
    page.mouse.up()
    assert kept(page)["sent"] == submissions(server)[0].body


def test_an_interrupted_submission_is_resent_at_once_with_the_same_id(page, server):
    open_task(page, server, marking())
    submit_into_nothing(page)
    server.replies.append(NEXT)
    page.goto(TASK_PATH)
    says(page, "Saved.")
    first, second = submissions(server)
    assert first.body == second.body


def test_leaving_needs_confirmation_only_during_a_submission(page, server):
    asked = []

    def listen(dialog) -> None:
        asked.append(dialog.type)
        dialog.accept()

    page.on("dialog", listen)
    open_task(page, server, marking())
    page.keyboard.press("1")
    page.goto("/nothing")
    assert asked == []
    page.goto(TASK_PATH)
    ready(page)
    submit(page)
    says(page, TRYING)
    page.goto("/nothing")
    page.remove_listener("dialog", listen)
    assert asked == ["beforeunload"]


def test_a_draft_is_restored_after_a_reload(page, server):
    open_task(page, server, marking())
    page.keyboard.press("1")
    page.keyboard.press("b")
    page.get_by_text("Draft kept on this device.").wait_for()
    before = kept(page)
    page.reload()
    ready(page)
    says(page, "Your unfinished answer is restored.")
    assert ticked(page) == ["a1"]
    assert page.locator("[data-overlay] [data-box]").count() == 1
    page.keyboard.press("Control+z")
    assert ticked(page) == ["a1"]  # a restored draft cannot be undone
    submit(page)
    says(page, TRYING)
    assert submissions(server)[0].body["submission_id"] == before["submission"]


def test_an_untouched_task_keeps_its_id_and_time_and_says_nothing(page, server):
    open_task(page, server, marking())
    work_for(page, 20)
    page.reload()
    ready(page)
    assert page.locator("#saved").inner_text() == ""
    before = kept(page)
    assert (before["seconds"], "answer" in before) == (20, False)
    page.reload()
    ready(page)
    assert page.locator("#saved").inner_text() == ""
    assert kept(page)["submission"] == before["submission"]


def test_a_draft_of_somebody_else_is_not_shown(page, server):
    open_task(page, server, marking())
    page.keyboard.press("1")
    page.goto("/nothing")
    page.evaluate(
        """() => {
          const [[key, text]] = Object.entries(localStorage);
          localStorage.setItem(key, JSON.stringify({ ...JSON.parse(text), who: "somebody else" }));
        }"""
    )
    open_task(page, server, marking())
    assert ticked(page) == []


def test_disabled_storage_is_reported_and_the_answer_is_sent_anyway(page, server):
    tab = page.context.new_page()
    tab.add_init_script(
        """for (const name of ["localStorage", "sessionStorage"]) Object.defineProperty(window, name, {
          get() { throw new DOMException("Storage is switched off.", "SecurityError"); },
        });"""
    )
    server.replies.append(NEXT)
    open_task(tab, server, marking())
    tab.keyboard.press("1")
    tab.get_by_text("This browser keeps no drafts: submit before you leave.").wait_for()
    submit(tab)
    says(tab, "Saved.")
    assert submissions(server)[0].body["answer"]["ticked"] == ["a1"]


def test_a_correction_starts_from_the_answer_given_and_leads_back_to_the_open_task(page, server):
    given = {"ticked": ["a2"], "boxes": [HAT | {"attribute": "a2"}], "none_of_the_above": False}
    open_task(page, server, marking(answer=given), revising={"place": 1, "of": 1})
    assert ticked(page) == ["a2"]
    assert page.locator("[data-overlay] [data-box]").count() == 1
    page.keyboard.press("1")
    assert kept(page) is None
    assert kept(page, purpose="correction")["answer"]["ticked"] == ["a2", "a1"]
    server.replies.append(NEXT)
    server.pages[TASK_PATH] = "<!doctype html><title>The open task</title>"
    page.get_by_role("button", name="Save correction").click()
    until(page, lambda: page.title() == "The open task")
    assert submissions(server)[0].body["answer"]["ticked"] == ["a2", "a1"]


def test_skipping_gets_the_next_task_and_deletes_the_draft(page, server):
    server.replies.extend([Reply(204), Reply(200, marking(SECOND))])
    open_task(page, server, marking())
    page.keyboard.press("1")
    page.keyboard.press("s")
    says(page, "Skipped.")
    assert [post.path for post in server.received] == [
        f"/api/v1/assignments/{FIRST}/skip",
        "/api/v1/campaigns/1/next",
    ]
    assert kept(page) is None
    assert ticked(page) == []


@pytest.mark.parametrize(
    ("keys", "words"),
    [
        pytest.param([], "Choose one of the five answers.", id="nothing"),
        pytest.param(
            ["5"], "Write why you are unsure; a few words are enough.", id="unsure without a reason"
        ),
    ],
)
def test_an_incomplete_rating_is_not_sent(page, server, keys, words):
    open_task(page, server, rating())
    for key in keys:
        page.keyboard.press(key)
    page.keyboard.press("Control+Enter")
    page.get_by_text(words, exact=True).wait_for()
    says(page, "Not submitted yet.")
    assert server.received == []


@pytest.mark.parametrize(
    ("keys", "typed", "answer"),
    [
        (["2"], "", {"rating": 4, "justification": ""}),
        (["5"], "too dark", {"rating": 3, "justification": "too dark"}),
    ],
    ids=["rated", "unsure"],
)
def test_a_rating_is_sent_with_its_reason(page, server, keys, typed, answer):
    server.replies.append(LAST)
    open_task(page, server, rating())
    for key in keys:
        page.keyboard.press(key)
    page.keyboard.type(typed)
    page.keyboard.press("Control+Enter")
    page.wait_for_url("**/done/")
    assert submissions(server)[0].body["answer"] == answer


def test_a_reason_that_is_no_longer_needed_is_not_sent(page, server):
    server.replies.append(LAST)
    open_task(page, server, rating())
    page.keyboard.press("5")
    page.keyboard.type("too dark")
    page.locator("[name=rating][value='2']").check()
    page.keyboard.press("Enter")
    page.wait_for_url("**/done/")
    assert submissions(server)[0].body["answer"] == {"rating": 2, "justification": ""}
