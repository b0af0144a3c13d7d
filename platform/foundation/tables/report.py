"""The report on the rows of an imported file: each is kept, repaired or rejected."""

import csv
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

from foundation.errors import DomainError


@dataclass(frozen=True)
class Rejection:
    """A row that was left out."""

    file: str
    row: int  # as in a spreadsheet, where the header is row 1
    reason: str
    summary: str = ""  # wording for counts, if the reason names another row


@dataclass(frozen=True)
class RowsReport:
    """The rows of one file: `kept + repaired + len(rejected) == read`.

    Kept: imported unchanged. Repaired: imported after at least one change; `repairs` counts rows by change, and
    a row with two changes counts under both. Rejected: not imported.
    """

    kind: str
    file: str
    read: int
    repaired: int
    repairs: Mapping[str, int]
    rejected: tuple[Rejection, ...]
    notes: tuple[str, ...] = ()

    @property
    def kept(self) -> int:
        return self.read - self.repaired - len(self.rejected)

    @property
    def reasons(self) -> dict[str, int]:
        """Number of rejected rows by reason, the most frequent first."""
        counts: dict[str, int] = {}
        for rejection in self.rejected:
            reason = rejection.summary or rejection.reason
            counts[reason] = counts.get(reason, 0) + 1
        return dict(sorted(counts.items(), key=lambda item: -item[1]))

    def lines(self) -> list[str]:
        """Return the report as plain lines for a console."""
        lines = [
            f"{self.kind} ({self.file}): {self.read:,} rows read = {self.kept:,} kept"
            f" + {self.repaired:,} repaired + {len(self.rejected):,} rejected"
        ]
        lines += [f"  repaired: {how}: {count:,}" for how, count in self.repairs.items()]
        reasons = list(self.reasons.items())
        lines += [f"  rejected: {why}: {count:,}" for why, count in reasons[:20]]
        if len(reasons) > 20:
            lines.append(f"  rejected: {len(reasons) - 20:,} further reasons")
        return lines + [f"  note: {note}" for note in self.notes]


def write_rejected(reports: Iterable[RowsReport], folder: Path) -> Path:
    """Write `rejected.csv` (file, row, reason) of all reports into `folder` and return its path."""
    path = folder / "rejected.csv"
    part = path.with_suffix(".part")
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with part.open("w", encoding="utf-8", newline="") as file:
            writer = csv.writer(file)
            writer.writerow(["file", "row", "reason"])
            for report in reports:
                writer.writerows((entry.file, entry.row, entry.reason) for entry in report.rejected)
        part.replace(path)
    except OSError as error:
        raise DomainError("output_not_writable", f"“{path}” cannot be written: {error.strerror}.") from error
    return path
