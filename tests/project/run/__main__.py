"""`make test`: every test this machine can run, on SQLite and then, if available, on PostgreSQL.

1. All tests on SQLite, in parallel, including browser and service tests if their programs are installed.
2. On PostgreSQL, tests of differences between the databases (`ON_BOTH` in tests/foundation/database/on_both.py).
Each round lists its twenty slowest tests, and skipped tests with reasons. The last lines are the failures of both.
Arguments are passed to pytest in both rounds; folders and files among them are run on both databases.
`make test-postgresql` runs the second round with every test that uses a database: before a release.
"""

import importlib.util
import os
import subprocess
import sys
import tempfile
from pathlib import Path
from urllib.parse import urlsplit

from tests.foundation.database import on_both
from tests.project.run import failures

ROOT = Path(__file__).resolve().parents[3]
LOCAL_POSTGRES = [
    "postgresql://postgres@127.0.0.1:5432/postgres",
    "postgresql://postgres:postgres@127.0.0.1:5432/postgres",
]
ALL_ON_POSTGRESQL = "--all-on-postgresql"
NOTHING_COLLECTED = 5  # pytest's exit code

_MAY_CREATE = "SELECT rolcreatedb OR rolsuper FROM pg_roles WHERE rolname = current_user"


def main(arguments: list[str]) -> int:
    everything = arguments[:1] == [ALL_ON_POSTGRESQL]
    if everything:
        arguments = arguments[1:]
    failed: list[failures.Failure] = []
    with tempfile.TemporaryDirectory() as folder:
        if not everything:
            print("== Tests on SQLite", flush=True)
            failed += _round(arguments, database=None, folder=Path(folder))
        postgres = next(filter(_answers, _addresses()), None)
        if postgres is None:
            print("\n== Tests on PostgreSQL: skipped, no server answers (DATABASE_URL may name one)")
        else:
            which = "All database tests" if everything else "Tests of what the databases do differently,"
            print(f"\n== {which} on PostgreSQL at {urlsplit(postgres).hostname}", flush=True)
            arguments = [*_repeated(arguments, everything=everything), *arguments]
            failed += _round(arguments, database=postgres, folder=Path(folder))
    if failed:
        print("", *failures.summary(failed), sep="\n", flush=True)
    return int(bool(failed) or (everything and postgres is None))


def _addresses() -> list[str]:
    configured = os.environ.get("DATABASE_URL", "")
    return [configured] if configured else LOCAL_POSTGRES


def _repeated(arguments: list[str], *, everything: bool) -> list[str]:
    """Return pytest's options for the round on PostgreSQL."""
    options = ["-m", "not models and not e2e and not database_free"]
    named = any((ROOT / argument.partition("::")[0]).exists() for argument in arguments)
    return options if named or everything else [*options, *on_both.chosen()]


def _round(arguments: list[str], *, database: str | None, folder: Path) -> list[failures.Failure]:
    """Run pytest on one database and return the failures."""
    name = "PostgreSQL" if database else "SQLite"
    results = folder / f"{name}.xml"
    status = _pytest([f"--junitxml={results}", *arguments], database=database)
    if database and status == NOTHING_COLLECTED:
        return []
    return failures.read(results, database=name, status=status)


def _pytest(arguments: list[str], *, database: str | None) -> int:
    environment = {name: value for name, value in os.environ.items() if name != "DATABASE_URL"}
    if database:
        environment["DATABASE_URL"] = database
    environment["STEREOSCOPE_VAR"] = str(ROOT / "var" / "test")
    environment.setdefault("OMP_NUM_THREADS", "1")
    # Without compiled files, each process compiles every test and library: ten more seconds before the first test.
    environment.pop("PYTHONDONTWRITEBYTECODE", None)
    command = [
        sys.executable,
        "-m",
        "pytest",
        "-q",
        "-n",
        # One more than the cores, because a test that waits for a server, a browser or a lease leaves its core idle.
        str(min(os.cpu_count() or 1, 7) + 1),
        "--dist",
        "loadgroup",
        "--durations=20",
        "-o",
        "junit_family=xunit1",  # with the path of each test
    ]
    return subprocess.run([*command, *arguments], cwd=ROOT, env=environment, check=False).returncode


def _answers(url: str) -> bool:
    if not url.startswith(("postgres://", "postgresql://")) or importlib.util.find_spec("psycopg") is None:
        return False
    import psycopg

    try:
        with psycopg.connect(url, connect_timeout=3) as connection:
            row = connection.execute(_MAY_CREATE).fetchone()
    except psycopg.Error:
        return False
    return bool(row and row[0])


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
