"""Servers for the pictures: the real commands, on SQLite in a temporary folder."""

import contextlib
import os
import signal
import socket
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[4]
USERNAME, PASSWORD = "ada", "seven invented isles"


@dataclass(frozen=True)
class Server:
    """A running server at `url`, and the environment of commands on its database."""

    url: str
    env: dict[str, str]

    def run(self, *arguments: str) -> str:
        """Run a command of manage.py on the server's database and return its output."""
        command = [sys.executable, "manage.py", *arguments]
        return subprocess.run(
            command, cwd=ROOT, env=self.env, check=True, text=True, stdout=subprocess.PIPE
        ).stdout


@contextlib.contextmanager
def serving(*, demo: bool) -> Iterator[Server]:
    """Serve an empty database with one administrator, or the demo's."""
    with tempfile.TemporaryDirectory(prefix="stereoscope-pictures-") as folder:
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            port = str(free.getsockname()[1])
        names = ("PATH", "HOME", "LANG")
        env = {name: os.environ[name] for name in names if name in os.environ}
        env |= {"STEREOSCOPE_VAR": folder, "DJANGO_SUPERUSER_PASSWORD": PASSWORD}
        env |= {"STEREOSCOPE_DEMO": "1"} if demo else {}
        server = Server(f"http://127.0.0.1:{port}", env)
        server.run("migrate", "--verbosity", "0")
        if demo:
            server.run("seed_demo")
        server.run("createsuperuser", "--noinput", "--username", USERNAME, "--email", "ada@example.org")
        yield from _while_it_serves(server, port)


def _while_it_serves(server: Server, port: str) -> Iterator[Server]:
    command = [sys.executable, "manage.py", "serve", "--port", port]
    process = subprocess.Popen(command, cwd=ROOT, env=server.env, stdout=subprocess.PIPE, text=True)
    try:
        assert process.stdout is not None
        if "Stereoscope is at" not in process.stdout.readline():
            raise RuntimeError("The server did not start.")
        yield server
    finally:
        process.send_signal(signal.SIGINT)
        process.wait(timeout=60)
