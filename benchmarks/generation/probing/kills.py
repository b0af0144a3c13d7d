"""A run of 5,000 questions whose worker is killed after each second of work: repeated, stored and paid requests.

Two workers are ready. The one that asks is killed (SIGKILL) a second after it began; the other takes over when
the lease expires, and a new one is started. The endpoint is a separate process that counts requests. The
first budget covers 60 % of the run, so that it ends the run once; a second budget lets it continue.
"""

import subprocess
import sys
import tempfile
import time
import uuid
from collections.abc import Iterator
from contextlib import ExitStack, closing
from dataclasses import dataclass, field
from decimal import Decimal
from pathlib import Path
from typing import Any

import psycopg

from benchmarks.generation.probing.chat_server import TOKENS, ChatServer, chat_server
from benchmarks.generation.probing.words_study import ANSWERS_IN_A_RUN, PROBE_SET, STUDY
from benchmarks.table import Row
from benchmarks.web_server import ROOT, Platform, own_database, platform, postgres_address

REQUESTS, AT_ONCE, SECONDS = 5_000, 32, 0.02
# A few more requests than are running are paid in advance.
LOST_AT_MOST = AT_ONCE + AT_ONCE // 4
PRICE = 100  # per million tokens
REPLY = Decimal(sum(TOKENS) * PRICE) / 1_000_000
_PATIENCE = 600.0
_ANSWERED = "SELECT text FROM generation_answer WHERE outcome = 'done'"
_STORED = "SELECT count(*) FROM generation_answer WHERE outcome = 'done'"
_SPENT = "SELECT COALESCE(SUM(CAST(ROUND(cost * 100000000) AS BIGINT)), 0) FROM generation_answer"
_JOB = "SELECT state, error_code, attempts FROM jobs_job ORDER BY id DESC LIMIT 1"


def run() -> Iterator[Row]:
    """Kill the workers of a run on PostgreSQL, or on SQLite if there is none."""
    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        url, name = f"sqlite:///{folder}/killed.sqlite3", "SQLite"
        if (address := postgres_address()) is not None:
            url = stack.enter_context(own_database(address, f"bench_killed_{uuid.uuid4().hex[:8]}"))
            name = "PostgreSQL"
        installation = stack.enter_context(platform(url, name, folder))
        server = stack.enter_context(chat_server(SECONDS))
        installation.environment.update(
            {
                "OPENAI_BASE_URLS": server.url,
                "OPENAI_API_KEY": "",
                "OPENAI_CHATS_AT_ONCE": str(AT_ONCE),
                "JOB_LEASE_SECONDS": "2",
                "JOB_BACKOFF_SECONDS": "0",
                "JOB_MAX_ATTEMPTS": "1000",
            }
        )
        installation.environment.pop("CELERY_BROKER_URL", None)
        (folder / "words.toml").write_text(PROBE_SET)
        installation.shell(STUDY)
        killed = KilledRun(installation, server, folder / "words.toml")
        with closing(killed):
            killed.ask(budget=REPLY * REQUESTS * Decimal("0.6"))
            killed.ask(budget=REPLY * REQUESTS * 4)
        yield from _rows(killed)


def _rows(killed: "KilledRun") -> Iterator[Row]:
    counts = killed.server.counts().requests
    texts = [text for (text,) in killed.rows(_ANSWERED)]
    missing, doubled = REQUESTS - len(set(texts)), len(texts) - len(set(texts))
    claim = f"probe, {REQUESTS:,} requests, killed {killed.kills} times; {killed.installation.database}"
    yield Row(
        f"{claim}: missing, doubled, answered and asked again",
        f"{missing}, {doubled}, {killed.asked_again}",
        "0, 0, 0",
        (missing, doubled, killed.asked_again) == (0, 0, 0) and len(counts) == REQUESTS,
    )
    repeated = sum(counts.values()) - len(counts)
    most_lost = killed.kills * LOST_AT_MOST
    yield Row(
        f"{claim}: requests that were under way when a worker was killed and are asked again",
        f"{repeated:,}",
        f"≤ {most_lost:,}",
        repeated <= most_lost,
    )
    paid_once = killed.rows(f"SELECT count(*) FROM generation_answer WHERE cost < {REPLY} * 1.000001")[0][0]
    yield Row(
        f"{claim}: answers paid once; the others were under way when a worker was killed",
        f"{paid_once:,}",
        f"≥ {REQUESTS - most_lost:,}",
        paid_once >= REQUESTS - most_lost,
    )
    yield Row(
        f"{claim}: most spent, of its budget",
        f"{killed.most_spent:.1%}",
        "≤ 100 %",
        killed.most_spent <= 1 and killed.stopped_by_budget,
    )


