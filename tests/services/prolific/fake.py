"""The stand-in for tests: it can be started, killed and restarted, and acts for people."""

import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import httpx

from tests.project.test_layout import ROOT

_PATIENCE = 20.0


class FakeProlific:
    """A stand-in with its state in a file."""

    def __init__(self, state: Path) -> None:
        self._state = state
        self._process: subprocess.Popen[bytes] | None = None
        self.url = ""
        self.token, self.workspace = "test-token", "workspace-1"
        self._client = httpx.Client(timeout=60, trust_env=False)

    def start(self, port: int = 0) -> None:
        marker = self._state.with_suffix(".port")
        marker.unlink(missing_ok=True)
        command = [sys.executable, "-m", "tests.services.prolific.server"]
        self._process = subprocess.Popen(
            [*command, "--port", str(port), "--state", str(self._state)], cwd=ROOT
        )
        end = time.monotonic() + _PATIENCE
        while not marker.exists() or not marker.read_text():
            assert self._process.poll() is None, "the stand-in ended"
            assert time.monotonic() < end, "the stand-in did not start"
            time.sleep(0.02)
        self.url = f"http://127.0.0.1:{marker.read_text()}"

    def start_anew(self, state: Path) -> None:
        """Begin with an empty state in another file, for another test."""
        self._state = state
        assert self._process is not None
        if self._process.poll() is None:
            self.control("start_anew", state=str(state))
        else:  # the previous test killed it
            self.start()

    def kill(self) -> None:
        """Kill the process, as a power failure would; `start` restarts it with the port of `url`."""
        assert self._process is not None
        self._process.kill()
        self._process.wait()

    def close(self) -> None:
        self.kill()
        self._client.close()

    def control(self, verb: str, **sent: Any) -> Any:
        response = self._client.post(f"{self.url}/_control/{verb}", json=sent)
        if response.status_code != 200:
            raise AssertionError(f"{verb}: {response.status_code} {response.text}")
        return response.json()

    # Actions of people

    def reserve(self, study: str, participant: str) -> dict[str, Any]:
        """Give a person a place; `link` in the response is the address to which they are sent."""
        return dict(self.control("reserve", study_id=study, participant=participant))

    def open_link(self, submission: str) -> None:
        self.control("start", submission_id=submission)

    def complete(self, submission: str, code: str = "") -> None:
        self.control("complete", submission_id=submission, code=code)

    def give_back(self, submission: str) -> None:
        self.control("give_back", submission_id=submission)

    # Other events

    def move_clock(self, *, seconds: float) -> None:
        self.control("move_clock", seconds=seconds)

    def configure(self, **changes: Any) -> None:
        self.control("configure", **changes)

    def fault(self, call: str, kind: str, **details: Any) -> None:
        """Plant a fault: see `faults`."""
        self.control("fault", call=call, kind=kind, **details)

    # Results

    def ledger(self) -> list[dict[str, Any]]:
        """Return every payment: what (reward or bonus), submission, batch, amount, fees."""
        return list(self.control("ledger"))

    def documents(self, kind: str) -> list[dict[str, Any]]:
        """Return all documents of a kind: study, submission, batch, subscription, event, fault."""
        return list(self.control("documents", kind=kind))

    def status(self, submission: str) -> str:
        rows = {row["id"]: row for row in self.documents("submission")}
        return str(rows[submission]["status"])


@contextmanager
def fake_prolific(folder: Path) -> Iterator[FakeProlific]:
    """Run a stand-in until the block ends."""
    fake = FakeProlific(folder / "prolific.sqlite")
    fake.start()
    try:
        yield fake
    finally:
        fake.close()
