"""A shell at a terminal, and a user who types, reads the output and presses Ctrl-C."""

import fcntl
import os
import pty
import re
import select
import signal
import subprocess
import termios
import time
from pathlib import Path

READY = re.compile(r"<ready (\d+)>\r?\n")
MORE = "<more>"
PATIENCE_SECONDS = 300  # on a busy machine
CTRL_C_SECONDS = 90  # until an interrupted command has ended; a command that ignores Ctrl-C never does


class Terminal:
    """An interactive bash with a separate environment."""

    def __init__(self, folder: Path, env: dict[str, str]) -> None:
        self._screen, inside = pty.openpty()
        prompts = {"PS1": r"<ready $?>\n", "PS2": f"{MORE}\n", "TERM": "dumb"}
        self._shell = subprocess.Popen(
            ["bash", "--noprofile", "--norc", "--noediting", "-i"],
            cwd=folder,
            env={**env, **prompts},
            stdin=inside,
            stdout=inside,
            stderr=inside,
            start_new_session=True,
            preexec_fn=lambda: fcntl.ioctl(0, termios.TIOCSCTTY, 0),
        )
        os.close(inside)
        self._unread = ""
        self.read_until(READY)
        assert self.type("stty -echo")[0] == 0

    def type(self, line: str, *, answers: dict[str, str] | None = None) -> tuple[int | None, str]:
        """Type a line; return its status, None if the shell waits for more lines, and the output.

        Each printed question is answered from `answers`, in order.
        """
        self.write(line)
        said = ""
        for question, answer in (answers or {}).items():
            said += self.read_until(re.compile(re.escape(question)))
            self.write(answer)
        said += self.read_until(re.compile(f"{READY.pattern}|{MORE}\r?\n"))
        status = READY.search(said)
        return (int(status[1]) if status else None), said

    def write(self, line: str) -> None:
        os.write(self._screen, f"{line}\n".encode())

    def press_ctrl_c(self) -> tuple[int, str]:
        """Press Ctrl-C; return the status of the interrupted command, and the output."""
        os.write(self._screen, b"\x03")
        said = self.read_until(READY, seconds=CTRL_C_SECONDS)
        status = READY.search(said)
        assert status
        return int(status[1]), said

    def read_until(self, pattern: re.Pattern[str], *, seconds: float = PATIENCE_SECONDS) -> str:
        """Return the output up to the end of the pattern."""
        end = time.monotonic() + seconds
        while not (match := pattern.search(self._unread)):
            assert time.monotonic() < end, f"waited for {pattern.pattern} in vain: {self._unread}"
            if select.select([self._screen], [], [], 1)[0]:
                self._unread += os.read(self._screen, 65536).decode(errors="replace")
        said, self._unread = self._unread[: match.end()], self._unread[match.end() :]
        return said

    def close(self) -> None:
        """Hang up, like closing the window; kill the remaining processes."""
        os.close(self._screen)
        try:
            self._shell.wait(timeout=60)
        except subprocess.TimeoutExpired:
            os.killpg(self._shell.pid, signal.SIGKILL)
            self._shell.wait()
