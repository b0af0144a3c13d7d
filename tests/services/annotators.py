"""A web server with two workers, annotators who send each answer until it is acknowledged, and the stored answers."""

import http.client
import json
import os
import random
import signal
import socket
import subprocess
import sys
import threading
import time
import uuid
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tests.foundation.database.own_database import ROOT, Server

# Longer waits mean a hang, even on a busy machine.
PATIENCE = 240.0
# Annotators pause up to this many seconds, so that a campaign lasts through several kills.
THINKING = 0.25
KEPT = """
from annotation.models import Annotation, Assignment, Task
tasks = Task.objects.filter(campaign={campaign}, purpose="label")
count = lambda rows: dict(__import__("collections").Counter(rows))
accepted = count(Annotation.objects.filter(
    campaign={campaign}, is_latest=True, status="accepted").values_list("task_id", flat=True))
slots = {{}}
for task, slot in Assignment.objects.filter(task__in=tasks, slot__isnull=False).values_list("task_id", "slot"):
    slots.setdefault(task, []).append(slot)
answer = {{
    "annotations": [[str(one), pk] for one, pk in Annotation.objects.filter(
        campaign={campaign}).values_list("submission_id", "pk")],
    "statuses": count(Annotation.objects.filter(campaign={campaign}).values_list("status", flat=True)),
    "leased": Assignment.objects.filter(task__campaign={campaign}, state="leased").count(),
    "tasks": [[t.wanted, t.held, accepted.get(t.pk, 0), sorted(slots.get(t.pk, []))] for t in tasks],
}}
"""


class WebServer:
    """gunicorn in a separate process group, so that all its processes can be killed at once."""

    def __init__(self, env: dict[str, str], log: Path) -> None:
        self.env, self.log = env, log
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            self.port = free.getsockname()[1]
        self.process: subprocess.Popen[bytes] | None = None

    def start(self) -> None:
        command = ["-m", "gunicorn", "config.wsgi", "--pythonpath", "platform", "--workers", "2"]
        # As shipped: a proxy keeps connections open for 50 seconds, so the server must keep them longer.
        options = ["--threads", "4", "--keep-alive", "60", "--bind", f"127.0.0.1:{self.port}"]
        options += ["--preload", "--no-control-socket"]
        with self.log.open("ab") as log:
            self.process = subprocess.Popen(
                [sys.executable, *command, *options],
                cwd=ROOT,
                env=self.env,
                stdout=log,
                stderr=log,
                start_new_session=True,
            )

    def workers(self) -> list[int]:
        assert self.process is not None
        children = Path(f"/proc/{self.process.pid}/task/{self.process.pid}/children")
        return [int(one) for one in children.read_text().split()]

    def kill_worker(self) -> None:
        """Kill one of the workers; if none is running yet after earlier kills, wait for one."""
        end = time.monotonic() + PATIENCE
        while not (workers := self.workers()):
            assert time.monotonic() < end, "gunicorn starts no worker"
            time.sleep(0.05)
        os.kill(random.choice(workers), signal.SIGKILL)

    def kill(self) -> None:
        if self.process is not None:
            os.killpg(self.process.pid, signal.SIGKILL)
            self.process.wait()
            self.process = None

    def get(self, path: str) -> int:
        """Return the status of a response, 0 if there is none."""
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=30)
        try:
            connection.request("GET", path)
            return connection.getresponse().status
        except (OSError, http.client.HTTPException):
            return 0
        finally:
            connection.close()


@contextmanager
def web_server(server: Server, folder: Path) -> Iterator[WebServer]:
    """Run the server until the block ends, even with an exception."""
    web = WebServer(server.env, folder / "gunicorn.log")
    web.start()
    try:
        wait_until(lambda: web.get("/healthz") == 200)
        yield web
    finally:
        web.kill()


def wait_until(condition: Callable[[], bool]) -> None:
    end = time.monotonic() + PATIENCE
    while not condition():
        assert time.monotonic() < end, f"waited longer than {PATIENCE:.0f} seconds"
        time.sleep(0.05)


