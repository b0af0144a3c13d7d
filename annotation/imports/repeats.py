"""Rows that say again what an annotator id had said: the same row twice, or another answer to the same question."""

from dataclasses import dataclass

import numpy as np
import pandas as pd

from annotation.imports.cells import Codes, Mask, Reading
from annotation.people.annotator_ids import MOST_REPEATED

SAME_ROW = "identical to an earlier row"
ANSWERED_AGAIN = "answered again in a later row, which counts"


@dataclass(frozen=True)
class Questions:
    """What each row of a table answers. Arrays run over all rows; only accepted rows are looked at.

    `place`: where it was asked, such as the image; `question`: what was asked there; `moment`: when it was
    answered, as a number that is NaN where unknown. Rows where `ends_screen` answer 'none of the above'.
    """

    annotator: Codes
    place: Codes
    question: Codes
    screen: Codes
    ends_screen: Mask
    moment: np.ndarray


def settle_repeats(reading: Reading, asked: Questions, *, places_tell: bool) -> None:
    """Keep equal rows once and the latest of an id's answers to one question; each row left out says why.

    Where ids are not people, equal rows are the answers of several people: all stay, and a note says so. That is so
    when, equal rows aside, more than 5 % of the answers repeat a question that their id had answered, or when with
    them that many do and most ids are in one place only (`places_tell`), as in the released ViSAGe annotations,
    where an id is a screen.
    """
    rows = np.flatnonzero(reading.accepted)
    if not len(rows):
        return
    first = _first_equal(reading, rows)
    answers = ~asked.ends_screen[rows]
    distinct = rows[(first == rows) & answers]
    alike = _alike(asked, rows[answers])
    equal = first != rows
    repeated = _alike(asked, distinct)
    one_place = places_tell and _mostly_in_one_place(asked, distinct)
    if _above(repeated) or (one_place and _above(alike)):
        if equal.any():
            reading.notes.append(
                f"{int(equal.sum()):,} rows are identical to an earlier row and were kept: annotator ids of this "
                "file are not one person each"
            )
        return
    equal &= answers
    reading.reject_each(rows[equal], first[equal], "the same as row {row}", SAME_ROW)
    alone = _ends_alone(reading, asked, rows, first)
    reading.reject_each(rows[alone], first[alone], "the same as row {row}", SAME_ROW)
    if repeated.any() and not one_place:
        _keep_latest(reading, asked, distinct)
        again = np.zeros(len(reading.table), dtype=bool)
        again[rows[_ends_alone(reading, asked, rows, first)]] = True
        if again.any():
            reading.reject(again, "its screen was answered again")


def _first_equal(reading: Reading, rows: Codes) -> Codes:
    """For each row, the first of `rows` whose cells are all the same."""
    columns = [cells for name, cells in reading.table.columns.items() if name not in reading.table.positions]
    cells = {str(number): column[rows] for number, column in enumerate(columns)}
    number = pd.DataFrame(cells).groupby(list(cells), sort=False, dropna=False).ngroup().to_numpy()
    _, at = np.unique(number, return_index=True)
    return rows[at[number]]


def _unit(asked: Questions, rows: Codes) -> Codes:
    width = int(asked.question.max(initial=0)) + 1
    unit = asked.place[rows] * width + asked.question[rows]
    return np.asarray(
        pd.factorize(unit * (int(asked.annotator.max(initial=0)) + 1) + asked.annotator[rows])[0]
    )


def _alike(asked: Questions, rows: Codes) -> Mask:
    """Whether an earlier row is the same id's answer to the same question."""
    return pd.Series(_unit(asked, rows)).duplicated().to_numpy()


def _above(repeated: Mask) -> bool:
    return bool(repeated.sum() > MOST_REPEATED * len(repeated))


def _mostly_in_one_place(asked: Questions, rows: Codes) -> bool:
    places = pd.Series(asked.place[rows]).groupby(asked.annotator[rows]).nunique()
    return len(np.unique(asked.place[rows])) > 1 and bool(2 * (places == 1).sum() > len(places))


def _ends_alone(reading: Reading, asked: Questions, rows: Codes, first: Codes) -> Codes:
    """Return answers to 'none of the above' that nothing is left to end: positions in `rows`.

    Several screens of an image may end with equal rows. Alone is an end whose answers were all rejected, or one that
    follows another end at once and equals an earlier row.
    """
    order = np.lexsort((rows, asked.screen[rows], asked.place[rows], asked.annotator[rows]))
    sorted_rows = rows[order]
    ends = asked.ends_screen[sorted_rows]
    keys = np.stack([codes[sorted_rows] for codes in (asked.annotator, asked.place, asked.screen)])
    begins = np.append(True, (keys[:, 1:] != keys[:, :-1]).any(axis=0))
    follows = np.append(False, ends[:-1])
    stretch = np.cumsum(begins | follows) - 1
    given = np.bincount(stretch, weights=~ends)[stretch]
    left = np.bincount(stretch, weights=~ends & reading.accepted[sorted_rows])[stretch]
    doubled = (first[order] != sorted_rows) & follows & ~begins
    alone = ends & reading.accepted[sorted_rows] & (left == 0) & ((given > 0) | doubled)
    return np.asarray(order[alone])


def _keep_latest(reading: Reading, asked: Questions, rows: Codes) -> None:
    """Reject all but the latest answer of an id to a question: by its moment, then by its place in the file."""
    unit = _unit(asked, rows)
    moment = np.nan_to_num(asked.moment[rows], nan=-np.inf)
    order = np.lexsort((rows, moment, unit))
    last = np.append(unit[order][1:] != unit[order][:-1], True)
    counting = np.empty(int(unit.max()) + 1, dtype=np.int64)
    counting[unit[order][last]] = rows[order][last]
    earlier = counting[unit] != rows
    reading.reject_each(
        rows[earlier], counting[unit][earlier], "answered again in row {row}, which counts", ANSWERED_AGAIN
    )
