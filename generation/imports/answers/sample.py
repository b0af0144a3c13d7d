"""The first rows of a file of answers, stored so that columns can be chosen without reading the file again."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from foundation.errors import DomainError
from foundation.tables.reader import Table
from generation.imports.answers.fields import FIELDS, RELEASED, AnswerImportOptions, is_released, mapped
from generation.imports.answers.probe_sets import named_in
from generation.imports.answers.references import References, folded
from generation.imports.answers.rows import ImportedRow, read_rows
from generation.probing.probe_sets import ProbeSet
from studies.models import Study

_MOST_ROWS = 25
_MOST_COLUMNS = 60
_MOST_CHARACTERS = 400  # of a cell
# Column names in files of other programs.
_OTHER_NAMES = {
    "text": ("response", "answer", "completion", "output", "reply", "generated_text"),
    "question": ("prompt", "input"),
    "group": ("person", "identity", "identity_group", "variant"),
    "image": ("image_path", "file", "file_name", "filename"),
    "repeat": ("epoch", "sample", "trial"),
    "model": ("model_id", "model_name"),
}


@dataclass(frozen=True)
class FileSample:
    """The columns and first rows of a file; cells are cut to 400 characters."""

    name: str
    columns: Sequence[str]
    rows: Sequence[int]
    cells: Sequence[Sequence[str]]
    total: int  # number of rows in the whole file
    unreadable: Sequence[tuple[int, str]]
    released: bool

    def as_json(self) -> dict[str, Any]:
        return asdict(self)

    @property
    def table(self) -> Table:
        by_column = {
            column: np.array([row[place] for row in self.cells], dtype=object)
            for place, column in enumerate(self.columns)
        }
        return Table(self.name, by_column, np.array(self.rows, dtype=np.int64), (), "")

    def suggested(self) -> dict[str, str]:
        """Return the likely column of each field, or ""."""
        by_name = {folded(column): column for column in reversed(self.columns)}
        used: set[str] = set()
        suggestions = {}
        for field in FIELDS:
            names = (RELEASED.get(field, field),) if self.released else (field, *_OTHER_NAMES.get(field, ()))
            fitting = [by_name[name] for name in names if by_name.get(name, "") not in ("", *used)]
            suggestions[field] = fitting[0] if fitting else ""
            used |= set(fitting[:1])
        return suggestions


@dataclass(frozen=True)
class SampleRow:
    """A row of the sample as it would be imported, or the reason why it is left out."""

    row: int
    text: str
    answer: ImportedRow | None
    problem: str


def sample_of(table: Table) -> FileSample:
    """Return the columns and first rows of a table."""
    columns = list(table.columns)[:_MOST_COLUMNS]
    most = min(_MOST_ROWS, len(table))
    return FileSample(
        name=table.name,
        columns=columns,
        rows=[int(row) for row in table.rows[:most]],
        cells=[
            [table.columns[column][place][:_MOST_CHARACTERS] for column in columns] for place in range(most)
        ],
        total=table.read,
        unreadable=[(int(row), reason) for row, reason in table.unreadable[:_MOST_ROWS]],
        released=is_released(table),
    )


def read_sample(
    sample: FileSample,
    study: Study,
    columns: Mapping[str, str],
    *,
    probe_sets: Mapping[str, ProbeSet],
    options: AnswerImportOptions,
) -> list[SampleRow]:
    """Return the rows of a sample read with these columns; raise DomainError if the columns cannot be used."""
    table = sample.table
    chosen = mapped(table, columns, stated_alone=True)
    references = {
        name: References(study, probe_set, order=options.order)
        for name, probe_set in named_in(table, chosen, probe_sets).items()
    }
    if not references:
        message = "The file does not name a probe set of this study. Choose a probe set."
        raise DomainError("probe_set_missing", message, fields={"probe_set": message})
    result = read_rows(table, chosen, references, options)
    understood = {row.row: row for row in result.rows}
    problems = {rejection.row: rejection.reason for rejection in result.rejected}
    texts = table.columns[chosen["text"]]
    rows = [
        SampleRow(row, texts[place], understood.get(row), problems.get(row, ""))
        for place, row in enumerate(sample.rows)
    ]
    unreadable = [SampleRow(row, "", None, reason) for row, reason in sample.unreadable]
    return sorted((*rows, *unreadable), key=lambda row: row.row)
