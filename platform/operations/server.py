"""Web server and worker under one foreground process, for a single machine."""

import ctypes
import os
import signal
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

from foundation.errors import DomainError

ROOT = Path(__file__).resolve().parents[2]
START_SECONDS = 60
# A worker that ends sooner than this, 5 times in a row, will not recover by itself.
SHORT_LIFE_SECONDS = 20.0
SHORT_LIVES = 5
PAUSE_SECONDS = 1.0
STEP_SECONDS = 0.2
_PR_SET_PDEATHSIG = 1  # from linux/prctl.h
_LIBC = ctypes.CDLL(None) if sys.platform == "linux" else None
# gunicorn gives requests 30 s; a worker releases its job at the next step.
PATIENCE_SECONDS = 35.0


@dataclass(frozen=True)
class Address:
    """The address and port on which the web server listens."""

    host: str
    port: int

    @property
    def url(self) -> str:
        """The URL of the web server on this machine."""
        host = "127.0.0.1" if self.host in {"0.0.0.0", "::"} else self.host  # noqa: S104 (compared only)
        return f"http://[{host}]:{self.port}" if ":" in host else f"http://{host}:{self.port}"

    def ensure_free(self) -> None:
        """Raise DomainError `port_taken` if the port cannot be used."""
        family = socket.AF_INET6 if ":" in self.host else socket.AF_INET
        with socket.socket(family, socket.SOCK_STREAM) as probe:
            probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            try:
                probe.bind((self.host, self.port))
            except OSError as error:
                raise DomainError(
                    "port_taken",
                    f"Port {self.port} of {self.host} cannot be used ({error.strerror}); "
                    f"choose another one, for example PORT={self.port + 1}.",
                ) from error


def serve(address: Address, *, when_ready: Callable[[], None], say: Callable[[str], None]) -> int:
    """Run the web server and a worker until Ctrl-C or SIGTERM; return the exit status.

    A worker that ends is replaced. The status is 1 if the web server ends, which replaces its own workers, or if
    workers repeatedly end soon after their start.
    """
    with _stop_asked() as stopping:
        children = _Children(web=_start(_web_command(address)), worker=_start(_WORKER_COMMAND))
        try:
            if _is_ready(address, children.web, stopping):
                when_ready()
                children.watch(stopping, say)
            if stopping():
                return 0
            say(f"The web server ended with status {children.web.poll()}.")
            return 1
        except DomainError as error:
            say(error.message)
            return 1
        finally:
            children.end()


@dataclass
class _Children:
    """The two child processes."""

    web: subprocess.Popen[bytes]
    worker: subprocess.Popen[bytes]

    def watch(self, stopping: Callable[[], bool], say: Callable[[str], None]) -> None:
        """Replace workers that end, until the web server ends or a stop is requested."""
        short_lives, started = 0, time.monotonic()
        while self.web.poll() is None and not stopping():
            if self.worker.poll() is None:
                time.sleep(STEP_SECONDS)
                continue
            lived = time.monotonic() - started
            short_lives = short_lives + 1 if lived < SHORT_LIFE_SECONDS else 1
            if short_lives == SHORT_LIVES:
                raise DomainError(
                    "worker_fails",
                    f"The worker ended {SHORT_LIVES} times in a row; see the messages above for the reason.",
                )
            say(f"The worker ended with status {self.worker.returncode}. A new worker starts.")
            again = time.monotonic() + PAUSE_SECONDS * 2 ** (short_lives - 1)
            while time.monotonic() < again and not stopping():
                time.sleep(STEP_SECONDS)
            started = time.monotonic()
            self.worker = _start(_WORKER_COMMAND)

    def end(self) -> None:
        """Stop both process groups with SIGTERM, then SIGKILL."""
        children = (self.web, self.worker)
        for signum, patience in ((signal.SIGTERM, PATIENCE_SECONDS), (signal.SIGKILL, 2.0)):
            for child in children:
                # A process that has ended may have left child processes in its group.
                with suppress(ProcessLookupError):
                    os.killpg(child.pid, signum)
            deadline = time.monotonic() + patience
            for child in children:
                with suppress(subprocess.TimeoutExpired):
                    child.wait(timeout=max(0.1, deadline - time.monotonic()))


_WORKER_COMMAND = [sys.executable, "manage.py", "worker", "--interval", "0.5", "-v", "0"]


def _web_command(address: Address) -> list[str]:
    host = f"[{address.host}]" if ":" in address.host else address.host
    return [
        *(sys.executable, "-m", "gunicorn", "config.wsgi", "--pythonpath", "platform"),
        *("--bind", f"{host}:{address.port}", "--workers", "2", "--threads", "4", "--keep-alive", "60"),
        *("--preload", "--log-level", "warning", "--no-control-socket"),
    ]


def _start(command: list[str]) -> subprocess.Popen[bytes]:
    # In its own session: Ctrl-C reaches only the parent process, which then stops its children in order.
    return subprocess.Popen(command, cwd=ROOT, start_new_session=True, preexec_fn=_end_with_parent)


def _end_with_parent() -> None:
    """Have Linux send this process SIGTERM when its parent ends, even by `kill -9`."""
    if _LIBC is not None:
        _LIBC.prctl(_PR_SET_PDEATHSIG, signal.SIGTERM)


@contextmanager
def _stop_asked() -> Iterator[Callable[[], bool]]:
    """Yield a function that returns whether Ctrl-C or SIGTERM came; these signals have no other effect."""
    came: list[int] = []
    before = {
        signum: signal.signal(signum, lambda signum, _frame: came.append(signum))
        for signum in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
    }
    try:
        yield lambda: bool(came)
    finally:
        for signum, handler in before.items():
            signal.signal(signum, handler)


def _is_ready(address: Address, web: subprocess.Popen[bytes], stopping: Callable[[], bool]) -> bool:
    """Wait until the web server answers; return whether it does."""
    deadline = time.monotonic() + START_SECONDS
    while web.poll() is None and not stopping():
        try:
            with urllib.request.urlopen(f"{address.url}/healthz", timeout=2):
                return True
        except (urllib.error.URLError, OSError):
            time.sleep(0.1)
        if time.monotonic() > deadline:
            raise DomainError("not_started", f"The web server did not answer within {START_SECONDS} seconds.")
    return False
