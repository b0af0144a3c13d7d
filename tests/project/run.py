"""`make test`: every test this machine can run, on SQLite and then, where one answers, on PostgreSQL.

1. All tests on SQLite, in parallel; browser and service tests among them run when what they need is there.
2. The tests that touch the database again, on PostgreSQL (`DATABASE_URL`, else a server on localhost).
At the end, the twenty slowest, and what was skipped and why. Arguments go on to pytest in both rounds.
"""

import importlib.util
import os
import subprocess
import sys
from pathlib import Path
from urllib.parse import urlsplit

ROOT = Path(__file__).resolve().parents[2]
LOCAL_POSTGRES = [
    "postgresql://postgres@127.0.0.1:5432/postgres",
    "postgresql://postgres:postgres@127.0.0.1:5432/postgres",
]


_MAY_CREATE = "SELECT rolcreatedb OR rolsuper FROM pg_roles WHERE rolname = current_user"


def main(arguments: list[str]) -> int:
    given = os.environ.get("DATABASE_URL", "")
    print("== Tests on SQLite", flush=True)
    codes = [_pytest(arguments, database=None)]
    postgres = next((url for url in ([given] if given else LOCAL_POSTGRES) if _answers(url)), None)
    if postgres is None:
        print("\n== Tests on PostgreSQL: skipped, no server answers (DATABASE_URL may name one)")
    else:
        print(f"\n== Database tests on PostgreSQL at {urlsplit(postgres).hostname}", flush=True)
        codes.append(
            _pytest(["-m", "not models and not e2e and not database_free", *arguments], database=postgres)
        )
    return max(codes)


def _pytest(arguments: list[str], *, database: str | None) -> int:
    environment = {name: value for name, value in os.environ.items() if name != "DATABASE_URL"}
    if database:
        environment["DATABASE_URL"] = database
    environment["STEREOSCOPE_VAR"] = str(ROOT / "var" / "test")
    environment.setdefault("OMP_NUM_THREADS", "1")
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
