"""`analyze` of the released ViSAGe study with 2,000 resamples: processor time and memory of the whole command."""

import os
import resource
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Iterable
from pathlib import Path

from benchmarks.table import Row

ROOT = Path(__file__).resolve().parents[2]
DATA = Path(os.environ.get("STEREOSCOPE_SHARED_DATA", ROOT.parent / "shared" / "data"))
FILES = {
    "--stereotypes": DATA / "seegull" / "stereotypes_global_v2.csv",
    "--annotations": DATA / "visage" / "Image Annotations.xlsx",
    "--visual-attributes": DATA / "visage" / "Visual Attributes_.xlsx",
}
RUNS = 3
LIMIT_SECONDS = 10.0
LIMIT_MIB = 600.0
MODES = ("ignore", "as_random")


def run() -> Iterable[Row]:
    """Import once into SQLite, then run the command as a person does, in a separate process, three times per mode."""
    if missing := next((file for file in FILES.values() if not file.is_file()), None):
        yield Row("analyze of the released ViSAGe study", f"no {missing.name}", "", None)
        return
    with tempfile.TemporaryDirectory() as folder:
        environment = os.environ | {"STEREOSCOPE_VAR": folder, "LOG_LEVEL": "ERROR"}
        environment.pop("DATABASE_URL", None)
        files = [str(part) for pair in FILES.items() for part in pair]
        for command in (["migrate", "-v", "0"], ["import_visage", "--study", "visage", *files]):
            _manage(command, environment)
        for mode in MODES:
            options = ["--resamples", "2000", "--none-of-the-above", mode]
            command = ["analyze", "--study", "visage", "--output", f"{folder}/{mode}", *options]
            measured = [_measured(command, environment) for _ in range(RUNS)]
            seconds = statistics.median(used for used, _ in measured)
            memory = max(peak for _, peak in measured)
            claim = f"analyze, released ViSAGe, 2,000 resamples, {mode}"
            yield Row(
                f"{claim}: process time",
                f"{seconds:.1f} s",
                f"≤ {LIMIT_SECONDS:.0f} s",
                seconds <= LIMIT_SECONDS,
            )
            yield Row(
                f"{claim}: peak memory", f"{memory:.0f} MiB", f"≤ {LIMIT_MIB:.0f} MiB", memory <= LIMIT_MIB
            )


def _manage(command: list[str], environment: dict[str, str]) -> None:
    subprocess.run(
        [sys.executable, "manage.py", *command], cwd=ROOT, env=environment, check=True, capture_output=True
    )


def _measured(command: list[str], environment: dict[str, str]) -> tuple[float, float]:
    """Return the seconds of processor time and the largest resident set in MiB of one run of a command."""
    # The largest resident set is the maximum over all children of a parent, so each run needs its own parent.
    printed = subprocess.run(
        [sys.executable, "-m", "benchmarks.analysis.analyze", *command],
        cwd=ROOT,
        env=environment,
        check=True,
        capture_output=True,
        text=True,
    ).stdout
    seconds, kibibytes = printed.split()
    return float(seconds), float(kibibytes) / 1024


if __name__ == "__main__":
    _manage(sys.argv[1:], dict(os.environ))
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    print(used.ru_utime + used.ru_stime, used.ru_maxrss)
