"""A table of ratings of attributes: parsed and checked, in memory."""

import datetime as dt
from dataclasses import dataclass

import numpy as np
import pandas as pd

from annotation.imports.cells import (
    BLANK,
    Coded,
    Reading,
    choice_of,
    moments,
    name_of,
    parse_moment,
    parse_seconds,
)
from annotation.imports.column_map import ColumnMap
from annotation.imports.marks import optional, read_attribute
from annotation.imports.repeats import Questions, settle_repeats


@dataclass(frozen=True)
class Ratings:
    """What the rows of a table of ratings say. Arrays run over all rows; look only at accepted ones."""

    reading: Reading
    attribute: Coded[str]
    annotator: Coded[str]
    rating: Coded[int]
    justification: Coded[str]
    submitted_at: Coded[dt.datetime | None]
    seconds: Coded[float | None]


def read_ratings(reading: Reading, column_map: ColumnMap) -> Ratings:
    """Read every row of a table with one rating a row."""
    columns = column_map.columns
    blank = np.ones(len(reading.table), dtype=bool)
    for name in ("attribute", "rating"):
        codes, values = pd.factorize(reading.cells(columns[name]))
        blank &= np.array([not value.strip() for value in values], dtype=bool)[codes]
    reading.reject(blank, BLANK)
    ratings = Ratings(
        reading=reading,
        attribute=read_attribute(reading, column_map),
        annotator=reading.coded(reading.cells(columns["annotator"]), name_of("annotator", 200)).merged(),
        rating=reading.coded(reading.cells(columns["rating"]), choice_of("rating", dict(column_map.ratings))),
        justification=optional(reading, column_map, "justification", _justification, ""),
        submitted_at=optional(reading, column_map, "submitted_at", parse_moment, None),
        seconds=optional(reading, column_map, "seconds", parse_seconds, None),
    )
    nothing = np.zeros(len(reading.table), dtype=np.int64)
    asked = Questions(
        annotator=ratings.annotator.codes,
        place=nothing,
        question=ratings.attribute.codes,
        screen=nothing,
        ends_screen=nothing.astype(bool),
        moment=moments(ratings.submitted_at),
    )
    settle_repeats(reading, asked, places_tell=False)
    return ratings


def _justification(cell: str) -> str:
    # JSON can say half a character: no database takes it.
    if len(cell) > 5000 or any(one == "\0" or "\ud800" <= one <= "\udfff" for one in cell):
        raise ValueError("justification longer than 5,000 characters, or not text")
    return cell.strip()
