"""Group the rows of a file into screens: answers that an annotator gave together."""

from dataclasses import dataclass

import numpy as np
import pandas as pd

from annotation.imports.cells import Codes, Mask


@dataclass(frozen=True)
class Screens:
    """Rows in the order of their screens: screen `i` has the rows `order[starts[i]:starts[i + 1]]`."""

    order: Codes  # row indices
    starts: Codes  # length: number of screens + 1

    def __len__(self) -> int:
        return len(self.starts) - 1

    @property
    def of_row(self) -> Codes:
        """The index of the screen for each position in `order`."""
        return np.repeat(np.arange(len(self)), np.diff(self.starts))

    @property
    def first_rows(self) -> Codes:
        """The index of the first row of each screen."""
        return self.order[self.starts[:-1]]


def split_screens(rows: Codes, keys: Codes, attributes: Codes, is_none: Mask) -> Screens:
    """Split `rows` (indices, in file order) into screens.

    Rows with equal keys (annotator, image, and the file's own screen) are one screen until a row 'none of the
    above' ends it or an attribute repeats. `keys`, `attributes` and `is_none` cover all rows.
    """
    order = rows[np.argsort(keys[rows], kind="stable")]
    if not len(order):
        return Screens(order, np.zeros(1, dtype=np.int64))
    key, none = keys[order], is_none[order]
    opens = np.ones(len(order), dtype=bool)
    opens[1:] = (key[1:] != key[:-1]) | none[:-1]
    _open_at_repeats(opens, attributes[order])
    starts = np.flatnonzero(opens)
    # Order screens as in the file, not by key.
    sequence = np.argsort(order[starts], kind="stable")
    ends = np.append(starts[1:], len(order))
    pieces = [order[starts[i] : ends[i]] for i in sequence]
    lengths = (ends - starts)[sequence]
    return Screens(np.concatenate(pieces), np.append(0, np.cumsum(lengths)))


def _open_at_repeats(opens: Mask, attributes: Codes) -> None:
    """Start another screen where an attribute repeats; loops only over screens with repeats."""
    screen = np.cumsum(opens) - 1
    frame = pd.DataFrame({"screen": screen, "attribute": attributes})
    starts = np.append(np.flatnonzero(opens), len(opens))
    for number in frame.loc[frame.duplicated(), "screen"].unique():
        attributes_on_screen: set[int] = set()
        for position in range(starts[number], starts[number + 1]):
            if attributes[position] in attributes_on_screen:
                opens[position] = True
                attributes_on_screen = set()
            attributes_on_screen.add(attributes[position])
