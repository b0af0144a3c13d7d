"""`make mutants`: switch off one rule at a time and see that its tests notice.

Each file under `tests/project/mutants` is a unified diff that breaks one rule and is named for it. The lines before the
diff say why the rule matters and name the tests:

    Somebody who took back consent could go on answering.
    tests: tests/annotation/labelling/test_real_path.py -k consent
    database: postgresql

With `--migrations` before the tests, migrations create the tables, including triggers; otherwise the models do.
`database` is for a mutant that only PostgreSQL shows; elsewhere it is skipped. Every diff is applied to a copy of the
tracked files, and its tests have to fail there. A mutant that survives is a rule without a test. A diff that does not
apply, tests that fail without it, and tests that cannot be collected are errors. A mutant whose tests are all skipped,
as those in a browser are where there is none, is skipped with their reason.
"""

import argparse
import os
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from queue import Queue

ROOT = Path(__file__).resolve().parents[2]
FOLDER = ROOT / "tests" / "project" / "mutants"
POSTGRES = "postgresql://postgres@127.0.0.1:5432/mutants"
TIMEOUT = 300  # seconds: a mutant may never end, which counts as noticed
PYTEST = ["-m", "pytest", "-x", "-q", "-p", "no:xdist", "-p", "no:cacheprovider", "--no-migrations"]
PASSED, FAILED = 0, 1  # pytest's exit codes; any other means that tests could not be run


@dataclass(frozen=True)
class Mutant:
    """One rule switched off: its name and diff, the tests that must notice, and the database they need."""

    name: str
    patch: str
    tests: tuple[str, ...]
    postgres: bool

    @classmethod
    def read(cls, file: Path) -> "Mutant":
        """Read the lines before the diff."""
        patch = file.read_text()
        head = patch.partition("\n--- ")[0].splitlines()
        fields = [line.partition(": ")[::2] for line in head]
        tests = tuple(shlex.split(" ".join(value for name, value in fields if name == "tests")))
        if not tests:
            raise SystemExit(f"{file.name} names no tests.")
        return cls(file.stem, patch, tests, ("database", "postgresql") in fields)


