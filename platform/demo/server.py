"""Web server and background worker in one foreground process, stopped together."""

import os
import signal
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Sequence
from pathlib import Path

from foundation.errors import DomainError

ROOT = Path(__file__).resolve().parents[2]
START_SECONDS = 60


def ensure_port_free(port: int) -> None:
    """Raise DomainError `port_taken` when something already listens on `port` of the loopback address."""
    with socket.socket(socket.AF_INET, socket.SOCK_STREAM) as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind(("127.0.0.1", port))
        except OSError as error:
            raise DomainError(
                "port_taken", f"Port {port} is taken; choose another one, for example PORT={port + 1}."
            ) from error


def serve(*, port: int, when_ready: Callable[[], None]) -> int:
    """Run gunicorn and the worker until Ctrl-C, SIGTERM or the end of either; return the exit status."""
    children = [subprocess.Popen(command, cwd=ROOT, start_new_session=True) for command in _commands(port)]
    stopping = False

    def stop(_signum: int, _frame: object) -> None:
        nonlocal stopping
        stopping = True

    for signum in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(signum, stop)
    try:
        if not _wait_until_ready(port, children, lambda: stopping):
            return 0 if stopping else 1
        when_ready()
        while not stopping and all(child.poll() is None for child in children):
            time.sleep(0.2)
        return 0 if stopping else 1
    finally:
        _stop(children)


def _commands(port: int) -> list[list[str]]:
    return [
        [
            *(sys.executable, "-m", "gunicorn", "config.wsgi", "--pythonpath", "platform"),
            *("--bind", f"127.0.0.1:{port}", "--workers", "2", "--threads", "4", "--preload"),
            *("--log-level", "warning", "--no-control-socket"),
        ],
        [sys.executable, "manage.py", "worker", "--interval", "0.5", "-v", "0"],
    ]


def _wait_until_ready(
    port: int, children: Sequence[subprocess.Popen[bytes]], stopping: Callable[[], bool]
) -> bool:
    deadline = time.monotonic() + START_SECONDS
    while time.monotonic() < deadline and not stopping():
        if any(child.poll() is not None for child in children):
            return False
        try:
            with urllib.request.urlopen(f"http://127.0.0.1:{port}/healthz", timeout=2):
                return True
        except (urllib.error.URLError, OSError):
            time.sleep(0.1)
    return False


def _stop(children: Sequence[subprocess.Popen[bytes]]) -> None:
    """End every child and what it started, politely first."""
    for signum, patience in ((signal.SIGTERM, 8.0), (signal.SIGKILL, 2.0)):
        running = [child for child in children if child.poll() is None]
        for child in running:
            os.killpg(child.pid, signum)
        deadline = time.monotonic() + patience
        for child in running:
            try:
                child.wait(timeout=max(0.1, deadline - time.monotonic()))
            except subprocess.TimeoutExpired:
                continue
