"""Helpers for tests of the task page: opening it, reading the device's storage, letting time pass."""

import json
from collections.abc import Mapping
from typing import Any

from tests.annotation.annotator.scripts.conftest import until
from tests.annotation.annotator.scripts.pages import FIRST, TASK_PATH, task_page
from tests.annotation.annotator.scripts.server import Received, ScriptServer

SUBMIT_PATH = "/api/v1/assignments/{}/submit"


def open_task(page, server: ScriptServer, payload: Mapping[str, Any], **options: Any) -> None:
    """Serve this task and open it."""
    server.pages[TASK_PATH] = task_page(payload, **options)
    page.goto(TASK_PATH)
    ready(page)


def ready(page) -> None:
    """Wait until the script has taken over and the pictures are loaded."""
    page.locator("form[data-task][data-ready]").wait_for()
    # Until the next picture is loaded, `naturalWidth` is that of the last one.
    there = "(all) => all.every(({ complete, naturalWidth }) => complete && naturalWidth > 0)"
    until(page, lambda: page.locator("[data-image]").evaluate_all(there))


def kept(page, assignment: str = FIRST, purpose: str = "answer") -> dict[str, Any] | None:
    """Return the draft of a task stored on the device."""
    text = page.evaluate("(key) => localStorage.getItem(key)", f"annotate:draft:1:{assignment}:{purpose}")
    return text and json.loads(text)


def ticked(page) -> list[str]:
    return [box.get_attribute("value") for box in page.locator("[name=ticked]:checked").all()]


def submissions(server: ScriptServer, assignment: str = FIRST) -> list[Received]:
    """Return the answers to a task that the server got."""
    return [post for post in list(server.received) if post.path == SUBMIT_PATH.format(assignment)]


def says(page, words: str) -> None:
    """Wait until the status line shows this text."""
    until(page, lambda: page.locator("#saved").text_content() == words)


def saved(page, words: str = "Saved.") -> None:
    """Wait until the answer is saved and the next task can be answered."""
    says(page, words)
    ready(page)


def work_for(page, seconds: int) -> None:
    """Let working time pass."""
    for _ in range(seconds // 30):
        page.keyboard.press("Shift")
        page.clock.run_for(30_000)
    page.keyboard.press("Shift")
    page.clock.run_for(seconds % 30 * 1000)
