"""`task.js` and its panes: keys, ticks and none, required answers, blurring, expiry, and a second tab."""

import pytest

from tests.annotation.annotator.scripts.conftest import stop_clock, until
from tests.annotation.annotator.scripts.pages import NOW, SECOND, TASK_PATH, marking, rating, task_page
from tests.annotation.annotator.scripts.server import Reply
from tests.annotation.annotator.scripts.steps import kept, open_task, ready, saved, says, submissions, ticked

pytestmark = [pytest.mark.e2e, pytest.mark.database_free]

BOXES = "[data-overlay] [data-box]"
NEXT = Reply(200, {"status": "accepted", "next": marking(SECOND)})


def none_chosen(page) -> bool:
    return page.locator("[data-none]").is_checked()


@pytest.mark.parametrize(
    ("keys", "ticks", "none", "boxes"),
    [
        pytest.param(["1"], ["a1"], False, 0, id="a tick"),
        pytest.param(["1", "3"], ["a1", "a3"], False, 0, id="two ticks"),
        pytest.param(["1", "1"], [], False, 0, id="a tick taken back"),
        pytest.param(["4"], [], False, 0, id="a number without an attribute"),
        pytest.param(["0"], [], True, 0, id="none of the above"),
        pytest.param(["0", "0"], [], False, 0, id="none taken back"),
        pytest.param(["0", "2"], ["a2"], False, 0, id="a tick takes none back"),
        pytest.param(["1", "b", "2", "b"], ["a1", "a2"], False, 2, id="a box each"),
        pytest.param(["1", "b", "2", "b", "0"], [], True, 0, id="none takes ticks and boxes"),
        pytest.param(["1", "b", "0", "Control+z"], ["a1"], False, 1, id="undone"),
        pytest.param(["1", "b", "0", "Control+z", "Control+y"], [], True, 0, id="done again"),
        pytest.param(["1", "Control+z", "Control+Shift+Z"], ["a1"], False, 0, id="done again with Shift"),
        pytest.param(["b"], [], False, 0, id="no box without a tick"),
        pytest.param(["1", "b", "1"], [], False, 0, id="unticking takes the box"),
        pytest.param(["1", "b", "Escape", "2", "b"], ["a1", "a2"], False, 2, id="for what was ticked last"),
    ],
)
def test_keys_change_the_answer(page, server, keys, ticks, none, boxes):
    open_task(page, server, marking())
    for key in keys:
        page.keyboard.press(key)
    assert (ticked(page), none_chosen(page), page.locator(BOXES).count()) == (ticks, none, boxes)


def test_single_keys_that_are_switched_off_do_nothing_and_stay_off(page, server):
    open_task(page, server, marking())
    page.locator("[data-keys-on]").evaluate(
        "(box) => box.click()"
    )  # the help on keys is not for touch screens
    page.locator("[data-question]").focus()
    page.keyboard.press("1")
    assert ticked(page) == []
    page.reload()
    ready(page)
    page.keyboard.press("1")
    assert ticked(page) == []
    page.keyboard.press("Enter")  # not a single key
    page.get_by_text("Tick what the picture shows").wait_for()


@pytest.mark.parametrize("key", ["s", "1", "Enter", "Control+z"])
def test_keys_typed_into_a_text_do_nothing_else(page, server, key):
    open_task(page, server, rating())
    page.keyboard.press("5")
    page.keyboard.press(key)
    page.evaluate("fetch('/')")
    assert server.received == []
    assert page.locator("[name=rating]:checked").get_attribute("value") == "3"


@pytest.mark.parametrize(
    ("modifier", "key"), [("Control", "1"), ("Alt", "1"), ("Meta", "0")], ids=["Ctrl", "Alt", "Meta"]
)
def test_keys_of_the_browser_are_left_alone(page, server, modifier, key):
    open_task(page, server, marking())
    page.keyboard.press(f"{modifier}+{key}")
    assert ticked(page) == []
    assert not none_chosen(page)


