"""A benchmark's own database and a web server on it, started as docker/web.Dockerfile does."""

import json
import os
import signal
import socket
import subprocess
import sys
import time
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit, urlunsplit

import psycopg

ROOT = Path(__file__).resolve().parents[1]
LOCAL_POSTGRES = "postgresql://postgres@127.0.0.1/postgres"


@dataclass(frozen=True)
class Platform:
    """The platform's command line on a separate database."""

    database: str  # its name in the table
    environment: dict[str, str]
    root: Path = ROOT  # of its code

    def run(self, *arguments: str) -> str:
        """Run Python with `arguments` and return what it printed."""
        process = subprocess.run(
            [sys.executable, *arguments],
            cwd=self.root,
            env=self.environment,
            capture_output=True,
            text=True,
            check=False,
        )
        if process.returncode:
            raise RuntimeError(process.stderr)
        return process.stdout

    def shell(self, code: str) -> str:
        """Run code in Django's shell and return the last line it printed, if any."""
        return self.run("manage.py", "shell", "-v", "0", "-c", code).strip().rpartition("\n")[2]

    def campaign(self, *, tasks: int, annotators: int) -> dict[str, Any]:
        """Create a campaign; return its id and its annotators' keys."""
        return dict(self._ask(f"make(tasks={tasks}, annotators={annotators})"))

    def count(self, campaign: int) -> dict[str, int]:
        """Return the counts of a campaign's annotations."""
        return dict(self._ask(f"count({campaign})"))

    def _ask(self, called: str) -> Any:
        """Call a function of `annotation_campaign` in a separate process."""
        code = f"import json\nfrom benchmarks.annotation.small_campaign import *\nprint(json.dumps({called}))"
        return json.loads(self.shell(code))


@contextmanager
def platform(url: str, database: str, folder: Path, *, root: Path = ROOT) -> Iterator[Platform]:
    """Migrate the database `url` and yield the platform on it, with the code in `root`."""
    installation = Platform(
        database,
        os.environ
        | {
            "DATABASE_URL": url,
            "STEREOSCOPE_VAR": str(folder),
            "SECRET_KEY": uuid.uuid4().hex,
            "LOG_LEVEL": "ERROR",
            "PYTHONPATH": str(root),
        },
        root,
    )
    installation.run("manage.py", "migrate", "-v", "0")
    yield installation


def postgres_address() -> str | None:
    """Return the address of a reachable PostgreSQL server: DATABASE_URL, else this machine; None without."""
    address = os.environ.get("DATABASE_URL", LOCAL_POSTGRES)
    if not address.startswith("postgres"):
        return None
    try:
        psycopg.connect(_database(address, "postgres"), connect_timeout=3).close()
    except psycopg.OperationalError:
        return None
    return address


@contextmanager
def own_database(address: str, name: str) -> Iterator[str]:
    """Create the database `name` on a PostgreSQL server, yield its address, and drop it."""
    with psycopg.connect(_database(address, "postgres"), autocommit=True) as server:
        server.execute(f'CREATE DATABASE "{name}"')
        try:
            yield _database(address, name)
        finally:
            server.execute(f'DROP DATABASE "{name}" WITH (FORCE)')


@contextmanager
def serving(installation: Platform, folder: Path) -> Iterator["Server"]:
    """Run gunicorn with the options of docker/web.Dockerfile on a free port of this machine."""
    port = free_port()
    command = _docker_command()
    command[command.index("--bind") + 1] = f"127.0.0.1:{port}"
    with (folder / "server.log").open("wb") as log:
        process = subprocess.Popen(
            [sys.executable, *command[1:], "--log-level", "error", "--no-control-socket"],
            cwd=installation.root,
            env=installation.environment,
            stdout=log,
            stderr=log,
            start_new_session=True,  # so that the process group can be killed
        )
        try:
            _wait_for(port)
            yield Server(port, process.pid, installation.environment["DATABASE_URL"])
        finally:
            process.terminate()
            try:
                process.wait(timeout=30)
            except subprocess.TimeoutExpired:
                os.killpg(process.pid, signal.SIGKILL)
                process.wait()


@dataclass(frozen=True)
class Server:
    """A running web server, with the processor time of its processes and of its database."""

    port: int
    pid: int
    url: str

    def web_seconds(self) -> float:
        """Return the processor time of gunicorn's workers."""
        return sum(map(processor_seconds, children(self.pid)))

    def database_seconds(self) -> float:
        """Return the processor time of PostgreSQL's processes for this database, 0 if they are not visible."""
        if not self.url.startswith("postgres"):
            return 0.0
        with psycopg.connect(self.url) as connection:
            query = "SELECT pid FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()"
            return sum(processor_seconds(pid) for (pid,) in connection.execute(query).fetchall())


def children(pid: int) -> list[int]:
    """Return the child processes of a process."""
    return [int(child) for child in Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]


def processor_seconds(pid: int) -> float:
    """Return the processor time of a process, 0 if it does not exist (any more)."""
    try:
        fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    except OSError:
        return 0.0
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def free_port() -> int:
    """Return a free port of this machine."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        return int(free.getsockname()[1])


def _docker_command() -> list[str]:
    lines = (ROOT / "docker" / "web.Dockerfile").read_text().splitlines()
    return list(json.loads(next(line for line in lines if line.startswith("CMD ")).removeprefix("CMD ")))


def _wait_for(port: int) -> None:
    for _ in range(300):
        try:
            socket.create_connection(("127.0.0.1", port), timeout=1).close()
        except OSError:
            time.sleep(0.1)
        else:
            return
    raise RuntimeError("the server did not start within 30 seconds")


def _database(address: str, name: str) -> str:
    return urlunsplit(urlsplit(address)._replace(path=f"/{name}"))
