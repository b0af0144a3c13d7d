"""Parse the cells of a table, each distinct value once; unreadable rows are rejected with a reason."""

import datetime as dt
from collections.abc import Callable, Sequence
from typing import Any, Generic, TypeVar

import numpy as np
import pandas as pd
from django.utils import timezone
from django.utils.dateparse import parse_datetime
from numpy.typing import NDArray

from annotation.models.language_codes import LANGUAGE_CODES
from foundation.errors import DomainError
from foundation.tables.reader import Table
from foundation.tables.report import Rejection, RowsReport

T = TypeVar("T")
Mask = NDArray[np.bool_]
Codes = NDArray[np.int64]

BLANK = "blank row"


class CodedColumn(Generic[T]):
    """A column as indices into its distinct values. The value of an unreadable cell is None."""

    def __init__(self, codes: Codes, values: Sequence[T]) -> None:
        self.codes = codes
        self.values = list(values)

    def of(self, rows: Codes | Mask) -> list[T]:
        """Return the values of the given rows."""
        return [self.values[code] for code in self.codes[rows]]

    def where(self, holds: Callable[[T], bool]) -> Mask:
        """Return a mask of the rows whose value satisfies `holds`."""
        return np.array([holds(value) for value in self.values], dtype=bool)[self.codes]

    def merged(self) -> "CodedColumn[T]":
        """Return the column with one code per value; two spellings may have parsed to the same value."""
        numbers: dict[T, int] = {}
        renumbered = [numbers.setdefault(value, len(numbers)) for value in self.values]
        return CodedColumn(np.array(renumbered, dtype=np.int64)[self.codes], list(numbers))


class Reading:
    """The state of reading one table: rejected rows with reasons, and repaired rows."""

    def __init__(self, table: Table) -> None:
        self.table = table
        self._reasons: list[str] = []
        self._reason_of = np.full(len(table), -1, dtype=np.int64)
        self._summaries: dict[str, str] = {}
        self.repairs: dict[str, Mask] = {}
        self.notes: list[str] = []

    @property
    def accepted(self) -> Mask:
        return np.asarray(self._reason_of < 0)

    def reject(self, rows: Mask, reason: str) -> None:
        """Reject those of the rows that are not rejected yet."""
        self._reasons.append(reason)
        self._reason_of[rows & self.accepted] = len(self._reasons) - 1

    def reject_each(self, rows: Codes, because_of: Codes, reason: str, summary: str) -> None:
        """Reject accepted rows, each because of another row, whose number replaces `{row}` in `reason`.

        `summary` is their common reason in counts of rejected rows.
        """
        start = len(self._reasons)
        numbers = self.table.rows[because_of].tolist()
        self._reasons += [reason.format(row=number) for number in numbers]
        self._summaries.update(dict.fromkeys(self._reasons[start:], summary))
        self._reason_of[rows] = np.arange(start, len(self._reasons))

    def reject_blank(self, columns: Sequence[str]) -> None:
        """Reject rows in which all of these columns are blank."""
        blank = np.ones(len(self.table), dtype=bool)
        for column in columns:
            codes, values = pd.factorize(self.cells(column))
            blank &= np.array([not value.strip() for value in values], dtype=bool)[codes]
        self.reject(blank, BLANK)

    def note_repair(self, rows: Mask, how: str) -> None:
        """Record that rows were repaired."""
        self.repairs[how] = self.repairs[how] | rows if how in self.repairs else rows

    def cells(self, column: str) -> NDArray[np.object_]:
        return self.table.columns[column]

    def coded(self, cells: NDArray[np.object_], parse: Callable[[str], T]) -> CodedColumn[T]:
        """Parse each distinct cell once; a ValueError or DomainError from `parse` rejects its rows."""
        codes, distinct = pd.factorize(cells)
        values: list[Any] = []
        reasons = np.full(len(distinct) + 1, -1, dtype=np.int64)
        for index, cell in enumerate(distinct):
            try:
                values.append(parse(cell))
            except (ValueError, DomainError) as error:
                values.append(None)
                self._reasons.append(str(error).rstrip("."))
                reasons[index] = len(self._reasons) - 1
        reason_of = reasons[codes]
        bad = (reason_of >= 0) & self.accepted
        self._reason_of[bad] = reason_of[bad]
        return CodedColumn(codes.astype(np.int64), values)

    def report(self, kind: str, notes: Sequence[str] = ()) -> RowsReport:
        """Return the numbers of rows read, repaired and rejected, with reasons."""
        name, rows = self.table.name, self.table.rows
        rejected = [Rejection(name, row, why) for row, why in self.table.unreadable]
        rejected += [
            Rejection(name, int(rows[index]), reason, self._summaries.get(reason, ""))
            for index in np.flatnonzero(~self.accepted)
            for reason in [self._reasons[self._reason_of[index]]]
        ]
        counts = {how: int((mask & self.accepted).sum()) for how, mask in self.repairs.items()}
        repaired = np.zeros(len(rows), dtype=bool)
        for mask in self.repairs.values():
            repaired |= mask
        return RowsReport(
            kind=kind,
            file=name,
            read=self.table.read,
            repaired=int((repaired & self.accepted).sum()),
            repairs={how: count for how, count in counts.items() if count},
            rejected=tuple(sorted(rejected, key=lambda rejection: rejection.row)),
            notes=(*self.notes, *notes),
        )


