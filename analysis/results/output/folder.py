"""The folder that `analyze` writes: tables, summary and report, whole or not at all."""

import json
import os
import tempfile
from collections.abc import Callable
from pathlib import Path

from django.utils import timezone

from analysis.results.output.codebook import CODEBOOK, codebook_csv
from analysis.results.output.csv_tables import to_csv
from analysis.results.output.report_file import READS, report_html
from analysis.results.schema import FILES, OPTIONAL_FILES, Results, files_of, records
from foundation.errors import Conflict
from studies.models import Study

SUMMARY = "summary.json"
REPORT = "report.html"
FORMAT = 1


def require_folder(output: Path) -> None:
    """Refuse a path at which no folder can be created, before computing for minutes."""
    parent = next(p for p in (output, *output.absolute().parents) if p.exists())
    if not parent.is_dir():
        raise Conflict("output_is_a_file", f"{parent} is a file; --output must name a folder.")
    if not os.access(parent, os.W_OK):
        raise Conflict("output_not_writable", f"{parent} cannot be written to.")
    obstacle = next((output / name for name in _names() if (output / name).is_dir()), None)
    if obstacle is not None:
        raise Conflict(
            "output_taken",
            f"{obstacle} is a folder, but a file with this name must be written: choose another output "
            "folder.",
        )


def write(*, study: Study, results: Results, output: Path) -> list[Path]:
    """Write every file into a temporary folder, then move it into place; return the files."""
    try:
        return _write(study, results, output.absolute())
    except OSError as error:
        raise Conflict("output_not_writable", f"{output} cannot be written: {error.strerror}.") from error


def _write(study: Study, results: Results, output: Path) -> list[Path]:
    output.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix=f".{output.name}-", dir=output.parent) as temporary:
        ready = Path(temporary) / "ready"
        ready.mkdir()
        _fill(ready, study, results)
        names = sorted(path.name for path in ready.iterdir())
        if output.exists():
            # Other files may live there: each of ours replaces its namesake, the summary last.
            for name in sorted(names, key=lambda name: name == SUMMARY):
                os.replace(ready / name, output / name)
        else:
            ready.rename(output)
    return [output / name for name in names]


def _names() -> list[str]:
    return [*(f"{name}.csv" for name in (*FILES, *OPTIONAL_FILES)), CODEBOOK, SUMMARY, REPORT]


def _fill(folder: Path, study: Study, results: Results) -> None:
    now = timezone.now()
    files = files_of(results.tables)
    for name in files:
        (folder / f"{name}.csv").write_text(to_csv(results.tables[name]), encoding="utf-8", newline="")
    columns = {name: list(results.tables[name].columns) for name in files}
    (folder / CODEBOOK).write_text(codebook_csv(columns), encoding="utf-8", newline="")
    summary = {
        "format": FORMAT,
        "study": study_facts(study),
        "computed_at": now.isoformat(),
        **results.summary,
        "files": {f"{name}.csv": {"rows": len(results.tables[name])} for name in files},
    }
    text = json.dumps(summary, ensure_ascii=False, indent=2, allow_nan=False, default=_plain)
    (folder / SUMMARY).write_text(text + "\n", encoding="utf-8")
    tables = {name: records(results.tables[name]) for name in READS if name in results.tables}
    (folder / REPORT).write_text(report_html(study, tables, results.summary, now), encoding="utf-8")


def study_facts(study: Study) -> dict[str, object]:
    return {
        "name": study.name,
        "slug": study.slug,
        "protocol": study.protocol,
        "resource": study.resource.name if study.resource else None,
        "simulated": study.simulated,
    }


def _plain(value: object) -> object:
    """Numbers of numpy as Python's own."""
    item: Callable[[], object] | None = getattr(value, "item", None)
    if item is None:
        raise TypeError(f"{type(value).__name__} cannot be written as JSON")
    return item()
