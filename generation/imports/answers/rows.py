"""Reading rows of a file as answers, with their run and repeat."""

import math
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from foundation.errors import DomainError
from foundation.tables.reader import Table
from foundation.tables.report import Rejection
from generation.imports.answers.fields import FIELDS, AnswerImportOptions
from generation.imports.answers.references import AnswerReference, References
from generation.models import Answer
from generation.models.probes import LONGEST_ANSWER
from generation.runs.planning import clean_label, clean_model_id, default_label

BACKEND = "imported"
MOST_REPEATS = 100
MAX_NAME = 120
_OUTCOMES = {"": "done", **{name: name for name in ("done", "declined", "failed")}}
_TEXTS = {"finish_reason": 60, "served_model": 200, "fingerprint": 200}
_REPEAT = re.compile("[0-9]{1,3}")
_MOST_TOKENS = 2**31 - 1


@dataclass(frozen=True, slots=True)
class RunIdentity:
    """The probe set and model of answers; each combination is one run."""

    probe_set: str
    model_id: str
    label: str
    revision: str
    number: str  # distinguishes runs of a model; "" if the file does not
    temperature: float | None


@dataclass(frozen=True, slots=True)
class ImportedRow:
    """A valid row."""

    row: int  # number of the row in the file
    run: RunIdentity
    subject: AnswerReference
    repeat: int  # 0, 1, …
    outcome: str
    text: str
    cut: bool  # whether the text was too long and was cut
    facts: Mapping[str, Any]  # further fields of `Answer`


@dataclass
class ImportedRows:
    """The valid and the rejected rows of a file."""

    rows: list[ImportedRow] = field(default_factory=list)
    rejected: list[Rejection] = field(default_factory=list)


def read_rows(
    table: Table,
    columns: Mapping[str, str],
    references: Mapping[str, References],
    options: AnswerImportOptions,
) -> ImportedRows:
    """Read every row; reject rows that match nothing in the study or repeat an earlier row.

    `references` are keyed by the name of the probe set.
    """
    reader = _RowReader(table, references, options, numbered="repeat" in columns)
    cells = {name: table.columns[column] for name, column in columns.items() if name in FIELDS}
    for index, row in enumerate(table.rows.tolist()):
        reader.read(int(row), {name: values[index] for name, values in cells.items()})
    reader.read_unreadable()
    return reader.result


