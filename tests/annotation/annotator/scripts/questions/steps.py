"""What tests of questions on the screen share: keys, what is sent, what is announced."""

from typing import Any

from tests.annotation.annotator.scripts.conftest import until
from tests.annotation.annotator.scripts.server import ScriptServer, refusal
from tests.annotation.annotator.scripts.steps import submissions


def press(page, *keys: str) -> None:
    for key in keys:
        page.keyboard.press(key)


def sent(page, server: ScriptServer) -> dict[str, Any]:
    """Submit the task on the screen, and return the answer that arrives. It is refused, so that the page stays."""
    server.replies.append(refusal(409))
    page.keyboard.press("Control+Enter")
    until(page, lambda: page.locator("#saved").text_content() == "Not saved.")
    return submissions(server)[-1].body["answer"]


def announced(page, words: str) -> None:
    """Let the moment pass before something is announced, and see that this is."""
    page.clock.run_for(100)
    assert page.locator("#announcer").text_content() == words
