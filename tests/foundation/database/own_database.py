"""A separate database for tests that start other processes, which cannot see the test's transaction."""

import json
import os
import shutil
import sqlite3
import subprocess
import sys
import time
import uuid
from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import psycopg

from tests.foundation.database.migrated import migrated_database
from tests.foundation.database.postgres import on_postgres, postgres_url, run_on_server
from tests.foundation.database.shell import PlatformShell

ROOT = Path(__file__).resolve().parents[3]
# System checks take half of a command's start, and `make lint` runs them, so commands skip them. These have none.
WITHOUT_CHECKS = {"check", "migrate", "shell"}
# A worker starts as in production: it handles signals only after all imports.
AS_OPERATED = {"worker"}
WITH_COLLECTOR = {"SENTRY_DSN", "OTEL_EXPORTER_OTLP_ENDPOINT"}


@dataclass(frozen=True)
class Server:
    """The platform with a separate database and folder; `run` and `start` are its command line."""

    env: dict[str, str]
    shell: PlatformShell | None = None

    def run(self, *arguments: str, check: bool = True, **env: str) -> subprocess.CompletedProcess[str]:
        done = subprocess.run(
            self._command(arguments),
            cwd=ROOT,
            env={**self.env, **env},
            capture_output=True,
            text=True,
            timeout=300,
        )
        if check and done.returncode:
            raise AssertionError(f"{arguments} ended with {done.returncode}: {done.stdout}{done.stderr}")
        return done

    @contextmanager
    def start(self, *arguments: str, **env: str) -> Iterator["subprocess.Popen[str]"]:
        """Start a process that is killed at the latest when the block ends."""
        process = subprocess.Popen(
            self._command(arguments),
            cwd=ROOT,
            env={**self.env, **env},
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )
        try:
            yield process
        finally:
            process.kill()
            process.communicate()

    def ask(self, code: str) -> Any:
        """Run Python in the platform and return the value of its variable `answer`."""
        models = "".join(f"from {app}.models import *\n" for app in ("jobs", "studies", "generation"))
        if self.shell is not None:
            return self.shell.ask(models + code)
        done = self.run(
            "shell", "-v", "0", "-c", f"import json\n{models}{code}\nprint('ANSWER' + json.dumps(answer))"
        )
        return json.loads(done.stdout.rpartition("ANSWER")[2])

    def bring_back_jobs(self) -> None:
        """Wait until the leases of dead workers expire, then sweep, as the timer does."""
        now = "datetime('now')" if self.env["DATABASE_URL"].startswith("sqlite") else "now()"
        held = f"SELECT 1 FROM jobs_job WHERE state = 'running' AND lease_expires_at > {now}"
        end = time.monotonic() + 60
        while self.rows(held):
            assert time.monotonic() < end, "a worker renews its lease"
            time.sleep(0.1)
        self.run("sweep_jobs")

    def rows(self, statement: str) -> list[tuple[Any, ...]]:
        """Read from the database directly, which is fast enough for polling."""
        if self.env["DATABASE_URL"].startswith("sqlite"):
            with closing(
                sqlite3.connect(self.env["DATABASE_URL"].removeprefix("sqlite:///"), timeout=30)
            ) as database:
                return database.execute(statement).fetchall()
        with psycopg.connect(self.env["DATABASE_URL"]) as connection:
            return connection.execute(statement).fetchall()

    def _command(self, arguments: tuple[str, ...]) -> list[str]:
        unchecked = [] if arguments[0] in WITHOUT_CHECKS | AS_OPERATED else ["--skip-checks"]
        return [sys.executable, "manage.py", *arguments, *unchecked]


@contextmanager
def own_server(folder: Path, **env: str) -> Iterator[Server]:
    """Create an empty database with all tables, on the engine of the tests, and drop it afterwards."""
    template = migrated_database()
    if on_postgres():
        name = f"own_{uuid.uuid4().hex[:12]}"
        run_on_server(f'CREATE DATABASE "{name}" TEMPLATE "{template}"')
        run_on_server(f'ALTER DATABASE "{name}" SET synchronous_commit = off')
        url = postgres_url(name)
    else:
        url = f"sqlite:///{shutil.copy(template, folder / 'own.sqlite3')}"
    server = platform_on(url, folder, **env)
    shell = PlatformShell(ROOT, server.env)
    try:
        # A fork would lack the threads with which a collector's library sends events.
        yield server if WITH_COLLECTOR & env.keys() else replace(server, shell=shell)
    finally:
        shell.close()
        if on_postgres():
            run_on_server(f'DROP DATABASE "{name}" WITH (FORCE)')


def platform_on(url: str, folder: Path, **env: str) -> Server:
    """Return the platform on an existing database."""
    return Server(
        {
            "PATH": os.environ["PATH"],
            "STEREOSCOPE_VAR": str(folder / "var"),
            "DATABASE_URL": url,
            "SECRET_KEY": "a key for tests only, long enough to be one",
            **env,
        }
    )
