"""`release` of a million judgements: judgements per second and additional memory, on SQLite and on PostgreSQL.

Measured in a process that has imported everything and has built a release of an empty study before, so that only the
building counts. Memory is the growth of the largest resident set.
"""

import json
import os
import resource
import sys
import tempfile
import time
import uuid
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path

from benchmarks.table import Row
from benchmarks.web_server import Platform, own_database, platform, postgres_address

JUDGEMENTS = 1_000_000
# Name in the table: formats, minimum of judgements per second.
MODES = {
    "Parquet": (["parquet"], 200_000),
    "every format": (["parquet", "csv", "jsonl", "coco", "label_studio"], 50_000),
}
LIMIT_MIB = 150.0
_RUNS = 3


def run() -> Iterable[Row]:
    """Create the study once on each database, and build each kind of release in a separate process."""
    for label, database in (("SQLite", _sqlite), ("PostgreSQL", _postgres)):
        with tempfile.TemporaryDirectory() as folder, database(Path(folder)) as installation:
            if installation is None:
                yield Row(f"release of {JUDGEMENTS:,} judgements, {label}", "no server answers", "", None)
                continue
            installation.run("-m", "benchmarks.analysis.release", "make")
            for mode, (_, least) in MODES.items():
                claim = f"release of {JUDGEMENTS:,} judgements, {mode}, {label}"
                runs = [
                    json.loads(installation.run("-m", "benchmarks.analysis.release", mode))
                    for _ in range(_RUNS)
                ]
                rate = sorted(JUDGEMENTS / measurement["seconds"] for measurement in runs)[_RUNS // 2]
                extra = max(measurement["extra_mib"] for measurement in runs)
                yield Row(claim, f"{rate:,.0f}/s", f"≥ {least:,}/s", rate >= least)
                yield Row("  extra memory", f"{extra:.0f} MiB", f"≤ {LIMIT_MIB:.0f} MiB", extra <= LIMIT_MIB)


@contextmanager
def _sqlite(folder: Path) -> Iterator[Platform | None]:
    with platform(f"sqlite:///{folder / 'bench.sqlite3'}", "SQLite", folder) as installation:
        yield installation


@contextmanager
def _postgres(folder: Path) -> Iterator[Platform | None]:
    address = postgres_address()
    if address is None:
        yield None
        return
    with (
        own_database(address, f"bench_{uuid.uuid4().hex[:12]}") as url,
        platform(url, "PostgreSQL", folder) as installation,
    ):
        yield installation


def _measure(mode: str) -> dict[str, float]:
    from analysis.models import Release
    from analysis.releases.assembly.build import build
    from analysis.releases.parameters import ReleaseParameters
    from studies.models import Study

    formats, _ = MODES[mode]
    with tempfile.TemporaryDirectory() as folder:
        empty = Study.objects.get_or_create(name="Empty", slug="empty", seed=1)[0]
        chosen = ReleaseParameters.read({"formats": formats})
        build(study=empty, parameters=chosen, output=Path(folder) / "empty", by=None)
        large = Study.objects.get(slug="large")
        before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        start = time.perf_counter()
        release = build(study=large, parameters=chosen, output=Path(folder) / "large", by=None)
        seconds = time.perf_counter() - start
        after = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        if release.facts["rows"]["judgements"] != JUDGEMENTS:
            raise AssertionError("the release is not whole")
        Release.objects.all().delete()
    return {"seconds": seconds, "extra_mib": (after - before) / 1024}


def main(step: str) -> None:
    """Create the study, or build one kind of release and print its time and memory."""
    sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "platform"))
    os.environ["DJANGO_SETTINGS_MODULE"] = "config.settings"
    import django

    django.setup()
    if step == "make":
        from benchmarks.analysis.release_study import make

        make(judgements=JUDGEMENTS)
    else:
        print(json.dumps(_measure(step)))


if __name__ == "__main__":
    main(sys.argv[1])