@dataclass
class KilledRun:
    """A run, its workers, and the observations at each kill."""

    installation: Platform
    server: ChatServer
    file: Path
    kills: int = 0
    asked_again: int = 0
    most_spent: Decimal = Decimal(0)
    stopped_by_budget: bool = False
    workers: list["subprocess.Popen[bytes]"] = field(default_factory=list)

    def ask(self, *, budget: Decimal) -> None:
        """Ask until the job ends, and kill the asking worker a second after it began."""
        self.installation.run("manage.py", *self._options(budget))
        attempts, stored, began = 0, 0, time.monotonic()
        answered: dict[str, int] = {}
        end = time.monotonic() + _PATIENCE
        while time.monotonic() < end:
            self._keep_two()
            ((state, error, attempt),) = self.rows(_JOB)
            if state in ("succeeded", "failed"):
                self.stopped_by_budget |= error == "budget_spent"
                self._look(answered, budget)
                return
            if attempt != attempts:
                attempts, began = attempt, time.monotonic()
                stored = self._stored()
            working = state == "running" and self._stored() > stored
            if not working:
                began = time.monotonic()
            elif time.monotonic() - began >= 1:
                self._kill_one()
                self._look(answered, budget)
                stored = REQUESTS  # until another worker has taken over
            time.sleep(0.1)
        raise RuntimeError(f"the run did not end in {_PATIENCE:.0f} s")

    def rows(self, statement: str) -> list[tuple[Any, ...]]:
        """Query the database."""
        url = self.installation.environment["DATABASE_URL"]
        if url.startswith("sqlite"):
            import sqlite3

            with closing(sqlite3.connect(url.removeprefix("sqlite:///"), timeout=30)) as database:
                return database.execute(statement).fetchall()
        with psycopg.connect(url) as connection:
            return connection.execute(statement.encode()).fetchall()

    def close(self) -> None:
        for process in self.workers:
            process.kill()
            process.wait()

    def _stored(self) -> int:
        return int(self.rows(_STORED)[0][0])

    def _options(self, budget: Decimal) -> list[str]:
        runs = REQUESTS // ANSWERS_IN_A_RUN
        options = {
            "study": "isles",
            "probe-set": self.file,
            "backend": "chat",
            "model": "talker",
            "runs": runs,
            "price-in": PRICE,
            "price-out": PRICE,
            "budget": budget.quantize(Decimal("0.01")),
        }
        return [
            "probe",
            *(part for name, value in options.items() for part in (f"--{name}", str(value))),
            "--queue",
        ]

    def _keep_two(self) -> None:
        self.workers = [process for process in self.workers if process.poll() is None]
        while len(self.workers) < 2:
            command = [sys.executable, "manage.py", "worker", "-v", "0", "--interval", "0.1"]
            self.workers.append(
                subprocess.Popen(
                    command,
                    cwd=ROOT,
                    env=self.installation.environment,
                    stdout=subprocess.DEVNULL,
                    stderr=subprocess.DEVNULL,
                )
            )

    def _kill_one(self) -> None:
        """Kill the worker that asks."""
        ((holder,),) = self.rows("SELECT worker FROM jobs_job ORDER BY id DESC LIMIT 1")
        for process in self.workers:
            if holder.split(":")[1:2] == [str(process.pid)]:
                process.kill()
                process.wait()
                self.kills += 1
                return

    def _look(self, answered: dict[str, int], budget: Decimal) -> None:
        """Count repeated requests whose answers were stored, and record the money spent."""
        time.sleep(2 * SECONDS)  # until running requests reach the endpoint
        counts = {key[-40:]: number for key, number in self.server.counts().requests.items()}
        self.asked_again += sum(counts[key] > number for key, number in answered.items())
        answered.clear()
        answered.update({text[1:-1]: counts[text[1:-1]] for (text,) in self.rows(_ANSWERED)})
        ((spent,),) = self.rows(_SPENT)
        self.most_spent = max(self.most_spent, Decimal(int(spent)) / 100_000_000 / budget)