class _RowReader:
    def __init__(
        self,
        table: Table,
        references: Mapping[str, References],
        options: AnswerImportOptions,
        *,
        numbered: bool,
    ) -> None:
        self.result = ImportedRows()
        self._table, self._references, self._options = table, references, options
        self._numbered = numbered
        self._runs: dict[tuple[str, ...], RunIdentity] = {}
        self._counts: dict[tuple[RunIdentity, AnswerReference], int] = {}
        self._rows: dict[tuple[RunIdentity, AnswerReference, int], ImportedRow] = {}

    def read(self, row: int, cells: Mapping[str, str]) -> None:
        if not any(cell.strip() for cell in cells.values()):
            return self._reject(row, "blank row")
        try:
            answer = self._answer(row, cells)
        except (ValueError, DomainError) as error:
            return self._reject(row, str(error).rstrip("."))
        key = (answer.run, answer.subject, answer.repeat)
        earlier = self._rows.setdefault(key, answer)
        if earlier is not answer:
            alike = (earlier.outcome, earlier.text) == (answer.outcome, answer.text)
            problem = "the same as" if alike else "another answer to the same question and repeat as"
            return self._reject(row, f"{problem} row {earlier.row}", f"{problem} an earlier row")
        self.result.rows.append(answer)
        return None

    def read_unreadable(self) -> None:
        for row, reason in self._table.unreadable:
            self._reject(row, reason)
        self.result.rejected.sort(key=lambda rejection: rejection.row)

    def _reject(self, row: int, reason: str, summary: str = "") -> None:
        self.result.rejected.append(Rejection(self._table.name, row, reason, summary))

    def _answer(self, row: int, cells: Mapping[str, str]) -> ImportedRow:
        outcome = cells.get("outcome", "").strip().casefold()
        if outcome not in _OUTCOMES:
            raise ValueError(f"outcome is “{outcome[:40]}”, not done, declined or failed")
        outcome = _OUTCOMES[outcome]
        run = self._run(cells)
        subject = self._references[run.probe_set].find(cells)
        return ImportedRow(
            row=row,
            run=run,
            subject=subject,
            repeat=self._repeat(cells.get("repeat", ""), run, subject),
            outcome=outcome,
            text="" if outcome == Answer.Outcome.FAILED else cells["text"][:LONGEST_ANSWER],
            cut=outcome != Answer.Outcome.FAILED and len(cells["text"]) > LONGEST_ANSWER,
            facts={
                **{name: cells.get(name, "").strip()[:limit] for name, limit in _TEXTS.items()},
                "tokens_in": _tokens(cells, "tokens_in"),
                "tokens_out": _tokens(cells, "tokens_out"),
                "seconds": _seconds(cells.get("seconds", "")),
            },
        )

    def _run(self, cells: Mapping[str, str]) -> RunIdentity:
        stated = (
            cells.get("probe_set", "").strip(),
            cells.get("model", "").strip() or self._options.model,
            cells.get("label", "").strip() or self._options.label,
            cells.get("revision", "").strip(),
            cells.get("run", "").strip(),
            cells.get("temperature", "").strip(),
        )
        if stated not in self._runs:
            probe_set, model_id, label, revision, number, temperature = stated
            if not model_id and not label:
                raise ValueError("no model: enter the model, or name the column that contains it")
            if max(len(revision), len(number)) > MAX_NAME:
                raise ValueError(f"revision or run has more than {MAX_NAME} characters")
            model_id = clean_model_id(model_id, needed=False)
            label = clean_label(label or default_label(BACKEND, model_id))
            self._runs[stated] = RunIdentity(
                self._probe_set(probe_set), model_id, label, revision, number, _temperature(temperature)
            )
        return self._runs[stated]

    def _probe_set(self, name: str) -> str:
        if name in self._references:
            return name
        if len(self._references) == 1 and not name:
            return next(iter(self._references))
        raise ValueError(f"there is no probe set “{name[:60]}”" if name else "no probe set")

    def _repeat(self, cell: str, run: RunIdentity, subject: AnswerReference) -> int:
        if self._numbered:
            first = self._options.first_repeat
            number = int(cell) if _REPEAT.fullmatch(cell.strip()) else -1
            if not first <= number < first + MOST_REPEATS:
                problem = f"repeat is “{cell.strip()[:40]}”, not a whole number from {first}"
                raise ValueError(f"{problem} to {first + MOST_REPEATS - 1}")
            return number - first
        count = self._counts.get((run, subject), 0)
        if count >= MOST_REPEATS:
            raise ValueError(f"more than {MOST_REPEATS} answers to the same question")
        self._counts[run, subject] = count + 1
        return count


def _tokens(cells: Mapping[str, str], name: str) -> int | None:
    cell = cells.get(name, "").strip()
    if not cell:
        return None
    if not (cell.isascii() and cell.isdigit() and len(cell) <= 10 and int(cell) <= _MOST_TOKENS):
        raise ValueError(f"{name} is “{cell[:40]}”, not a number of tokens")
    return int(cell)


def _temperature(cell: str) -> float | None:
    return _fraction(cell, "temperature is “{}”, not a number from 0 to 2", most=2) if cell else None


def _seconds(cell: str) -> float | None:
    return _fraction(cell, "seconds is “{}”, not a time in seconds", most=1e7) if cell.strip() else None


def _fraction(cell: str, problem: str, *, most: float) -> float:
    try:
        number = float(cell)
    except ValueError:
        number = -1.0
    if not (math.isfinite(number) and 0 <= number <= most):
        raise ValueError(problem.format(cell.strip()[:40]))
    return number
