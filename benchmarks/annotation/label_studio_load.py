"""Label Studio on the same machine and the same PostgreSQL, measured by scripts outside this repository.

LABEL_STUDIO_BENCH names their folder (default: shared/bench/label_studio beside the checkout), LABEL_STUDIO_VENV a
virtual environment with label-studio and gunicorn (default: var/label-studio, which `make label-studio` creates). The
page is only measured if that folder also has node_modules with puppeteer-core.
"""

import json
import os
import shutil
import signal
import statistics
import subprocess
import tempfile
import time
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import psycopg

from benchmarks.annotation import screen
from benchmarks.annotation.closed_loop import Load
from benchmarks.table import Row
from benchmarks.web_server import ROOT, free_port, own_database

TIMES_FASTER = 10.0
TASKS, TASKS_TO_EMPTY, WANTED = 2000, 150, 3
DATABASE = "ls"  # hard-coded in the scripts
MARK = "made by a benchmark of Stereoscope"
PATIENCE = 300.0  # timeout of each script


class NotMeasured(Exception):
    """The reason why Label Studio is not measured, as text for the table."""


def rows(address: str, our_loads: dict[int, Load], surplus: int, *, seconds: float) -> Iterable[Row]:
    """Measure Label Studio and compare it with our measurements, or yield the reason why not."""
    try:
        with _running(address) as server:
            yield from _closed_loops(server, our_loads, seconds)
            yield _to_empty(server, surplus)
            yield from _page(server)
    except (NotMeasured, OSError, psycopg.Error, subprocess.SubprocessError, ValueError, KeyError) as reason:
        yield Row(f"Label Studio: not measured: {reason}"[:300], "", "beside ours", None)


def _closed_loops(server: "_LabelStudio", our_loads: dict[int, Load], seconds: float) -> Iterator[Row]:
    for number, our_load in our_loads.items():
        their_load = server.load(server.project(TASKS), number, seconds)
        title = f"{number} annotator{'s' * (number > 1)}, PostgreSQL"
        times = our_load.rate / their_load["per_s"] if their_load["per_s"] else float("inf")
        p95 = their_load["submit"].get("p95_ms", float("nan"))
        yield Row(
            f"submissions, Label Studio beside ours, {title}",
            f"{their_load['per_s']:.1f}/s : {our_load.rate:.0f}/s",
            "",
            True,
        )
        yield Row(
            "  times faster",
            f"{times:.1f} ×",
            f"≥ {TIMES_FASTER:.0f} ×" if number > 1 else "",
            number == 1 or times >= TIMES_FASTER,
        )
        yield Row(
            "  submit p95 (theirs without the next task)",
            f"{p95:.0f} ms : {our_load.p95_ms:.0f} ms",
            "",
            True,
        )


def _to_empty(server: "_LabelStudio", surplus: int) -> Row:
    their_load = server.load(server.project(TASKS_TO_EMPTY), 32, 60)
    return Row(
        f"labels too many, {TASKS_TO_EMPTY} tasks × {WANTED} by 32, Label Studio beside ours",
        f"{their_load['surplus_annotations']} : {surplus}",
        ": 0",
        surplus == 0,
    )


def _page(server: "_LabelStudio") -> Iterator[Row]:
    modules = server.venv / "node_modules" / "puppeteer-core"
    browser = shutil.which(os.environ.get("STEREOSCOPE_CHROMIUM", "chromium"))
    if not (modules.is_dir() and browser and shutil.which("node")):
        missing = "not measured: no node, chromium or puppeteer-core"
        yield Row(f"labelling page, Label Studio: {missing}", "", "beside ours", None)
        return
    their_page = server.page(server.project(100), browser)
    cold = max(sum(kind["wire_kB"] for kind in load["traffic"].values()) for load in their_page["cold"])
    our_page = screen.measure()
    yield Row(
        "labelling page, transferred cold, Label Studio beside ours",
        f"{cold:,.0f} kB : {max(our_page.cold_bytes) / 1000:,.0f} kB" if our_page else f"{cold:,.0f} kB",
        "",
        True,
    )
    median = their_page["submit_median_ms"]
    yield Row(
        "  Submit → next picture painted, median",
        f"{median:.0f} ms : {statistics.median(our_page.submitted):.0f} ms"
        if our_page
        else f"{median:.0f} ms",
        "",
        True,
    )


