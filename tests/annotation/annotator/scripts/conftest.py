"""A tab on pages of the loopback server, with a clock that only the test advances."""

from collections.abc import Callable, Iterator
from typing import Any

import pytest

from tests.annotation.annotator.scripts.pages import NOW
from tests.annotation.annotator.scripts.server import ScriptServer, script_server


@pytest.fixture(scope="session")
def _server_of_process() -> Iterator[ScriptServer]:
    with script_server() as server:
        yield server


@pytest.fixture
def server(_server_of_process) -> ScriptServer:
    """The server, with no requests received and no replies queued."""
    _server_of_process.reset()
    return _server_of_process


@pytest.fixture(scope="module")
def _profile(browser, _server_of_process) -> Iterator[Any]:
    """A browser profile for the tests of a module: starting one takes longer than most tests."""
    profile = browser.new_context(
        base_url=_server_of_process.url, viewport={"width": 1000, "height": 800}, has_touch=True
    )
    profile.set_default_timeout(10_000)
    profile.new_page()
    yield profile
    profile.close()


@pytest.fixture
def page(_profile, server) -> Iterator[Any]:
    """A tab on a device with empty storage, whose clock is stopped at `NOW`. A script error fails the test."""
    tab, *others = _profile.pages
    for other in others:
        other.close()
    tab.goto("/nothing")  # on this page, leaving the previous test's page can no longer write
    tab.evaluate("() => { localStorage.clear(); sessionStorage.clear(); }")
    _profile.clear_cookies()
    stop_clock(_profile.clock, NOW.timestamp())
    errors: list[str] = []

    def listen(error) -> None:
        errors.append(str(error.error))

    _profile.on("weberror", listen)
    yield tab
    _profile.remove_listener("weberror", listen)
    assert errors == []


def stop_clock(clock: Any, at: float) -> None:
    """Stop the clock at `at` (seconds since 1970) on all pages opened from now on."""
    clock.install(time=at - 60)  # the clock runs until it is stopped, and cannot be stopped in its past
    clock.pause_at(at)


def until(page, holds: Callable[[], object]) -> None:
    """Wait in real time for a condition in the browser; the page's clock stays stopped."""
    for _ in range(500):
        if holds():
            return
        page.wait_for_timeout(10)
    pytest.fail("it did not come to hold")