@pytest.mark.parametrize(
    ("keys", "boxes_required", "refusal"),
    [
        pytest.param([], False, "Not submitted yet.", id="nothing"),
        pytest.param(["1"], False, None, id="a tick"),
        pytest.param(["0"], False, None, id="none"),
        pytest.param(["1"], True, "Not submitted yet: a box is missing.", id="a tick without its box"),
        pytest.param(["1", "2"], True, "Not submitted yet: 2 boxes are missing.", id="two without"),
        pytest.param(["1", "b", "2"], True, "Not submitted yet: a box is missing.", id="one without"),
        pytest.param(["1", "b"], True, None, id="a tick with its box"),
        pytest.param(["0"], True, None, id="none needs no box"),
    ],
)
def test_complete_answers_are_sent_and_incomplete_ones_refused(page, server, keys, boxes_required, refusal):
    server.replies.append(NEXT)
    open_task(page, server, marking(boxes_required=boxes_required))
    for key in keys:
        page.keyboard.press(key)
    page.keyboard.press("Control+Enter")
    says(page, refusal or "Saved.")
    assert len(submissions(server)) == (refusal is None)


def test_the_rules_of_the_next_task_apply_to_it(page, server):
    server.replies.append(Reply(200, {"status": "accepted", "next": marking(SECOND, boxes_required=True)}))
    open_task(page, server, marking())
    page.keyboard.press("0")
    page.keyboard.press("Enter")
    saved(page)
    page.keyboard.press("1")
    page.keyboard.press("Control+Enter")
    says(page, "Not submitted yet: a box is missing.")
    assert submissions(server, SECOND) == []


def test_a_missing_picture_cannot_be_answered(page, server):
    server.pages["/annotate/1/"] = task_page(
        marking(image={"url": "/missing.svg", "width": 400, "height": 400})
    )
    page.goto("/annotate/1/")
    page.locator("form[data-task][data-ready]").wait_for()
    page.get_by_text("The picture did not load.").wait_for()
    page.keyboard.press("0")
    page.keyboard.press("Enter")
    says(page, "Wait until the picture has loaded, or skip it.")
    assert submissions(server) == []


def test_a_blurred_picture_is_shown_before_it_is_answered_and_the_next_is_blurred_again(page, server):
    server.replies.append(NEXT)
    open_task(page, server, marking(), blurred=True)
    page.keyboard.press("0")
    page.keyboard.press("Enter")
    says(page, "Show the picture first, or skip it.")
    assert submissions(server) == []
    page.keyboard.press("v")
    assert page.evaluate("document.activeElement.matches('[data-question]')")
    page.keyboard.press("Enter")
    saved(page)
    page.keyboard.press("0")
    page.keyboard.press("Enter")
    says(page, "Show the picture first, or skip it.")
    assert submissions(server, SECOND) == []


BLUR_OF = "() => getComputedStyle(document.querySelector('[data-image]')).filter"


def blur_cookies(page) -> list[tuple[str, bool]]:
    """Return the cookie that asks for blurred pictures, and whether it outlives the browser's session."""
    cookies = [cookie for cookie in page.context.cookies() if cookie["name"] == "stereoscope_blur"]
    return [(cookie["value"], cookie["expires"] > 0) for cookie in cookies]


def test_blurring_hides_the_picture_at_once_and_is_remembered(page, server):
    open_task(page, server, marking())
    page.locator(".comfort summary").click()
    page.locator("[data-blur-on]").check()
    assert page.evaluate(BLUR_OF).startswith("blur(")
    assert blur_cookies(page) == [("1", True)]
    page.locator("[data-question]").focus()
    page.keyboard.press("0")
    page.keyboard.press("Enter")
    says(page, "Show the picture first, or skip it.")
    page.locator("[data-blur-on]").uncheck()
    assert (page.evaluate(BLUR_OF), blur_cookies(page)) == ("none", [])


def test_one_key_hides_the_picture_and_shows_it_for_the_session(page, server):
    server.replies.append(NEXT)
    open_task(page, server, marking())
    for blurred in (True, False, True, False):
        page.keyboard.press("v")
        assert page.evaluate(BLUR_OF).startswith("blur(") is blurred
    assert blur_cookies(page) == [("1", False)]
    page.keyboard.press("0")
    page.keyboard.press("Enter")
    saved(page)
    assert page.evaluate(BLUR_OF).startswith("blur(")


