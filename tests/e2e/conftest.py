"""A real browser. Errors logged by a page and violations of its content security policy fail the test."""

import threading
import time
from collections.abc import Callable, Iterator

import pytest

DESKTOP = {"width": 1280, "height": 800}
PHONE = {"width": 360, "height": 740}


def be_patient(page) -> None:
    """Set long time-outs, because pages are slow on a busy machine."""
    page.set_default_timeout(30_000)
    page.set_default_navigation_timeout(90_000)


def _wait_for_answers(*, seconds: float = 10) -> None:
    """Let the server finish requests of closed pages, because SQLite cannot empty a table that a thread still reads."""
    end = time.monotonic() + seconds
    while time.monotonic() < end and any(
        "process_request" in thread.name for thread in threading.enumerate()
    ):
        time.sleep(0.02)


@pytest.fixture
def new_page(browser, live_server) -> Iterator[Callable]:
    """Return a maker of pages, each in a separate browser profile: `new_page(size=PHONE, touch=True)`."""
    contexts, complaints = [], []

    def listen(page):
        page.on("console", lambda said: complaints.append(said.text) if said.type == "error" else None)
        page.on("pageerror", lambda error: complaints.append(str(error)))

    def opened(*, size=DESKTOP, touch=False, **options):
        context = browser.new_context(
            base_url=live_server.url, viewport=size, has_touch=touch, is_mobile=touch, **options
        )
        contexts.append(context)
        page = context.new_page()
        be_patient(page)
        listen(page)
        # A test that expects an error (such as a missing picture) clears this list itself.
        page.complaints = complaints
        return page

    yield opened
    for context in contexts:
        context.close()
    _wait_for_answers()
    assert complaints == []


@pytest.fixture
def page(new_page):
    """Return one page on a desktop."""
    return new_page()
