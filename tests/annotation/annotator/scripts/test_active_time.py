"""`active-time.js`: the seconds that count as work, and the break reminder, which counts the same seconds."""

import pytest

from tests.annotation.annotator.scripts.pages import SECOND, marking
from tests.annotation.annotator.scripts.server import Reply
from tests.annotation.annotator.scripts.steps import (
    kept,
    open_task,
    ready,
    saved,
    says,
    submissions,
    work_for,
)

pytestmark = [pytest.mark.e2e, pytest.mark.database_free]

# `["wait", seconds]`, `["sign", event]`, `["hide"]`, `["show"]` and `["start", seconds]`, one after another.
COUNT = """async (events) => {
  const { ActiveTime } = await import("/static/annotation/annotator/screen/active-time.js");
  let now = 5_000_000;
  let hidden = false;
  Object.defineProperty(document, "hidden", { configurable: true, get: () => hidden });
  const time = new ActiveTime(() => now);
  const show = (shown) => {
    hidden = !shown;
    document.dispatchEvent(new Event("visibilitychange"));
  };
  const steps = {
    wait: (seconds) => (now += 1000 * seconds),
    sign: (name) => document.body.dispatchEvent(new Event(name, { bubbles: true })),
    hide: () => show(false),
    show: () => show(true),
    start: (seconds) => time.start(seconds),
  };
  time.start();
  for (const [step, value] of events) steps[step](value);
  return time.seconds;
}"""
SIGN = ["sign", "keydown"]


@pytest.mark.parametrize(
    ("events", "seconds"),
    [
        pytest.param([], 0, id="nothing"),
        pytest.param([["wait", 12.34]], 12.3, id="to a tenth of a second"),
        pytest.param([["wait", 60]], 60, id="a minute without a sign"),
        pytest.param([["wait", 61]], 60, id="no longer than a minute"),
        pytest.param([["wait", 600], SIGN, ["wait", 5]], 65, id="of a pause its first minute"),
        pytest.param([["wait", 50], SIGN, ["wait", 50], SIGN, ["wait", 50]], 150, id="signs in between"),
        pytest.param(
            [["wait", 10], ["hide"], ["wait", 30], ["show"], ["wait", 5]], 15, id="not while hidden"
        ),
        pytest.param([["wait", 10], ["hide"], ["wait", 30]], 10, id="still hidden"),
        pytest.param([["hide"], ["wait", 30], SIGN, ["wait", 5]], 0, id="no sign counts while hidden"),
        pytest.param([["wait", 90], ["hide"], ["show"], ["wait", 5]], 65, id="hidden after a pause"),
        pytest.param([["wait", 10], ["start", 0], ["wait", 5]], 5, id="another task"),
        pytest.param([["start", 12.5], ["wait", 5]], 17.5, id="a task taken up again"),
        pytest.param(
            [["hide"], ["start", 3], ["wait", 5], ["show"], ["wait", 1]], 4, id="begun while hidden"
        ),
        *(
            pytest.param([["wait", 40], ["sign", name], ["wait", 40]], 80, id=name)
            for name in ("pointerdown", "pointermove", "wheel", "touchstart", "scroll")
        ),
    ],
)
def test_seconds_at_work_are_counted(page, events, seconds):
    assert page.evaluate(COUNT, events) == seconds


def test_the_time_is_kept_over_a_reload_and_sent_with_the_answer(page, server):
    open_task(page, server, marking())
    work_for(page, 40)
    page.reload()
    ready(page)
    assert kept(page)["seconds"] == 40
    work_for(page, 20)
    server.replies.append(Reply(200, {"status": "accepted", "next": marking(SECOND)}))
    page.keyboard.press("0")
    page.keyboard.press("Enter")
    says(page, "Saved.")
    assert submissions(server)[0].body["active_seconds"] == 60


def test_the_next_task_begins_with_no_time(page, server):
    open_task(page, server, marking())
    work_for(page, 40)
    server.replies.append(Reply(200, {"status": "accepted", "next": marking(SECOND)}))
    page.keyboard.press("0")
    page.keyboard.press("Enter")
    saved(page)
    work_for(page, 7)
    page.keyboard.press("1")
    assert kept(page, SECOND)["seconds"] == 7


@pytest.mark.parametrize(("minutes", "due"), [("15", True), ("30", False), ("0", False)])
def test_a_break_is_offered_after_the_time_chosen_on_this_device(page, server, minutes, due):
    open_task(page, server, marking())
    page.evaluate("(value) => localStorage.setItem('annotate:break-after', value)", minutes)
    page.reload()
    ready(page)
    reminder = page.locator("#break-reminder")
    work_for(page, 14 * 60)
    assert reminder.is_hidden()
    work_for(page, 65)
    assert reminder.is_visible() is due


def test_a_postponed_break_is_offered_after_the_same_working_time(page, server):
    page.evaluate("localStorage.setItem('annotate:break-after', '15')")
    open_task(page, server, marking())
    reminder = page.locator("#break-reminder")
    work_for(page, 15 * 60 + 5)
    reminder.get_by_role("button", name="Not now").click()
    assert reminder.is_hidden()
    work_for(page, 14 * 60)
    assert reminder.is_hidden()
    work_for(page, 65)
    assert reminder.is_visible()


def test_work_on_earlier_tasks_counts_towards_the_break(page, server):
    page.evaluate("localStorage.setItem('annotate:break-after', '15')")
    open_task(page, server, marking())
    work_for(page, 8 * 60)
    server.replies.append(Reply(200, {"status": "accepted", "next": marking(SECOND)}))
    page.keyboard.press("0")
    page.keyboard.press("Enter")
    saved(page)
    work_for(page, 7 * 60 + 5)
    assert page.locator("#break-reminder").is_visible()
