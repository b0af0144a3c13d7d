"""Parse and check a table of ratings of attributes, in memory."""

import datetime as dt
from dataclasses import dataclass

import numpy as np

from annotation.imports.cells import (
    CodedColumn,
    Reading,
    choice_parser,
    moments,
    name_parser,
    parse_language,
    parse_moment,
    parse_seconds,
)
from annotation.imports.column_map import ColumnMap
from annotation.imports.marks import optional_column, read_attribute
from annotation.imports.repeats import Questions, settle_repeats


@dataclass(frozen=True)
class Ratings:
    """The parsed rows of a table of ratings. Arrays cover all rows; only accepted rows are valid."""

    reading: Reading
    attribute: CodedColumn[str]
    annotator: CodedColumn[str]
    rating: CodedColumn[int]
    justification: CodedColumn[str]
    submitted_at: CodedColumn[dt.datetime | None]
    seconds: CodedColumn[float | None]
    language: CodedColumn[str | None]


def read_ratings(reading: Reading, column_map: ColumnMap) -> Ratings:
    """Read all rows of a table with one rating per row."""
    columns = column_map.columns
    reading.reject_blank([columns["attribute"], columns["rating"]])
    ratings = Ratings(
        reading=reading,
        attribute=read_attribute(reading, column_map),
        annotator=reading.coded(reading.cells(columns["annotator"]), name_parser("annotator", 200)).merged(),
        rating=reading.coded(
            reading.cells(columns["rating"]), choice_parser("rating", dict(column_map.ratings))
        ),
        justification=optional_column(reading, column_map, "justification", _justification, ""),
        submitted_at=optional_column(reading, column_map, "submitted_at", parse_moment, None),
        seconds=optional_column(reading, column_map, "seconds", parse_seconds, None),
        language=optional_column(reading, column_map, "language", parse_language, None),
    )
    zeros = np.zeros(len(reading.table), dtype=np.int64)
    questions = Questions(
        annotator=ratings.annotator.codes,
        place=zeros,
        question=ratings.attribute.codes,
        screen=zeros,
        ends_screen=zeros.astype(bool),
        moment=moments(ratings.submitted_at),
    )
    settle_repeats(reading, questions, check_places=False)
    return ratings


def _justification(cell: str) -> str:
    # JSON can contain lone surrogates and null characters, which databases cannot store.
    if len(cell) > 5000 or any(character == "\0" or "\ud800" <= character <= "\udfff" for character in cell):
        raise ValueError("justification longer than 5,000 characters, or not text")
    return cell.strip()
