"""The CSV file that translators fill in: one row per text, one column per language."""

import csv
import io
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import BinaryIO

from annotation.campaigns.instruments.languages.progress import OUTDATED, LanguageState
from annotation.campaigns.instruments.languages.sources import SourceText
from foundation.errors import DomainError
from foundation.tables.formulas import guarded, unguarded
from foundation.tables.reader import Table, needs_columns, read_table

KEY, PLACE, SOURCE, DIGEST = "key", "place", "source", "digest"
_COLUMNS = (KEY, PLACE, SOURCE, DIGEST)
LARGEST_FILE = 5_000_000  # bytes
_SHOWN_PROBLEMS = 10
_PLACEHOLDER = re.compile(r"\{\w*\}")
_MARKUP = re.compile(r"<\s*[/!?]?\s*[a-zA-Z!-]|&(?:#\d+|#x[0-9a-fA-F]+|[a-zA-Z]+);")
_CONTROL = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f\u202a-\u202e\u2066-\u2069]")
_DIGEST_FORM = re.compile(r"[0-9a-f]{16}")


@dataclass(frozen=True)
class Translation:
    """A cell of the file: a text in a language, and the digest of what it translates."""

    language: str
    key: str
    text: str
    digest: str


def as_csv(sources: Sequence[SourceText], states: Sequence[LanguageState]) -> bytes:
    """Return the file. If a source text has changed since it was translated, its cell is empty and must be filled in.

    It begins with a byte order mark, without which spreadsheets read Hindi or German letters wrongly.
    """
    texts = {state.code: {text.source.key: text for text in state.texts} for state in states}
    rows = io.StringIO()
    writer = csv.writer(rows, lineterminator="\r\n")
    writer.writerow([*_COLUMNS, *texts])
    for source in sources:
        cells = [by_key[source.key] for by_key in texts.values()]
        translated = ["" if cell.state == OUTDATED else guarded(cell.text) for cell in cells]
        writer.writerow([source.key, source.place, guarded(source.text), guarded(source.digest), *translated])
    return rows.getvalue().encode("utf-8-sig")


def from_csv(
    source: BinaryIO, *, name: str, sources: Sequence[SourceText], languages: Sequence[str]
) -> list[Translation]:
    """Return the cells that are filled in; DomainError `translations_invalid` names the rows that are wrong.

    A translator may leave out the columns of other languages, and of the place. An empty cell changes nothing.
    """
    table = read_table(source, name=name, workbooks=False, max_bytes=LARGEST_FILE)
    columns = _languages_of(table, name, languages)
    problems = [f"Row {row}: {why}." for row, why in table.unreadable]
    by_key = {text.key: text for text in sources}
    translations: list[Translation] = []
    rows_by_key: dict[str, int] = {}
    for index, row in enumerate(table.rows.tolist()):
        key = str(table.columns[KEY][index]).strip()
        digest = unguarded(str(table.columns[DIGEST][index]).strip())
        cells = {code: _cell(table, code, index) for code in columns}
        if not key and not any(cells.values()):
            continue
        if problem := _problem_of_row(key, digest, by_key, rows_by_key):
            problems.append(f"Row {row}: {problem}")
            continue
        rows_by_key[key] = row
        for code, text in cells.items():
            if not text:
                continue
            problems += [f"Row {row}, column {code}: {why}" for why in _problems_of(text, by_key[key])]
            translations.append(Translation(code, key, text, digest))
    _refuse(problems)
    return translations


def _languages_of(table: Table, name: str, languages: Sequence[str]) -> list[str]:
    needs_columns(table.columns.keys(), name=name, needs=(KEY, DIGEST))
    columns = [column for column in table.columns if column not in _COLUMNS]
    if unknown := [column for column in columns if column not in languages]:
        shown = ", ".join(f"“{column[:40]}”" for column in unknown[:5])
        offered = ", ".join(languages) or "none"
        _refuse([f"The campaign has no language {shown}; it has {offered}."])
    if not columns:
        _refuse(["The file has no column for a language. Download the file again and fill it in."])
    return columns


def _cell(table: Table, column: str, index: int) -> str:
    text = unguarded(str(table.columns[column][index]))
    return text.replace("\r\n", "\n").replace("\r", "\n").strip()


def _problem_of_row(key: str, digest: str, by_key: dict[str, SourceText], rows_by_key: dict[str, int]) -> str:
    if key not in by_key:
        return f"the campaign has no text “{key[:60]}”."
    if key in rows_by_key:
        return f"“{key}” is in row {rows_by_key[key]}, too."
    if not _DIGEST_FORM.fullmatch(digest):
        return "the digest was changed; copy it from the file that you downloaded."
    return ""


def _problems_of(text: str, source: SourceText) -> Iterator[str]:
    if len(text) > source.longest:
        yield f"the text has {len(text):,} characters; {source.longest:,} are allowed."
    if _MARKUP.search(text) and not _MARKUP.search(source.text):
        yield "HTML is not allowed."
    if _CONTROL.search(text):
        yield "the text contains control characters."
    in_source, in_text = (sorted(_PLACEHOLDER.findall(words)) for words in (source.text, text))
    if in_source != in_text:
        yield f"keep {', '.join(in_source)} as it is." if in_source else "{…} is not in the source text."


def _refuse(problems: Sequence[str]) -> None:
    if not problems:
        return
    more = len(problems) - _SHOWN_PROBLEMS
    sentences = [*problems[:_SHOWN_PROBLEMS], *([f"There are {more:,} more problems."] if more > 0 else [])]
    message = " ".join(sentence[0].upper() + sentence[1:] for sentence in sentences)
    raise DomainError("translations_invalid", f"Nothing was stored. {message}", fields={"file": message})
