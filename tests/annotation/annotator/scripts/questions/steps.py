"""Helpers for tests of questions on the screen: keys, submissions, announcements."""

from typing import Any

from tests.annotation.annotator.scripts.conftest import until
from tests.annotation.annotator.scripts.server import ScriptServer, refusal
from tests.annotation.annotator.scripts.steps import submissions


def press(page, *keys: str) -> None:
    for key in keys:
        page.keyboard.press(key)


def sent(page, server: ScriptServer) -> dict[str, Any]:
    """Submit the task and return the answer that the server gets. The server refuses it, so that the page stays."""
    server.replies.append(refusal(409))
    page.keyboard.press("Control+Enter")
    until(page, lambda: page.locator("#saved").text_content() == "Not saved.")
    return submissions(server)[-1].body["answer"]


def announced(page, words: str) -> None:
    """Let the delay before announcements pass, and check that this text is announced."""
    page.clock.run_for(100)
    assert page.locator("#announcer").text_content() == words