def name_parser(field: str, limit: int) -> Callable[[str], str]:
    """Return a parser for non-empty, printable names of at most `limit` characters."""

    def parse(cell: str) -> str:
        name = cell.strip()
        if not name:
            raise ValueError(f"no {field}")
        if len(name) > limit:
            raise ValueError(f"{field} longer than {limit} characters")
        if not name.isprintable():
            raise ValueError(f"{field} contains a control character")
        return name

    return parse


def choice_parser(field: str, choices: dict[str, T]) -> Callable[[str], T]:
    """Return a parser that maps words, in any case, to the values in `choices`."""

    def parse(cell: str) -> T:
        word = cell.strip().casefold()
        if word not in choices:
            raise ValueError(f"{field} is “{cell[:40]}”" if word else f"{field} is empty")
        return choices[word]

    return parse


def parse_moment(cell: str) -> dt.datetime | None:
    """Parse an ISO date and time, in UTC if it has no offset; an empty cell is None."""
    if not cell.strip():
        return None
    moment = parse_datetime(cell.strip())
    if moment is None:
        raise ValueError(f"submitted_at is “{cell[:40]}”, not a date and time")
    if timezone.is_naive(moment):
        moment = moment.replace(tzinfo=dt.UTC)
    if not 1970 <= moment.year <= 9000:
        raise ValueError(f"submitted_at is “{cell[:40]}”, not a plausible date and time")
    return moment


def moments(column: CodedColumn[dt.datetime | None]) -> NDArray[np.float64]:
    """Return the time of each row in seconds since 1970, or NaN if missing."""
    seconds = [np.nan if value is None else value.timestamp() for value in column.values]
    return np.array(seconds, dtype=np.float64)[column.codes]


def parse_language(cell: str) -> str | None:
    """Parse a language code or a locale such as `es-MX`, whose first part counts; an empty cell is None."""
    code = cell.strip().casefold().replace("_", "-").partition("-")[0]
    if code and code not in LANGUAGE_CODES:
        raise ValueError(f"language is “{cell[:40]}”, not a code of ISO 639 with two letters")
    return code or None


def parse_seconds(cell: str) -> float | None:
    """Parse a duration in seconds; an empty cell is None."""
    if not cell.strip():
        return None
    try:
        seconds = float(cell)
    except ValueError:
        seconds = -1.0
    if not 0 <= seconds < 1e7:
        raise ValueError(f"seconds is “{cell[:40]}”, not a time in seconds")
    return seconds
