"""Pauses in a backup, so that it leaves the database to the people who label.

`nice` slows down the processes of a backup, but not the processes of PostgreSQL that serve it.
"""

import shutil
import signal
import subprocess
import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

_STRETCH = 0.1  # seconds that a program runs before a pause


@dataclass(frozen=True)
class BackupPace:
    """The share of time spent working, above 0 and at most 1."""

    share: float

    def rest(self, worked: float) -> None:
        """Sleep after a piece of work that took `worked` seconds."""
        if self.share < 1:
            time.sleep(worked * (1 - self.share) / self.share)

    def run(self, command: Sequence[str], **options: Any) -> int:
        """Run a program and return its exit code; pause it repeatedly, and thereby the server that feeds it.

        If this process were killed, a paused program would remain, so `setpriv` makes the system kill it. Without
        `setpriv`, as outside Linux, the program is not paused.
        """
        guard = shutil.which("setpriv")
        if self.share == 1 or guard is None:
            return subprocess.run(command, check=False, **options).returncode  # noqa: S603 -- the caller's
        guarded = [guard, "--pdeathsig", "KILL", *command]
        with subprocess.Popen(guarded, **options) as process:  # noqa: S603 -- the caller's
            while True:
                try:
                    return process.wait(timeout=_STRETCH)
                except subprocess.TimeoutExpired:
                    process.send_signal(signal.SIGSTOP)
                    self.rest(_STRETCH)
                    process.send_signal(signal.SIGCONT)


FULL_SPEED = BackupPace(1.0)
BESIDE_PEOPLE = BackupPace(0.5)
