"""The codebook: every table and column of a release, with the meaning of its values and of empty cells."""

import csv
import io
from collections.abc import Iterator

from analysis.releases.contents import Column, Contents, QuestionCampaignFacts, ReleaseTable
from analysis.releases.documents.markdown import Marked, amount, code, plain, sections, table
from analysis.releases.documents.questions import questions_in_words
from analysis.results.output.csv_tables import cell

HEADER = ("table", "column", "type", "unit", "values", "description", "missing")
_TYPES = {
    "string": "text (UTF-8)",
    "boolean": "true or false",
    "integer": "whole number",
    "number": "fraction (64 bits)",
    "date": "day, as 2026-11-21",
}
_UNITS = {
    "active_seconds": "seconds",
    "x": "share of the image's width, 0 to 1",
    "width": "share of the image's width, 0 to 1",
    "y": "share of the image's height, 0 to 1",
    "height": "share of the image's height, 0 to 1",
    "share": "share, 0 to 1",
    "probability": "probability, 0 to 1",
    "score": "probability, 0 to 1",
    "cosine": "cosine, −1 to 1",
    "precision": "share, 0 to 1",
    "recall": "share, 0 to 1",
    "likelihood": "share, 0 to 1",
    "submitted": "day in UTC",
    "offensiveness": "−1 to 4",
}
_PIXELS = {("images", "width"), ("images", "height")}
NEVER = "never empty"


def unit_of(where: ReleaseTable, column: Column) -> str:
    """Return the unit of a column, "" if it has none."""
    if (where.name, column.name) in _PIXELS:
        return "pixels"
    if column.name.startswith("share_"):
        return _UNITS["share"]
    if column.name.startswith("rating_"):
        return _UNITS["offensiveness"]
    return _UNITS.get(column.name, "") if column.type in ("number", "date") else ""


def _rows(contents: Contents) -> Iterator[tuple[str, ...]]:
    for release_table in contents.tables:
        for column in release_table.columns:
            yield (
                release_table.name,
                column.name,
                column.type,
                unit_of(release_table, column),
                "; ".join(f"{value} = {meaning}" for value, meaning in (column.values or {}).items()),
                _description(column),
                _missing(column),
            )


def _description(column: Column) -> str:
    return column.description.split("; empty", 1)[0]


def _missing(column: Column) -> str:
    """Return the meaning of an empty cell, from the column's description."""
    if not column.nullable:
        return NEVER
    _, separator, when = column.description.partition("; empty")
    return when.strip() if separator else "if it is unknown"


def codebook_csv(contents: Contents) -> str:
    """Return the codebook as a table, a line for each column of each table."""
    written = io.StringIO()
    writer = csv.writer(written, lineterminator="\n")
    writer.writerow(HEADER)
    writer.writerows(_rows(contents))
    writer.writerows([cell(text) for text in row] for row in _question_rows(contents))
    return written.getvalue()


def _question_rows(contents: Contents) -> Iterator[tuple[str, ...]]:
    """Each declared question as a row, together with the rows of the column for its answers."""
    for campaign in contents.question_campaigns:
        for words in questions_in_words(campaign):
            yield (
                f"answers of {words.name} in {campaign.slug}",
                " or ".join(words.columns),
                words.column_type,
                "",
                "; ".join(words.values),
                "; ".join(filter(None, [words.label, words.place])),
                f"asked {words.asked}",
            )


def codebook(contents: Contents) -> str:
    """Return the codebook to read."""
    introduction = (
        "This codebook explains every table and every column. All formats have the same tables, with the same "
        "columns in the same order. An empty value is null in Parquet and JSON lines, and an empty cell in CSV. In "
        "CSV files only, text that a spreadsheet would run as a formula begins with an apostrophe."
    )
    types = table(("type", "what it is"), [(code(name), meaning) for name, meaning in _TYPES.items()])
    parts = [f"# Codebook of {plain(contents.study.name)}, release {contents.version}", introduction, types]
    for release_table in contents.tables:
        parts += [
            f"## {release_table.name}",
            f"{plain(_sentence(release_table.description))} {amount(release_table.rows, 'row')}.",
            _files(release_table),
            _columns(release_table),
        ]
    parts += [_questions(campaign) for campaign in contents.question_campaigns]
    return sections(parts)


def _questions(campaign: QuestionCampaignFacts) -> str:
    rows = [
        (
            code(words.name),
            words.label,
            words.type,
            Marked(", ".join(code(column) for column in words.columns)),
            Marked("<br>".join(plain(value) for value in words.values)),
            words.asked,
            words.place,
        )
        for words in questions_in_words(campaign)
    ]
    heads = ("question", "what it asks", "type", "column of answers", "values", "asked", "where in the image")
    return sections([f"## Questions of {plain(campaign.name)}", table(heads, rows)]).rstrip("\n")


def _sentence(text: str) -> str:
    return text[:1].upper() + text[1:].rstrip(".") + "."


def _files(release_table: ReleaseTable) -> str:
    return (
        "Files: " + ", ".join(code(path) for path in release_table.files.values())
        if release_table.files
        else ""
    )


def _columns(release_table: ReleaseTable) -> str:
    rows = []
    for column in release_table.columns:
        meanings = [plain(_description(column))]
        if column.values:
            meanings += [f"{code(value)} {plain(meaning)}" for value, meaning in column.values.items()]
        rows.append(
            (
                code(column.name),
                column.type,
                unit_of(release_table, column),
                Marked("<br>".join(meanings)),
                _missing(column),
            )
        )
    return table(("column", "type", "unit", "what it holds", "empty where"), rows)
