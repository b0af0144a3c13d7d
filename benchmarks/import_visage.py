"""`import_visage` of the released workbook, read to committed: at most 10 s on SQLite and on PostgreSQL."""

import os
import subprocess
import sys
import tempfile
import time
import uuid
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from urllib.parse import urlsplit

import psycopg

from benchmarks.table import Row

ROOT = Path(__file__).resolve().parents[1]
DATA = Path(os.environ.get("STEREOSCOPE_SHARED_DATA", ROOT.parent / "shared" / "data"))
SERVER = os.environ.get("DATABASE_URL", "postgresql://postgres@127.0.0.1:5432/postgres")
FILES = {
    "stereotypes": DATA / "seegull" / "stereotypes_global_v2.csv",
    "annotations": DATA / "visage" / "Image Annotations.xlsx",
    "visual_attributes": DATA / "visage" / "Visual Attributes_.xlsx",
}
LIMIT_SECONDS = 10.0
RUNS = 3


def run() -> Iterable[Row]:
    """Import into a separate database on each engine, in a separate process; the median of three."""
    for label, database in (("SQLite", _sqlite), ("PostgreSQL", _postgres)):
        claim = f"import_visage of the released workbook, read to committed, {label}"
        limit = f"≤ {LIMIT_SECONDS:.0f} s"
        if missing := next((file for file in FILES.values() if not file.is_file()), None):
            yield Row(claim, f"no {missing.name}", limit, None)
            continue
        try:
            with tempfile.TemporaryDirectory() as folder, database(Path(folder)) as url:
                seconds = _import(url, folder)
        except psycopg.OperationalError:
            yield Row(claim, "no server answers", limit, None)
            continue
        yield Row(claim, f"{seconds:.1f} s", limit, seconds <= LIMIT_SECONDS)


@contextmanager
def _sqlite(folder: Path) -> Iterator[str]:
    yield f"sqlite:///{folder / 'bench.sqlite3'}"


@contextmanager
def _postgres(_: Path) -> Iterator[str]:
    server = urlsplit(
        SERVER if SERVER.startswith("postgres") else "postgresql://postgres@127.0.0.1:5432/postgres"
    )
    name = f"bench_{uuid.uuid4().hex[:12]}"
    with psycopg.connect(
        server._replace(path="/postgres").geturl(), autocommit=True, connect_timeout=3
    ) as postgres:
        postgres.execute(f'CREATE DATABASE "{name}"')
        try:
            yield server._replace(path=f"/{name}").geturl()
        finally:
            postgres.execute(f'DROP DATABASE "{name}" WITH (FORCE)')


def _import(url: str, folder: str) -> float:
    environment = os.environ | {"DATABASE_URL": url, "STEREOSCOPE_VAR": folder, "LOG_LEVEL": "ERROR"}
    migrate = [sys.executable, "manage.py", "migrate", "-v", "0", "--skip-checks"]
    subprocess.run(migrate, cwd=ROOT, env=environment, check=True, capture_output=True)
    measure = [sys.executable, "-m", "benchmarks.import_visage"]
    printed = subprocess.run(
        measure, cwd=ROOT, env=environment, check=True, capture_output=True, text=True
    ).stdout
    return sorted(float(line) for line in printed.split())[RUNS // 2]


def _time_imports() -> Iterator[float]:
    sys.path.insert(0, str(ROOT / "platform"))
    os.environ["DJANGO_SETTINGS_MODULE"] = "config.settings"
    import django

    django.setup()
    from annotation.imports.visage import VisageFiles, import_visage
    from catalog.models import Resource
    from studies.models import Study

    for number in range(RUNS):
        start = time.perf_counter()
        report = import_visage(study=f"ViSAGe {number}", files=VisageFiles(**FILES), by=None)
        yield time.perf_counter() - start
        if (report.loaded[0].judgements, report.loaded[1].judgements) != (96_136, 5_979):
            raise AssertionError("the import is not whole")
        # The next run reads and stores the stereotypes again, like the first.
        Study.objects.filter(pk=report.study.pk).update(resource=None)
        Resource.objects.all().delete()


if __name__ == "__main__":
    for seconds in _time_imports():
        print(seconds)
