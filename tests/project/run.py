"""`make test`: every test this machine can run, on SQLite and then, where one answers, on PostgreSQL.

1. All tests on SQLite, in parallel; browser and service tests among them run when what they need is there.
2. On PostgreSQL those whose code writes, locks or has SQL of its own (docs/decisions/0021-two-databases.md).
At the end, the twenty slowest, and what was skipped and why. Arguments go on to pytest in both rounds; folders and
files among them are run on both databases.
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
# Pages only read, and only through queries of the ORM; measures, plots and model code know no database. Every page is
# opened once on PostgreSQL too, by tests/front/test_every_page.py. What pages and commands write is tested beside the
# verbs that write it; the files here hold no test of such a verb that is nowhere else.
ON_ONE_DATABASE = [
    "tests/analysis/automated/test_pages.py",
    "tests/analysis/metrics",
    "tests/analysis/plots",
    "tests/analysis/probing/test_page.py",
    "tests/analysis/questions/protocols",
    "tests/analysis/results/output/test_csv_tables.py",
    "tests/analysis/results/output/test_methods.py",
    "tests/analysis/results/summaries",
    "tests/analysis/results/tables",
    "tests/analysis/results/test_pages.py",
    "tests/analysis/results/test_released_visage.py",
    "tests/analysis/scoring/backends",
    "tests/annotation/annotator/test_languages.py",
    "tests/annotation/annotator/test_task.py",
    "tests/annotation/annotator/test_traffic.py",
    "tests/annotation/label_studio/client",
    "tests/annotation/label_studio/format",
    "tests/annotation/lead/test_access.py",
    "tests/annotation/lead/test_admin.py",
    "tests/annotation/lead/test_annotations.py",
    "tests/annotation/lead/test_campaign_page.py",
    "tests/demo",
    "tests/e2e",
    "tests/foundation/tables",
    "tests/front/test_home.py",
    "tests/generation/backends",
    "tests/generation/answerers",
    "tests/generation/endpoints",
    "tests/generation/pages/test_runs.py",
    "tests/jobs/pages",
    "tests/project/test_docker.py",
    "tests/project/test_docs.py",
    "tests/project/test_layout.py",
    "tests/project/test_reference.py",
    "tests/project/test_settings.py",
    "tests/services/label_studio/push/test_drift.py",
    "tests/services/label_studio/push/test_images.py",
    "tests/services/label_studio/test_connections.py",
    "tests/services/label_studio/test_lead_pages.py",
    "tests/services/label_studio/test_rest.py",
    "tests/services/test_object_storage.py",
    "tests/services/test_proxy.py",
    "tests/web/design",
    "tests/web/test_behaviour.py",
    "tests/web/test_checks.py",
    "tests/web/test_languages.py",
    "tests/web/test_navigation.py",
    "tests/web/test_pages.py",
    "tests/web/test_strict_templates.py",
]
NOTHING_COLLECTED = 5  # pytest's exit code

_MAY_CREATE = "SELECT rolcreatedb OR rolsuper FROM pg_roles WHERE rolname = current_user"


def main(arguments: list[str]) -> int:
    configured = os.environ.get("DATABASE_URL", "")
    print("== Tests on SQLite", flush=True)
    codes = [_pytest(arguments, database=None)]
    addresses = [configured] if configured else LOCAL_POSTGRES
    postgres = next((url for url in addresses if _answers(url)), None)
    if postgres is None:
        print("\n== Tests on PostgreSQL: skipped, no server answers (DATABASE_URL may name one)")
    else:
        print(f"\n== Database tests on PostgreSQL at {urlsplit(postgres).hostname}", flush=True)
        code = _pytest([*_repeated(arguments), *arguments], database=postgres)
        codes.append(0 if code == NOTHING_COLLECTED else code)
    return max(codes)


def _repeated(arguments: list[str]) -> list[str]:
    """Return pytest's options for the second round."""
    options = ["-m", "not models and not e2e and not database_free"]
    named = any((ROOT / argument.partition("::")[0]).exists() for argument in arguments)
    return options if named else [*options, *(f"--ignore={path}" for path in ON_ONE_DATABASE)]


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