@dataclass(frozen=True)
class _LabelStudio:
    """A running Label Studio, and the scripts that measure it."""

    scripts: Path
    venv: Path
    folder: Path
    environment: dict[str, str]

    @property
    def base(self) -> str:
        return f"http://127.0.0.1:{self.environment['PORT']}"

    @property
    def users(self) -> str:
        return str(self.folder / "users_postgres.json")

    def serve(self, verb: str) -> None:
        self._run("bash", str(self.scripts / "serve.sh"), verb)

    def project(self, tasks: int) -> int:
        """Create a project whose tasks need three annotations each; return its number."""
        images = self.folder / "images" / "set"
        if not images.is_dir():
            self._python("make_images.py", str(images))  # 200, as its tasks name them
        options = ["--base", self.base, "--users", self.users, "--images", str(images), "--tasks", str(tasks)]
        return int(self._python("setup_project.py", *options).split()[-1])

    def load(self, project: int, number: int, seconds: float) -> dict[str, Any]:
        options = ["--base", self.base, "--users", self.users, "--project", str(project), "-n", str(number)]
        return dict(json.loads(self._python("load.py", *options, "--seconds", str(seconds))))

    def page(self, project: int, browser: str) -> dict[str, Any]:
        script = ["node", str(self.scripts / "page.mjs"), "--base", self.base, "--users", self.users]
        options = ["--project", str(project), "--chromium", browser, "--modules", str(self.venv)]
        profile = ["--profile", str(self.folder / "profile")]
        return dict(json.loads(self._run(*script, *options, *profile)))

    def _python(self, script: str, *arguments: str) -> str:
        return self._run(str(self.venv / "bin" / "python"), str(self.scripts / script), *arguments)

    def _run(self, *command: str) -> str:
        process = subprocess.run(
            command,
            env=self.environment,
            capture_output=True,
            text=True,
            timeout=PATIENCE,
            check=False,
            stdin=subprocess.DEVNULL,
        )
        if process.returncode:
            last_line = (process.stderr.strip() or "no message").splitlines()[-1]
            raise NotMeasured(f"{Path(command[1]).name} failed: {last_line[:120]}")
        return process.stdout


@contextmanager
def _running(address: str) -> Iterator[_LabelStudio]:
    scripts = _folder(
        "LABEL_STUDIO_BENCH", ROOT.parent / "shared" / "bench" / "label_studio", holding="serve.sh"
    )
    venv = _folder("LABEL_STUDIO_VENV", ROOT / "var" / "label-studio", holding="bin/label-studio")
    server = urlsplit(address)
    if server.hostname not in ("127.0.0.1", "localhost") or server.username != "postgres" or server.password:
        raise NotMeasured("its scripts need PostgreSQL on this machine, user postgres without password")
    _drop_what_a_killed_run_left(address)
    with tempfile.TemporaryDirectory() as folder, own_database(address, DATABASE) as database:
        with psycopg.connect(database, autocommit=True) as connection:
            connection.execute(f"COMMENT ON DATABASE {DATABASE} IS '{MARK}'")
        environment = {"LS_VENV": str(venv), "BENCH_DIR": folder, "DB": "postgres", "USERS": "32"}
        environment |= {"PGPORT": str(server.port or 5432), "PORT": str(free_port())}
        our_variables = {"DATABASE_URL", "DJANGO_SETTINGS_MODULE", "PYTHONPATH", "SECRET_KEY"}
        inherited = {name: value for name, value in os.environ.items() if name not in our_variables}
        running = _LabelStudio(scripts, venv, Path(folder), inherited | environment)
        running.serve("init")
        try:
            running.serve("start")
            yield running
        finally:
            _stop(Path(folder) / "gunicorn_postgres.pid")


def _folder(variable: str, default: Path, *, holding: str) -> Path:
    folder = Path(os.environ.get(variable, default)).resolve()
    if not (folder / holding).exists():
        raise NotMeasured(f"no {holding} in {variable}")
    return folder


def _drop_what_a_killed_run_left(address: str) -> None:
    """Drop the database of a killed run; a database that others created stays, and nothing is measured."""
    with psycopg.connect(address, autocommit=True) as server:
        query = "SELECT shobj_description(oid, 'pg_database') FROM pg_database WHERE datname = %s"
        comment = server.execute(query, [DATABASE]).fetchone()
        if comment == (MARK,):
            server.execute(f'DROP DATABASE "{DATABASE}" WITH (FORCE)')
        elif comment is not None:
            raise NotMeasured(f"a database named {DATABASE!r} exists already")


def _stop(pidfile: Path) -> None:
    if not pidfile.exists():
        return
    pid = int(pidfile.read_text())
    os.kill(pid, signal.SIGTERM)
    for _ in range(100):
        if not pidfile.exists():
            return
        time.sleep(0.1)
    os.kill(pid, signal.SIGKILL)