@dataclass(frozen=True)
class Outcome:
    """The outcome of a mutant: verdict, seconds, and the end of the tests' output."""

    verdict: str  # killed, survived, skipped or error
    seconds: float
    output: str = ""


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the mutants named on the command line, or all; return 0 if each was killed."""
    options = _options(arguments)
    mutants = [Mutant.read(file) for file in sorted(FOLDER.rglob("*.patch"))]
    chosen = [mutant for mutant in mutants if not options.names or mutant.name in options.names]
    if unknown := set(options.names) - {mutant.name for mutant in mutants}:
        raise SystemExit(f"There is no mutant {', '.join(sorted(unknown))} in {FOLDER}.")
    if not _postgres_answers():
        skipped = [mutant.name for mutant in chosen if mutant.postgres]
        chosen = [mutant for mutant in chosen if not mutant.postgres]
        if skipped:
            print(f"No PostgreSQL answers at {POSTGRES}; skipped: {', '.join(skipped)}")
    print(f"{len(chosen)} mutants, {options.jobs} at a time", flush=True)
    outcomes = []
    with _copies(options.jobs) as copies, ThreadPoolExecutor(options.jobs) as pool:
        if not options.no_baseline and (broken := list(_broken_without(chosen, copies, pool))):
            print("\n".join(["These tests fail without a mutant:", *broken]))
            return 2
        for mutant, outcome in zip(chosen, pool.map(lambda one: _judge(one, copies), chosen), strict=True):
            print(f"{outcome.verdict:8}  {outcome.seconds:5.1f} s  {mutant.name}", flush=True)
            if outcome.verdict in {"error", "skipped"} or (options.verbose and outcome.verdict == "killed"):
                print(outcome.output)
            outcomes.append(outcome)
    verdicts = [outcome.verdict for outcome in outcomes]
    counts = {verdict: verdicts.count(verdict) for verdict in ("killed", "survived", "skipped", "error")}
    print(", ".join(f"{verdict}: {count}" for verdict, count in counts.items()))
    return 0 if counts["killed"] + counts["skipped"] == len(outcomes) else 1


def _options(arguments: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0] if __doc__ else None)
    parser.add_argument("names", nargs="*", help="mutants to run, without .patch (default: all)")
    parser.add_argument("-j", "--jobs", type=int, default=os.cpu_count() or 1, help="how many at a time")
    parser.add_argument("--no-baseline", action="store_true", help="do not run the tests unbroken first")
    parser.add_argument("-v", "--verbose", action="store_true", help="show how each mutant was killed")
    return parser.parse_args(arguments)


@contextmanager
def _copies(number: int) -> Iterator["Queue[Path]"]:
    """Yield a queue of `number` copies of the tracked files, one per job."""
    listed = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, text=True, check=True)
    files = [name for name in listed.stdout.split("\0") if name and (ROOT / name).is_file()]
    free: Queue[Path] = Queue()
    with tempfile.TemporaryDirectory(prefix="mutants-") as folder:
        for index in range(number):
            copy = Path(folder) / str(index)
            for name in files:
                (copy / name).parent.mkdir(parents=True, exist_ok=True)
                shutil.copy2(ROOT / name, copy / name)
            free.put(copy)
        yield free


def _broken_without(
    mutants: Sequence[Mutant], copies: "Queue[Path]", pool: ThreadPoolExecutor
) -> Iterator[str]:
    """Yield the selections of tests that do not pass on an unchanged copy."""
    expressions: dict[tuple[tuple[str, ...], bool], set[str]] = {}
    for mutant in mutants:
        files, _, expression = " ".join(mutant.tests).partition(" -k ")
        expressions.setdefault((tuple(files.split()), mutant.postgres), set()).add(expression)
    selections = [
        (
            (*files, "-k", " or ".join(f"({one})" for one in sorted(wanted))) if "" not in wanted else files,
            postgres,
        )
        for (files, postgres), wanted in expressions.items()
    ]

    def run(selection: tuple[tuple[str, ...], bool]) -> tuple[int, str]:
        copy = copies.get()
        try:
            return _run_tests(copy, *selection)
        finally:
            copies.put(copy)

    for (tests, _), (code, output) in zip(selections, pool.map(run, selections), strict=True):
        if code != PASSED:
            yield f"{shlex.join(tests)}\n{output}"


def _judge(mutant: Mutant, copies: "Queue[Path]") -> Outcome:
    copy, began = copies.get(), time.monotonic()
    try:
        applied = _apply(copy, mutant.patch)
        if applied.returncode:
            return Outcome("error", 0.0, applied.stderr)
        try:
            code, output = _run_tests(copy, mutant.tests, mutant.postgres)
        finally:
            _apply(copy, mutant.patch, "--reverse").check_returncode()
        if code == PASSED and not re.search(r"\d passed", output):
            reasons = [line for line in output.splitlines() if line.startswith("SKIPPED")]
            return Outcome("skipped", time.monotonic() - began, "\n".join(reasons))
        verdict = {PASSED: "survived", FAILED: "killed"}.get(code, "error")
        return Outcome(verdict, time.monotonic() - began, output)
    finally:
        copies.put(copy)


def _apply(copy: Path, patch: str, *options: str) -> subprocess.CompletedProcess[str]:
    # Python distinguishes compiled files by whole seconds and sizes, which two changes may share.
    for line in patch.splitlines():
        if line.startswith("+++ b/"):
            changed = copy / line.removeprefix("+++ b/")
            for compiled in changed.parent.glob(f"__pycache__/{changed.stem}.*.pyc"):
                compiled.unlink()
    return subprocess.run(
        ["git", "apply", *options, "-"], cwd=copy, input=patch, capture_output=True, text=True, check=False
    )


def _run_tests(copy: Path, tests: Sequence[str], postgres: bool) -> tuple[int, str]:
    environment = {name: value for name, value in os.environ.items() if name != "DATABASE_URL"}
    environment |= {"STEREOSCOPE_VAR": str(copy / "var"), "OMP_NUM_THREADS": "1"}
    if postgres:
        environment["DATABASE_URL"] = f"{POSTGRES}_{copy.name}"
    try:
        done = subprocess.run(
            [sys.executable, *PYTEST, *tests],
            cwd=copy,
            env=environment,
            capture_output=True,
            text=True,
            timeout=TIMEOUT,
            check=False,
        )
    except subprocess.TimeoutExpired:
        return FAILED, f"The tests did not end within {TIMEOUT} seconds."
    return done.returncode, (done.stdout + done.stderr)[-2000:]


def _postgres_answers() -> bool:
    import psycopg

    try:
        psycopg.connect(POSTGRES.rpartition("/")[0] + "/postgres", connect_timeout=3).close()
    except psycopg.Error:
        return False
    return True


if __name__ == "__main__":
    sys.exit(main())
