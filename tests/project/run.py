"""`make test`: every test this machine can run, on SQLite and then, where one answers, on PostgreSQL.

1. All tests on SQLite, in parallel; browser and service tests among them run when what they need is there.
2. On PostgreSQL those of what the two databases do differently (`ON_BOTH` in tests/foundation/database/on_both.py).
At the end, the twenty slowest, and what was skipped and why. Arguments go on to pytest in both rounds; folders and
files among them are run on both databases. `make test-postgresql` runs the second round with every test that uses a
database: before a release.
"""

import importlib.util
import os
import subprocess
import sys
from pathlib import Path
from urllib.parse import urlsplit

from tests.foundation.database import on_both

ROOT = Path(__file__).resolve().parents[2]
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
        codes = []
    else:
        print("== Tests on SQLite", flush=True)
        codes = [_pytest(arguments, database=None)]
    configured = os.environ.get("DATABASE_URL", "")
    addresses = [configured] if configured else LOCAL_POSTGRES
    postgres = next((url for url in addresses if _answers(url)), None)
    if postgres is None:
        print("\n== Tests on PostgreSQL: skipped, no server answers (DATABASE_URL may name one)")
        codes.append(int(everything))
    else:
        which = "All database tests" if everything else "Tests of what the databases do differently,"
        print(f"\n== {which} on PostgreSQL at {urlsplit(postgres).hostname}", flush=True)
        code = _pytest([*_repeated(arguments, everything=everything), *arguments], database=postgres)
        codes.append(0 if code == NOTHING_COLLECTED else code)
    return max(codes)


def _repeated(arguments: list[str], *, everything: bool) -> list[str]:
    """Return what pytest is told for the round on PostgreSQL."""
    options = ["-m", "not models and not e2e and not database_free"]
    named = any((ROOT / argument.partition("::")[0]).exists() for argument in arguments)
    return options if named or everything else [*options, *on_both.chosen()]


def _pytest(arguments: list[str], *, database: str | None) -> int:
    environment = {name: value for name, value in os.environ.items() if name != "DATABASE_URL"}
    if database:
        environment["DATABASE_URL"] = database
    environment["STEREOSCOPE_VAR"] = str(ROOT / "var" / "test")
    environment.setdefault("OMP_NUM_THREADS", "1")
    # Without compiled files each process compiles every test and library: ten seconds more before the first test.
    environment.pop("PYTHONDONTWRITEBYTECODE", None)
    command = [
        sys.executable,
        "-m",
        "pytest",
        "-q",
        "-n",
        # One more than there are cores: a test that waits for a server, a browser or a lease leaves its core idle.
        str(min(os.cpu_count() or 1, 7) + 1),
        "--dist",
        "loadgroup",
        "--durations=20",
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
