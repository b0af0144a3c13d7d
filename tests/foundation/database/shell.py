"""A process of the platform that runs Python code: each piece in a fork, which saves the second of a start."""

import json
import select
import subprocess
import sys
from collections.abc import Sequence
from contextlib import closing
from pathlib import Path
from threading import Lock
from typing import Any

PATIENCE_SECONDS = 300
# Read by `manage.py shell`, whose namespace has all models. Printed output is not part of an answer.
_ANSWERING = """
import json, os, sys, traceback
from django.db import connections

answers = os.fdopen(os.dup(1), "w")
os.dup2(2, 1)
for line in sys.stdin:
    connections.close_all()
    if not (fork := os.fork()):
        try:
            names = dict(globals())
            exec(json.loads(line), names)
            answer = json.dumps({"answer": names["answer"]})
            connections.close_all()
        except BaseException:
            answer = json.dumps({"trouble": traceback.format_exc()})
        print(answer, file=answers, flush=True)
        os._exit(0)
    if status := os.waitpid(fork, 0)[1]:
        print(json.dumps({"trouble": f"ended with {status}"}), file=answers, flush=True)
"""


class PlatformShell:
    """Starts with the first question and ends with `close`."""

    def __init__(self, folder: Path, env: dict[str, str]) -> None:
        self._folder, self._env = folder, env
        self._process: subprocess.Popen[str] | None = None
        self._one_at_a_time = Lock()

    def ask(self, code: str) -> Any:
        """Run Python in the platform and return the value of its variable `answer`.

        A question that arrives while another one is being answered gets a separate process.
        """
        if not self._one_at_a_time.acquire(blocking=False):
            with closing(PlatformShell(self._folder, self._env)) as another:
                return another.ask(code)
        try:
            process = self._process = self._process or self._start()
            assert process.stdin is not None
            assert process.stdout is not None
            process.stdin.write(json.dumps(code) + "\n")
            process.stdin.flush()
            ready, _, _ = select.select([process.stdout], [], [], PATIENCE_SECONDS)
            assert ready, f"no answer within {PATIENCE_SECONDS} seconds: {code}"
            said = json.loads(process.stdout.readline() or '{"trouble": "the process ended"}')
        finally:
            self._one_at_a_time.release()
        if "trouble" in said:
            raise AssertionError(f"{code}\n{said['trouble']}")
        return said["answer"]

    def _start(self) -> "subprocess.Popen[str]":
        command: Sequence[str] = [sys.executable, "manage.py", "shell", "-v", "0", "-c", _ANSWERING]
        pipe = subprocess.PIPE
        return subprocess.Popen(command, cwd=self._folder, env=self._env, stdin=pipe, stdout=pipe, text=True)

    def close(self) -> None:
        if self._process is not None:
            self._process.kill()
            self._process.communicate()
            self._process = None
