"""Failures of all rounds, short enough for the end of a log, because CI keeps only some sixty lines of it."""

import xml.etree.ElementTree as ElementTree
from dataclasses import dataclass
from pathlib import Path

MOST_NAMES = 12
MOST_EXCERPTS = 2
LINES_OF_EXCERPT = 12
MOST_CHARACTERS = 200  # of a line


@dataclass(frozen=True)
class Failure:
    """A test that failed, or a file whose tests could not be read."""

    database: str
    name: str
    text: str

    @property
    def lines(self) -> list[str]:
        return [line.rstrip()[:MOST_CHARACTERS] for line in self.text.splitlines() if line.strip()]

    @property
    def reason(self) -> str:
        """Return the first line of the error, or the last line of the text if no error is marked."""
        errors = [line.removeprefix("E").strip() for line in self.lines if line.startswith("E  ")]
        return next(iter(errors or self.lines[-1:]), "")


def read(results: Path, *, database: str, status: int) -> list[Failure]:
    """Return the failures in the JUnit file of one round, or one with pytest's status if the file has none."""
    failures = []
    if results.exists():
        for case in ElementTree.parse(results).iter("testcase"):
            name = f"{case.get('file') or case.get('classname')}::{case.get('name')}".removeprefix("::")
            failures += [
                Failure(database, name, problem.text or problem.get("message", ""))
                for problem in case
                if problem.tag in {"failure", "error"}
            ]
    if status and not failures:
        failures.append(Failure(database, "pytest", f"ended with status {status} and names no failed test"))
    return failures


def summary(failures: list[Failure]) -> list[str]:
    """Return the lines to print: each failure with its reason, then the ends of the first failures' output."""
    lines = [f"== Failed: {len(failures)}"]
    lines += [
        f"{failure.database}: {failure.name} - {failure.reason}"[:MOST_CHARACTERS]
        for failure in failures[:MOST_NAMES]
    ]
    if len(failures) > MOST_NAMES:
        lines.append(f"and {len(failures) - MOST_NAMES} more")
    for failure in failures[:MOST_EXCERPTS]:
        lines += [f"-- {failure.database}: {failure.name}", *failure.lines[-LINES_OF_EXCERPT:]]
    return lines