def test_a_picture_is_blurred_before_it_loads_and_without_delay(page, server):
    nothing = {"url": "", "width": 400, "height": 400}
    server.pages[TASK_PATH] = task_page(marking(image=nothing), blurred=True)
    page.goto(TASK_PATH)
    assert page.evaluate(BLUR_OF).startswith("blur(")
    transition = "() => getComputedStyle(document.querySelector('[data-image]')).transitionDuration"
    assert page.evaluate(transition) == "0s"


@pytest.mark.parametrize(
    ("ahead", "minutes", "expired"),
    [(0, 29, False), (0, 30, True), (3600, 29, False), (-3600, 30, True)],
    ids=["in time", "run out", "the device is ahead", "the device is behind"],
)
def test_the_lease_runs_out_by_the_servers_clock(page, server, ahead, minutes, expired):
    now = NOW.timestamp() + ahead
    stop_clock(page.clock, now)
    open_task(page, server, marking())
    page.clock.run_for(minutes * 60_000)
    assert page.locator("#task-expired").is_visible() is expired
    server.replies.append(NEXT)
    page.keyboard.press("0")
    page.keyboard.press("Enter")
    says(page, "Saved.")  # late or not, it can be submitted


def test_the_next_picture_is_prefetched(page, server):
    server.ahead = {"images": ["/picture/ahead.svg"]}
    with page.expect_request("**/picture/ahead.svg"):
        open_task(page, server, marking())
        page.clock.run_for(1000)


@pytest.fixture
def tabs(page, server):
    """Two tabs that show the same task."""
    other = page.context.new_page()
    for tab in (page, other):
        open_task(tab, server, marking())
    return page, other


def test_changes_in_one_tab_appear_in_the_other_and_can_be_undone_there(tabs):
    here, there = tabs
    here.bring_to_front()
    here.keyboard.press("2")
    says(there, "Answer changed in another tab.")
    assert ticked(there) == ["a2"]
    there.bring_to_front()
    there.keyboard.press("Control+z")
    until(here, lambda: ticked(here) == [])


def test_two_tabs_send_one_submission(tabs, server):
    here, there = tabs
    for tab, key in ((here, "1"), (there, "2")):
        tab.bring_to_front()
        tab.keyboard.press(key)
        until(tab, lambda: ticked(here) == ticked(there))
    assert kept(here)["answer"]["ticked"] == ["a1", "a2"]
    there.keyboard.press("Enter")
    says(here, "Answer being sent from another tab.")
    here.bring_to_front()
    here.locator("[data-question]").focus()
    here.keyboard.press("Control+Enter")
    until(here, lambda: len(submissions(server)) == 2)
    first, second = submissions(server)
    assert first.body["submission_id"] == second.body["submission_id"]


def test_a_task_finished_in_one_tab_is_over_in_the_other(tabs, server):
    here, there = tabs
    server.replies.append(NEXT)
    here.bring_to_front()
    here.keyboard.press("0")
    here.keyboard.press("Enter")
    says(here, "Saved.")
    there.get_by_text("This task was finished in another tab.").wait_for()
    assert there.get_by_role("link", name="Go to the current task").is_visible()


def test_a_tab_that_is_sending_takes_nothing_over(tabs, server):
    here, there = tabs
    here.bring_to_front()
    here.keyboard.press("1")
    says(there, "Answer changed in another tab.")
    here.keyboard.press("Enter")
    until(here, lambda: submissions(server))
    # Called after the screen's own listener, which was added first.
    here.evaluate("addEventListener('storage', () => { window.heardOfTheOtherTab = true; })")
    there.bring_to_front()
    there.keyboard.press("2")
    until(there, lambda: kept(there)["answer"]["ticked"] == ["a1", "a2"])
    until(here, lambda: here.evaluate("window.heardOfTheOtherTab"))
    assert ticked(here) == ["a1"]
