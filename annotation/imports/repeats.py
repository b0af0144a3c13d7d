"""Reject repeated rows: identical rows, and earlier answers of an annotator id to the same question."""

from dataclasses import dataclass

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from annotation.imports.cells import Codes, Mask, Reading
from annotation.people.annotator_ids import MOST_REPEATED

SAME_ROW = "identical to an earlier row"
ANSWERED_AGAIN = "answered again in a later row, which counts"


@dataclass(frozen=True)
class Questions:
    """The question that each row of a table answers. Arrays cover all rows; only accepted rows are used.

    `place`: code of the image or other stimulus; `question`: code of the attribute; `moment`: time in
    seconds, NaN if unknown; `ends_screen`: whether the row answers 'none of the above'.
    """

    annotator: Codes
    place: Codes
    question: Codes
    screen: Codes
    ends_screen: Mask
    moment: NDArray[np.float64]


def settle_repeats(reading: Reading, questions: Questions, *, check_places: bool) -> None:
    """Keep one of identical rows, and the latest of an id's answers to a question; reject the others.

    If ids are not people, identical rows are answers of several people: all are kept, with a note. Ids are
    not people if more than 5 % of the answers in distinct rows repeat a question that the id has answered;
    or, with `check_places`, if more than 5 % of all answers do and most ids have only one place. In the
    released ViSAGe annotations, for example, an id is a screen.
    """
    rows = np.flatnonzero(reading.accepted)
    if not len(rows):
        return
    first_rows = _first_equal(reading, rows)
    answers = ~questions.ends_screen[rows]
    distinct = rows[(first_rows == rows) & answers]
    alike = _alike(questions, rows[answers])
    equal = first_rows != rows
    repeated = _alike(questions, distinct)
    one_place = check_places and _mostly_in_one_place(questions, distinct)
    if _above(repeated) or (one_place and _above(alike)):
        if equal.any():
            reading.notes.append(
                f"{int(equal.sum()):,} rows are identical to an earlier row and were kept, because an annotator id in "
                "this file can stand for several people"
            )
        return
    equal &= answers
    reading.reject_each(rows[equal], first_rows[equal], "the same as row {row}", SAME_ROW)
    alone = _ends_alone(reading, questions, rows, first_rows)
    reading.reject_each(rows[alone], first_rows[alone], "the same as row {row}", SAME_ROW)
    if repeated.any() and not one_place:
        _keep_latest(reading, questions, distinct)
        again = np.zeros(len(reading.table), dtype=bool)
        again[rows[_ends_alone(reading, questions, rows, first_rows)]] = True
        if again.any():
            reading.reject(again, "its screen was answered again")


def _first_equal(reading: Reading, rows: Codes) -> Codes:
    """Return for each row the first of `rows` with identical cells."""
    columns = [cells for name, cells in reading.table.columns.items() if name not in reading.table.positions]
    cells = {str(number): column[rows] for number, column in enumerate(columns)}
    number = pd.DataFrame(cells).groupby(list(cells), sort=False, dropna=False).ngroup().to_numpy()
    _, at = np.unique(number, return_index=True)
    return rows[at[number]]


def _unit(questions: Questions, rows: Codes) -> Codes:
    width = int(questions.question.max(initial=0)) + 1
    unit = questions.place[rows] * width + questions.question[rows]
    return np.asarray(
        pd.factorize(unit * (int(questions.annotator.max(initial=0)) + 1) + questions.annotator[rows])[0]
    )


def _alike(questions: Questions, rows: Codes) -> Mask:
    """Return a mask of the rows with an earlier answer of the same id to the same question."""
    return pd.Series(_unit(questions, rows)).duplicated().to_numpy()


def _above(repeated: Mask) -> bool:
    return bool(repeated.sum() > MOST_REPEATED * len(repeated))


def _mostly_in_one_place(questions: Questions, rows: Codes) -> bool:
    places = pd.Series(questions.place[rows]).groupby(questions.annotator[rows]).nunique()
    return len(np.unique(questions.place[rows])) > 1 and bool(2 * (places == 1).sum() > len(places))


def _ends_alone(reading: Reading, questions: Questions, rows: Codes, first_rows: Codes) -> Codes:
    """Return the positions in `rows` of answers to 'none of the above' whose screen has no other answer left.

    Several screens of an image may end with identical rows. Such an answer is alone if all other answers of
    its screen were rejected, or if it directly follows another such answer and equals an earlier row.
    """
    order = np.lexsort((rows, questions.screen[rows], questions.place[rows], questions.annotator[rows]))
    sorted_rows = rows[order]
    ends = questions.ends_screen[sorted_rows]
    keys = np.stack(
        [codes[sorted_rows] for codes in (questions.annotator, questions.place, questions.screen)]
    )
    begins = np.append(True, (keys[:, 1:] != keys[:, :-1]).any(axis=0))
    follows = np.append(False, ends[:-1])
    stretch = np.cumsum(begins | follows) - 1
    answer_count = np.bincount(stretch, weights=~ends)[stretch]
    accepted_count = np.bincount(stretch, weights=~ends & reading.accepted[sorted_rows])[stretch]
    doubled = (first_rows[order] != sorted_rows) & follows & ~begins
    alone = ends & reading.accepted[sorted_rows] & (accepted_count == 0) & ((answer_count > 0) | doubled)
    return np.asarray(order[alone])


def _keep_latest(reading: Reading, questions: Questions, rows: Codes) -> None:
    """Reject all but the latest answer of an id to a question, by time and then by position in the file."""
    unit = _unit(questions, rows)
    moment = np.nan_to_num(questions.moment[rows], nan=-np.inf)
    order = np.lexsort((rows, moment, unit))
    is_latest = np.append(unit[order][1:] != unit[order][:-1], True)
    latest_row = np.empty(int(unit.max()) + 1, dtype=np.int64)
    latest_row[unit[order][is_latest]] = rows[order][is_latest]
    earlier = latest_row[unit] != rows
    reading.reject_each(
        rows[earlier], latest_row[unit][earlier], "answered again in row {row}, which counts", ANSWERED_AGAIN
    )
