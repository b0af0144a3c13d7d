"""Reading files of descriptors, with their forms and dimensions."""

import json
import re
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from catalog.word_forms import PLURAL, SINGULAR
from foundation.errors import DomainError
from foundation.tables.limits import refusal
from foundation.tables.reader import Table, needs_columns, read_bytes, read_table

MOST_ROWS = 20_000
MOST_CHARACTERS = 120
_MOST_DIMENSION = 60
_DIMENSIONS = {"socioeconomic": "socioeconomic status"}  # two spellings in the published files
_SENTENCE = re.compile(
    r"(?P<article>(?:an?|this)\s+)?(?P<name>.+?)(?:\s+(?P<verb>is|are))?(?:\s+a/an)?", re.IGNORECASE
)
# Errors of replaced articles in the published files: “A n english person is”, “This ThisIDS person is”.
_BROKEN = (
    (re.compile(r"^(a) (n) (?=\w)", re.IGNORECASE), r"\1\2 "),
    (re.compile(r"^This This(?=\w)"), "This A"),
    (re.compile(r"^This n (?=\w)"), "This "),
)


@dataclass(frozen=True)
class DescriptorRow:
    """One row with its forms, and a key shared with rows of another file (the published `target`)."""

    file: str
    row: int
    dimension: str
    forms: Mapping[str, str]
    key: str = ""
    repair: str = ""


def read_rows(path: Path) -> list[DescriptorRow]:
    """Return the descriptors that a file lists; raise DomainError, naming file and row, if it is invalid.

    A table has the columns `dimension`, `singular` and `plural` (one of the forms may be missing), or those of the
    published files: `bias_type` and `template`, or `bias_type`, `target` and `target_singular` or `target_plural`.
    JSON is an object of dimensions, each with a list of singular forms.
    """
    rows = _of_json(path) if path.suffix.lower() == ".json" else _of_table(read_table(path, workbooks=False))
    if not rows:
        raise refusal(path.name, "lists no descriptor", "table_empty")
    if len(rows) > MOST_ROWS:
        raise refusal(path.name, f"lists more than {MOST_ROWS:,} descriptors", "table_too_large")
    return rows


def _of_json(path: Path) -> list[DescriptorRow]:
    try:
        content = json.loads(read_bytes(path, path.name).decode("utf-8-sig"))
    except (ValueError, RecursionError):
        raise refusal(path.name, "is not JSON", "table_not_json") from None
    lists = content.values() if isinstance(content, dict) else [None]
    if not all(isinstance(names, list) and all(isinstance(name, str) for name in names) for names in lists):
        raise refusal(path.name, "is not an object of dimensions with lists of descriptors", "table_not_json")
    pairs = [(dimension, name) for dimension, names in content.items() for name in names]
    return [
        DescriptorRow(
            path.name,
            number,
            _clean_dimension(path.name, number, dimension),
            {SINGULAR: _clean(path.name, number, name)},
        )
        for number, (dimension, name) in enumerate(pairs, start=1)
    ]


def _of_table(table: Table) -> list[DescriptorRow]:
    if table.unreadable:
        row, why = table.unreadable[0]
        raise refusal(table.name, f"has {why} in row {row}", "row_bad")
    columns = {column.lower(): column for column in table.columns}
    cells = {name: [str(cell).strip() for cell in table.columns[column]] for name, column in columns.items()}
    if "template" in cells:
        needs_columns(cells, name=table.name, needs=("bias_type", "template"))
        return list(_of_sentences(table, cells))
    published = "bias_type" in cells
    dimension = "bias_type" if published else "dimension"
    form_columns = {form: f"target_{form}" if published else form for form in (SINGULAR, PLURAL)}
    if not set(form_columns.values()) & set(cells):
        raise refusal(table.name, f"has no column “{form_columns[SINGULAR]}”", "column_missing")
    needs_columns(cells, name=table.name, needs=(dimension,))
    return list(_of_forms(table, cells, dimension, form_columns))


def _of_forms(
    table: Table, cells: Mapping[str, list[str]], dimension: str, form_columns: Mapping[str, str]
) -> Iterator[DescriptorRow]:
    for index, number in enumerate(map(int, table.rows)):
        forms = {
            form: _clean(table.name, number, cells[column][index])
            for form, column in form_columns.items()
            if column in cells and cells[column][index]
        }
        if not forms:
            if any(column[index] for column in cells.values()):
                raise _refused(table.name, number, "the row has no descriptor")
            continue
        key = cells["target"][index].casefold() if "target" in cells else ""
        name = _clean_dimension(table.name, number, cells[dimension][index])
        yield DescriptorRow(table.name, number, name, forms, key)


def _of_sentences(table: Table, cells: Mapping[str, list[str]]) -> Iterator[DescriptorRow]:
    """Read “An old person is” as a singular and “Old people are” as a plural.

    A sentence without a verb, or with “is” and no article, is read in the form of most sentences of its file, because
    the published files contain “A skinny person” and “Caucasians is”.
    """
    verbs = Counter(sentence.casefold().split()[-1] for sentence in cells["template"] if sentence)
    usual = PLURAL if verbs["are"] > verbs["is"] else SINGULAR
    for index, number in enumerate(map(int, table.rows)):
        sentence = _sentence(cells["template"][index])
        if not sentence and not cells["bias_type"][index]:
            continue
        match = _SENTENCE.fullmatch(sentence)
        if match is None or not match["name"]:
            raise _refused(table.name, number, "the row has no descriptor")
        verb = (match["verb"] or "").casefold()
        form = PLURAL if verb == "are" else SINGULAR if verb and match["article"] else usual
        repair = "" if form == usual and verb and sentence == cells["template"][index] else "sentence read"
        name = _clean_dimension(table.name, number, cells["bias_type"][index])
        yield DescriptorRow(
            table.name, number, name, {form: _clean(table.name, number, match["name"])}, "", repair
        )


def _sentence(text: str) -> str:
    sentence = " ".join(text.split())
    for broken, repaired in _BROKEN:
        sentence = broken.sub(repaired, sentence)
    return sentence


def _clean(file: str, row: int, text: str) -> str:
    name = " ".join(text.split())
    if not name or len(name) > MOST_CHARACTERS or not name.isprintable():
        raise _refused(file, row, f"a descriptor has 1 to {MOST_CHARACTERS} printable characters")
    if not any(character.isalpha() for character in name):
        raise _refused(file, row, "a descriptor has letters")
    return name


def _clean_dimension(file: str, row: int, text: str) -> str:
    name = " ".join(re.split(r"[\s_-]+", text.strip().casefold()))
    if not name or len(name) > _MOST_DIMENSION or not name.isprintable():
        raise _refused(file, row, f"the dimension must have 1 to {_MOST_DIMENSION} printable characters")
    return _DIMENSIONS.get(name, name)


def _refused(file: str, row: int, problem: str) -> DomainError:
    return DomainError("row_bad", f"“{file}”, row {row}: {problem}.", fields={f"row {row}": problem})
