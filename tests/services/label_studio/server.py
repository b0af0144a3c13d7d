"""A separate Label Studio server for tests, on loopback, which may be stopped, killed and wiped."""

import contextlib
import fcntl
import hashlib
import json
import os
import shutil
import signal
import sqlite3
import subprocess
import tempfile
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import IO

import pytest

from tests.jobs.brokers import free_port

ROOT = Path(__file__).resolve().parents[3]
INSIDE = Path(__file__).resolve().parent / "inside"
ANNOTATORS = 6
_SECRET_KEY = "a key for tests of Label Studio only, long enough to be one"


@dataclass(frozen=True)
class Person:
    """A user of the Label Studio: the first is its owner."""

    id: int
    email: str
    password: str
    token: str  # a legacy token
    personal_token: str  # a refresh token, from which access tokens are made


class LabelStudio:
    """A real server: gunicorn on SQLite, in a separate folder."""

    def __init__(self, venv: Path, folder: Path) -> None:
        self._venv = venv
        self.folder = folder
        self.port = free_port()
        self.url = f"http://127.0.0.1:{self.port}"
        self._template = _template(venv)
        self.users = [Person(**row) for row in json.loads((self._template / "people.json").read_text())]
        self._process: subprocess.Popen[bytes] | None = None
        self._log: IO[bytes] | None = None
        self._copy_database()

    @property
    def owner(self) -> Person:
        return self.users[0]

    @property
    def annotators(self) -> list[Person]:
        return self.users[1:]

    @property
    def database(self) -> Path:
        return self.folder / "label_studio.sqlite3"

    @property
    def running(self) -> bool:
        return self._process is not None

    def start(self) -> None:
        """Start the server, and return when it responds."""
        if self._process is not None:
            return
        gunicorn = [str(self._venv / "bin" / "python"), "-m", "gunicorn", "core.wsgi:application"]
        self._log = (self.folder / "log").open("ab")
        self._process = subprocess.Popen(
            [
                *(*gunicorn, "--bind", f"127.0.0.1:{self.port}", "--preload", "--timeout", "300"),
                *("--graceful-timeout", "1", "--keep-alive", "2"),
                *("--workers", "2", "--worker-class", "gthread", "--threads", "4"),
            ],
            cwd=self.folder,
            env=environment(self._venv, self.folder, url=self.url),
            stdout=self._log,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )
        end = time.monotonic() + 180
        while not self.answers():
            assert self._process.poll() is None, (self.folder / "log").read_text()[-4000:]
            assert time.monotonic() < end, "Label Studio did not start"
            time.sleep(0.1)

    def stop(self) -> None:
        """Stop it as an operator does."""
        self._end(signal.SIGTERM)

    def kill(self) -> None:
        """Kill it, as a power failure does."""
        self._end(signal.SIGKILL)

    def restart(self) -> None:
        self.stop()
        self.start()

    def reset_database(self) -> None:
        """Reset its database: the same people and tokens, and nothing else."""
        was_running = self.running
        self.stop()
        self._copy_database()
        if was_running:
            self.start()

    def execute(self, statement: str, *parameters: object) -> None:
        """Change its database directly."""
        with closing(sqlite3.connect(self.database, timeout=60)) as database, database:
            database.execute(statement, parameters)

    def rows(self, statement: str, *parameters: object) -> list[tuple[object, ...]]:
        with closing(sqlite3.connect(self.database, timeout=60)) as database:
            return database.execute(statement, parameters).fetchall()

    def answers(self) -> bool:
        try:
            with urllib.request.urlopen(f"{self.url}/health", timeout=5) as answer:
                return bool(answer.status == 200)
        except (OSError, urllib.error.HTTPError):
            return False

    def _end(self, how: signal.Signals) -> None:
        if self._process is None:
            return
        with contextlib.suppress(ProcessLookupError):
            if how is signal.SIGKILL:
                os.killpg(self._process.pid, how)
            else:
                self._process.send_signal(how)
        try:
            self._process.wait(timeout=60)
        except subprocess.TimeoutExpired:
            os.killpg(self._process.pid, signal.SIGKILL)
            self._process.wait()
        self._process = None
        if self._log is not None:
            self._log.close()
            self._log = None

    def _copy_database(self) -> None:
        for suffix in ("", "-wal", "-shm"):
            Path(f"{self.database}{suffix}").unlink(missing_ok=True)
        shutil.copy(self._template / "label_studio.sqlite3", self.database)