@dataclass
class Seen:
    """The observations of all annotators."""

    acknowledged: list[tuple[str, int]] = field(default_factory=list)  # submission id, annotation
    troubles: Counter[str] = field(default_factory=Counter)  # reasons for sending again
    refusals: list[str] = field(default_factory=list)  # errors that repetition would not help


class Annotators:
    """Threads that label a campaign; like the page, they repeat requests after lost connections, 5xx and 429."""

    def __init__(self, port: int, made: dict[str, Any]) -> None:
        self.port, self.campaign, self.seen = port, made["campaign"], Seen()
        self.end = time.monotonic() + PATIENCE
        self.threads = [
            threading.Thread(target=self._label, args=(key,), daemon=True) for key in made["keys"]
        ]
        for thread in self.threads:
            thread.start()

    def at_work(self) -> bool:
        return any(thread.is_alive() for thread in self.threads)

    def acknowledged(self) -> int:
        return len(self.seen.acknowledged)

    def _label(self, key: str) -> None:
        client = _Client(self.port, key, self)
        try:
            self._label_all(client)
        finally:
            client.connection.close()

    def _label_all(self, client: "_Client") -> None:
        task = client.post(f"/api/v1/campaigns/{self.campaign}/next", {})
        while task:
            refs = [one["ref"] for one in task["attributes"]]
            box = {"attribute": refs[0], "x": 0.1, "y": 0.2, "width": 0.3, "height": 0.4}
            answer = {"ticked": refs[:1], "boxes": [box], "none_of_the_above": False}
            sent = {"submission_id": str(uuid.uuid4()), "answer": answer, "active_seconds": 0.1}
            saved = client.post(f"/api/v1/assignments/{task['assignment']}/submit", sent)
            if saved is None:
                return
            self.seen.acknowledged.append((saved["submission_id"], saved["annotation"]))
            if saved["status"] != "accepted":  # a gold task looks the same, even after repeats
                self.seen.refusals.append(saved["status"])
            task = saved["next"]
            if task is None and saved["why"] != "nothing_left":
                self.seen.refusals.append(saved["why"])
            time.sleep(random.uniform(0, THINKING))


class _Client:
    """One connection, reopened when it is lost."""

    def __init__(self, port: int, key: str, annotators: Annotators) -> None:
        self.connection = http.client.HTTPConnection("127.0.0.1", port, timeout=60)
        self.headers = {"Authorization": f"Bearer {key}", "Content-Type": "application/json"}
        self.annotators = annotators

    def post(self, path: str, body: object) -> Any:
        """Return the server's final response; None if it refused or has nothing."""
        seen = self.annotators.seen
        while time.monotonic() < self.annotators.end:
            try:
                self.connection.request("POST", path, json.dumps(body), self.headers)
                response = self.connection.getresponse()
                content = response.read()
            except (OSError, http.client.HTTPException):
                self.connection.close()
                seen.troubles["no answer"] += 1
            else:
                if response.status == 200:
                    return json.loads(content)
                if response.status == 204:
                    return None
                if response.status < 500 and response.status != 429:
                    seen.refusals.append(f"{response.status}: {content[:300]!r}")
                    return None
                seen.troubles[str(response.status)] += 1
            time.sleep(random.uniform(0.05, 0.3))
        seen.refusals.append("no answer in time")
        return None


def campaign(server: Server, *, tasks: int, annotators: int = 8) -> dict[str, Any]:
    """Create an open campaign with a quota rule and gold tasks; return its id and the annotators' keys."""
    made: dict[str, Any] = server.ask(
        "from benchmarks.annotation.small_campaign import make\n"
        f"answer = make(tasks={tasks}, annotators={annotators})"
    )
    return made


def check(server: Server, made: dict[str, Any], seen: Seen, *, tasks: int) -> None:
    """Check that every acknowledged answer exists exactly once, and that every task has exactly the wanted answers."""
    kept = server.ask(KEPT.format(campaign=made["campaign"]))
    assert seen.refusals == []
    assert sorted(map(tuple, kept["annotations"])) == sorted(seen.acknowledged)
    assert kept["leased"] == 0
    assert kept["tasks"] == [[3, 3, 3, [0, 1, 2]]] * tasks
    assert kept["statuses"].pop("accepted") == 3 * tasks
    assert kept["statuses"].keys() <= {"gold"}
