"""Digests of files of results and releases that were written at commit 12476fa, before kinds became declarations."""

import csv
import hashlib
import json
from pathlib import Path

RECORDED = json.loads(Path(__file__).with_name("recorded_digests.json").read_text(encoding="utf-8"))


def digests(folder: Path, pattern: str, *, without: str = "") -> dict[str, str]:
    """Hash the files of a folder by name; `without` names a column of random values, whose tables are sorted."""
    return {
        path.relative_to(folder).as_posix(): digest(path, without=without)
        for path in sorted(folder.glob(pattern))
    }


def digest(path: Path, *, without: str = "") -> str:
    """Hash a file; numbers of a table count to nine digits, because processors differ in the last ones."""
    if path.suffix != ".csv":
        return hashlib.sha256(path.read_bytes()).hexdigest()[:16]
    with path.open(encoding="utf-8", newline="") as file:
        rows = [[_rounded(cell) for cell in row] for row in csv.reader(file)]
    if without in rows[0]:
        column = rows[0].index(without)
        rows = sorted(row[:column] + row[column + 1 :] for row in rows)
    return hashlib.sha256(json.dumps(rows).encode()).hexdigest()[:16]


def _rounded(cell: str) -> str:
    try:
        return f"{float(cell):.9g}"
    except ValueError:
        return cell
