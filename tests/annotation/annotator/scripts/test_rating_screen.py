"""`task.js` on a rating: keys by position on any keyboard, and answers submitted as soon as they are chosen."""

import pytest

from tests.annotation.annotator.scripts.conftest import until
from tests.annotation.annotator.scripts.pages import FIRST, SECOND, rating
from tests.annotation.annotator.scripts.server import Reply
from tests.annotation.annotator.scripts.steps import open_task, ready, saved, says, submissions

pytestmark = [pytest.mark.e2e, pytest.mark.database_free]

NEXT = Reply(200, {"status": "accepted", "next": rating(SECOND, progress={"done": 1, "left": 1})})


def chosen(page) -> list[str]:
    return [radio.get_attribute("value") for radio in page.locator("[name=rating]:checked").all()]


def press(page, key: str, code: str, **modifiers: bool) -> None:
    """Press a key as a layout of keys other than the test's browser's writes it."""
    page.evaluate(
        "([key, code, more]) => document.activeElement.dispatchEvent("
        "new KeyboardEvent('keydown', { key, code, bubbles: true, cancelable: true, ...more }))",
        [key, code, modifiers],
    )


def open_quick(page, server) -> None:
    open_task(page, server, rating())
    page.get_by_label("Submit as soon as I choose an answer").check()
    page.locator("[data-question]").focus()


@pytest.mark.parametrize(
    ("key", "code", "value"),
    [
        pytest.param("1", "Digit1", "5", id="the first"),
        pytest.param("4", "Digit4", "1", id="the fourth"),
        pytest.param("&", "Digit1", "5", id="the first of a French keyboard"),
        pytest.param("é", "Digit2", "4", id="the second of a French keyboard"),
        pytest.param("२", "Digit2", "4", id="the second where digits are Devanagari"),
        pytest.param("2", "Numpad2", "4", id="of the number pad"),
    ],
)
def test_digits_answer_in_the_order_on_the_screen(page, server, key, code, value):
    open_task(page, server, rating())
    assert page.locator(".choices kbd").all_inner_texts() == ["1", "2", "3", "4", "5"]
    press(page, key, code)
    assert chosen(page) == [value]


def test_a_sign_written_with_shift_is_no_digit(page, server):
    open_task(page, server, rating())
    press(page, "!", "Digit1", shiftKey=True)
    assert chosen(page) == []


def test_letter_keys_work_on_layouts_without_our_letters(page, server):
    open_task(page, server, rating())
    server.replies.extend([Reply(204), Reply(200, rating(SECOND))])
    press(page, "ы", "KeyS")
    says(page, "Skipped.")


def test_answers_are_not_submitted_without_a_request(page, server):
    open_task(page, server, rating())
    page.keyboard.press("1")
    page.get_by_text("Draft kept on this device.").wait_for()
    assert submissions(server) == []


@pytest.mark.parametrize("way", ["key", "click", "space"])
def test_choosing_submits_once_and_the_last_answer_can_be_opened_again(page, server, way):
    server.replies.append(NEXT)
    open_quick(page, server)
    if way == "key":
        page.keyboard.press("2")
    elif way == "click":
        page.get_by_text("Rather yes").click()
    else:
        page.locator("[name=rating]").nth(1).focus()
        page.keyboard.press("Space")
    saved(page)
    [post] = submissions(server)
    assert post.body["answer"] == {"rating": 4, "justification": ""}
    undo = page.get_by_role("link", name="Undo")
    assert undo.get_attribute("href").endswith("/previous/")
    page.keyboard.press("Control+z")
    page.wait_for_url("**/previous/")


def test_the_last_answer_can_be_reopened_for_a_few_seconds(page, server):
    server.replies.append(NEXT)
    open_quick(page, server)
    page.keyboard.press("2")
    saved(page)
    page.clock.run_for(10_000)
    assert page.locator("[data-previous]").text_content() == "Previous answer"
    page.keyboard.press("Control+z")
    page.wait_for_timeout(50)
    assert not page.url.endswith("/previous/")


def test_the_second_tap_of_a_double_tap_is_ignored(page, server):
    server.replies.extend([NEXT, NEXT])
    open_quick(page, server)
    page.keyboard.press("2")
    saved(page)
    page.get_by_text("Rather yes").click()
    page.keyboard.press("2")
    page.clock.run_for(10)
    assert (chosen(page), submissions(server, SECOND)) == ([], [])
    page.clock.run_for(400)
    page.keyboard.press("1")
    until(page, lambda: submissions(server, SECOND))
    assert submissions(server, SECOND)[0].body["answer"]["rating"] == 5


def test_going_through_the_answers_by_arrows_submits_nothing(page, server):
    open_quick(page, server)
    page.locator("[name=rating]").first.focus()
    page.keyboard.press("ArrowDown")
    page.keyboard.press("ArrowDown")
    assert chosen(page) == ["2"]
    page.clock.run_for(1000)
    assert submissions(server) == []


def test_unsure_waits_for_its_reason(page, server):
    server.replies.append(NEXT)
    open_quick(page, server)
    page.keyboard.press("5")
    page.clock.run_for(1000)
    assert submissions(server) == []
    page.keyboard.type("It depends.")
    page.keyboard.press("Control+Enter")
    saved(page)
    assert submissions(server, FIRST)[0].body["answer"] == {"rating": 3, "justification": "It depends."}


def test_the_choice_is_remembered_on_the_device(page, server):
    open_quick(page, server)
    page.reload()
    ready(page)
    assert page.get_by_label("Submit as soon as I choose an answer").is_checked()


def test_a_correction_is_saved_by_its_button_alone(page, server):
    open_task(page, server, rating(answer={"rating": 5, "justification": ""}), revising={"place": 1, "of": 1})
    assert page.get_by_label("Submit as soon as I choose an answer").count() == 0