def environment(venv: Path, folder: Path, *, url: str) -> dict[str, str]:
    """Return Label Studio's environment: nothing of this process, no telemetry, and webhooks to loopback allowed."""
    package = next((venv / "lib").glob("python3*/site-packages/label_studio"))
    return {
        "PATH": os.environ["PATH"],
        "HOME": str(folder),
        "PYTHONPATH": f"{package}:{INSIDE}",
        "DJANGO_SETTINGS_MODULE": "stereoscope_test_settings",
        "DJANGO_DB": "sqlite",
        "LABEL_STUDIO_BASE_DATA_DIR": str(folder),
        "LABEL_STUDIO_HOST": url,
        "SECRET_KEY": _SECRET_KEY,
        "LABEL_STUDIO_ENABLE_LEGACY_API_TOKEN": "true",
        "SSRF_PROTECTION_ENABLED": "false",
        "USE_DEFAULT_BANNED_SUBNETS": "false",
        "COLLECT_ANALYTICS": "false",
        "LATEST_VERSION_CHECK": "false",
        "SENTRY_DSN": "",
        "FRONTEND_SENTRY_DSN": "",
        "LOG_LEVEL": "WARNING",
        "OMP_NUM_THREADS": "1",
    }


def _template(venv: Path) -> Path:
    """Return a folder with a database and its people, created once for each version of Label Studio."""
    installed = next((venv / "lib").glob("python3*/site-packages/label_studio-*.dist-info")).name
    scripts = b"".join(path.read_bytes() for path in sorted(INSIDE.glob("*.py")))
    key = hashlib.sha256(scripts + f"{installed} {ANNOTATORS} {_SECRET_KEY}".encode()).hexdigest()[:12]
    shelf = ROOT / "var" / "test" / "label-studio"
    shelf.mkdir(parents=True, exist_ok=True)
    made = shelf / f"{installed.removesuffix('.dist-info')}-{key}"
    # Of two concurrent test processes, the first creates it and the other waits.
    with (shelf / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not made.is_dir():
            with tempfile.TemporaryDirectory(dir=shelf) as folder:
                _make_template(venv, Path(folder))
                shutil.copytree(folder, made.with_suffix(".new"), dirs_exist_ok=True)
            made.with_suffix(".new").rename(made)
    return made


def _make_template(venv: Path, folder: Path) -> None:
    env = environment(venv, folder, url="http://127.0.0.1")
    python = str(venv / "bin" / "python")

    def run(*arguments: str, **other: str) -> str:
        done = subprocess.run(
            [python, *arguments], cwd=folder, env=env | other, capture_output=True, text=True, check=False
        )
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout

    run("-m", "django", "migrate", "--run-syncdb", "-v", "0", DJANGO_SETTINGS_MODULE="tables_from_models")
    people = run(str(INSIDE / "people.py"), str(ANNOTATORS)).rpartition("PEOPLE")[2]
    (folder / "people.json").write_text(people)
    with closing(sqlite3.connect(folder / "label_studio.sqlite3")) as database:
        database.execute("PRAGMA journal_mode=wal")  # readers and the writer do not wait for each other
        database.execute("PRAGMA wal_checkpoint(truncate)")


def installed_at() -> Path:
    """Return the environment in which Label Studio is installed, or skip with the reason."""
    venv = Path(os.environ.get("LABEL_STUDIO_VENV") or ROOT / "var" / "label-studio").resolve()
    if not any((venv / "lib").glob("python3*/site-packages/label_studio/core/wsgi.py")):
        pytest.skip(
            "Label Studio is not installed: make label-studio, or name its environment in LABEL_STUDIO_VENV"
        )
    if not any((venv / "lib").glob("python3*/site-packages/gunicorn")):
        pytest.skip(f"gunicorn is not installed in {venv}")
    return venv


@contextmanager
def label_studio_server() -> Iterator[LabelStudio]:
    """Start a server, or skip if Label Studio is not installed."""
    venv = installed_at()
    folder = Path(tempfile.mkdtemp(prefix="label-studio-"))
    server = LabelStudio(venv, folder)
    server.start()
    try:
        yield server
    finally:
        server.kill()
        shutil.rmtree(folder, ignore_errors=True)
