"""The process that `verify` starts with a separate database and folder: a restore, then a report computed again.

It prints one line of JSON: the study and digest of the report, or the code and message of an error.
"""

import json
import math
import sys
from pathlib import Path
from typing import Any

_TOLERANCE = 1e-9  # difference between versions of numerical libraries
_REPORTS_TRIED = 50


def rehearse(folder: Path, backup_name: str) -> dict[str, str]:
    """Restore a backup; compute its latest current report again from the labels and compare the results."""
    from analysis.models import Report
    from analysis.results.reports import is_current
    from operations.backups.restore import restore

    restore(folder=folder, backup_name=backup_name)
    reports = Report.objects.filter(format=Report.FORMAT).select_related("study__resource").order_by("-pk")
    report = next((row for row in reports[:_REPORTS_TRIED] if is_current(row, using="default")), None)
    if report is None:
        return {"study": "", "inputs_digest": ""}
    _compare(report)
    return {"study": report.study.name, "inputs_digest": report.inputs_digest}


def _compare(report: Any) -> None:
    from analysis.results.compute import compute
    from analysis.results.data.labels import load
    from analysis.results.data.machine_scores import load_scores
    from analysis.results.reports import parameters_from
    from foundation.errors import DomainError
    from jobs.progress.reporter import Unwatched

    parameters = parameters_from(report.study, report.parameters)
    results = compute(
        data=load(study=report.study, parameters=parameters),
        parameters=parameters,
        progress=Unwatched(),
        scores=load_scores(report.study),
    )
    summary = json.loads(json.dumps(results.summary, default=lambda number: number.item()))
    for name in ("inputs_digest", "headline"):
        if not same(summary[name], report.summary[name]):
            raise DomainError(
                "report_differs",
                f"The results of {report.study.name} computed from the restored labels differ from those "
                f"stored in the backup ({name}): do not rely on this backup.",
            )


def same(first: Any, second: Any) -> bool:
    """Return whether two JSON values are equal, numbers within rounding."""
    if isinstance(first, dict) and isinstance(second, dict):
        return first.keys() == second.keys() and all(same(first[key], second[key]) for key in first)
    if isinstance(first, list) and isinstance(second, list):
        return len(first) == len(second) and all(map(same, first, second))
    if isinstance(first, float) and isinstance(second, int | float):
        return math.isclose(first, second, rel_tol=_TOLERANCE, abs_tol=_TOLERANCE)
    return bool(first == second)


def main(folder: str, backup_name: str) -> None:
    import os

    import django

    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")
    django.setup()
    from foundation.errors import DomainError

    try:
        outcome = rehearse(Path(folder), backup_name)
    except DomainError as refusal:
        outcome = {"code": refusal.code, "message": refusal.message}
    sys.stdout.write(f"{json.dumps(outcome)}\n")


if __name__ == "__main__":
    main(*sys.argv[1:])
