"""The end of `make test` names the failures of each round in few lines."""

import subprocess
import sys
from pathlib import Path

import pytest

from tests.project.run.failures import Failure, read, summary

ROOT = Path(__file__).resolve().parents[3]
FAILING = """
import pytest

def test_sum():
    total = 1 + 1
    assert total == 3, "an unlikely sum"

def test_parts(subtests):
    with subtests.test("second part"):
        raise ValueError("part of a test")

@pytest.fixture
def broken():
    raise RuntimeError("no set-up")

def test_fixture(broken):
    pass
"""

pytestmark = pytest.mark.database_free


def failing_file(folder: Path) -> Path:
    file = folder / "test_failing.py"
    file.write_text(FAILING)
    return file


def pytest_results(folder: Path, *arguments: str) -> tuple[Path, int]:
    """Run pytest in a folder without our settings; return its JUnit file and its status."""
    results = folder / "results.xml"
    options = ["-q", "-p", "no:django", "-o", "junit_family=xunit1", f"--junitxml={results}", *arguments]
    done = subprocess.run([sys.executable, "-m", "pytest", *options], cwd=folder, capture_output=True)
    return results, done.returncode


def test_failed_tests_parts_of_tests_and_set_ups_are_read_with_their_reasons(tmp_path):
    failing_file(tmp_path)
    (tmp_path / "test_unread.py").write_text("import no_such_module")
    results, status = pytest_results(tmp_path, "--continue-on-collection-errors")
    failures = [(failure.name, failure.reason) for failure in read(results, database="SQLite", status=status)]
    assert (
        "test_unread.py::test_unread",
        "ModuleNotFoundError: No module named 'no_such_module'",
    ) in failures
    assert ("test_failing.py::test_sum", "AssertionError: an unlikely sum") in failures
    assert ("test_failing.py::test_parts", "ValueError: part of a test") in failures
    assert ("test_failing.py::test_fixture", "RuntimeError: no set-up") in failures


def test_a_round_that_ends_without_results_is_named(tmp_path):
    results, status = pytest_results(tmp_path, "--no-such-option")
    assert not results.exists()
    (failure,) = read(results, database="PostgreSQL", status=status)
    assert (failure.database, failure.reason) == (
        "PostgreSQL",
        "ended with status 4 and names no failed test",
    )


def test_the_summary_of_many_long_failures_fits_on_a_screen():
    text = "\n".join(f"E   line {number} {'x' * 500}" for number in range(300))
    lines = summary([Failure("SQLite", f"tests/test_many.py::test_{number}", text) for number in range(500)])
    assert len(lines) == 40
    assert "and 488 more" in lines
    assert max(map(len, lines)) <= 200


@pytest.mark.slow
def test_make_test_ends_with_the_failures_of_all_rounds(tmp_path):
    command = [
        sys.executable,
        "-m",
        "tests.project.run",
        str(failing_file(tmp_path)),
        "-n0",
        "-p",
        "no:django",
    ]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == 1
    end = done.stdout.rpartition("\n== Failed: ")[2].splitlines()
    rounds = ["SQLite"] if "skipped, no server answers" in done.stdout else ["SQLite", "PostgreSQL"]
    assert end[0] == str(4 * len(rounds))
    for database in rounds:
        assert any(
            line.startswith(f"{database}: ") and line.endswith("::test_sum - AssertionError: an unlikely sum")
            for line in end
        )
    assert '>       assert total == 3, "an unlikely sum"' in end
    assert len(end) <= 40
