"""Long random walks of people and leads through campaigns, ten times as many as in the tests, each with its own seed.

    python -m benchmarks walks        (make bench)

After every step the database must agree with a simple model of leases, quotas, checks and corrections. The tests walk
by calling functions and over HTTP, through campaigns of attributes and of questions. Some minutes on two cores.
"""

import os
import subprocess
import sys
from collections.abc import Iterable
from pathlib import Path

from benchmarks.table import Row

ROOT = Path(__file__).resolve().parents[2]
TESTS = "tests/annotation/assignment/test_state_machine.py"
WALKS = 40  # and twice as many short sequences, each in four ways


def run() -> Iterable[Row]:
    command = [sys.executable, "-m", "pytest", "-q", "-n", str(os.cpu_count() or 1), TESTS]
    environment = {**os.environ, "LABELLING_WALKS": str(WALKS)}
    tests = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, check=False)
    passed = tests.returncode == 0
    last_line = (tests.stdout.strip().splitlines() or ["no tests were run"])[-1]
    yield Row(
        f"{WALKS} walks and {2 * WALKS} sequences in four ways keep every promise",
        "all" if passed else last_line[:24],
        "all",
        passed,
    )
