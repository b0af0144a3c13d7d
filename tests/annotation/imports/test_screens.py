"""Grouping rows into screens."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from annotation.imports.screens import split_screens

NONE = 9


def screens(keys: list[int], attributes: list[int]) -> list[list[int]]:
    """The rows of each screen; attribute 9 is 'none of the above'."""
    codes = np.array(attributes, dtype=np.int64)
    found = split_screens(np.arange(len(keys)), np.array(keys, dtype=np.int64), codes, codes == NONE)
    return [found.order[found.starts[i] : found.starts[i + 1]].tolist() for i in range(len(found))]


def test_the_none_row_ends_a_screen():
    assert screens([0] * 6, [1, 2, NONE, 3, 4, NONE]) == [[0, 1, 2], [3, 4, 5]]


def test_a_repeated_attribute_opens_a_new_screen():
    assert screens([0] * 5, [1, 2, 1, 2, 1]) == [[0, 1], [2, 3], [4]]


def test_rows_of_different_annotators_or_images_never_share_a_screen():
    assert screens([0, 1, 0, 1], [1, 1, 2, 2]) == [[0, 2], [1, 3]]


def test_screens_come_in_the_order_of_the_file():
    assert screens([5, 3, 4], [1, 1, 1]) == [[0], [1], [2]]


def test_no_rows_no_screens():
    assert screens([], []) == []


@given(st.lists(st.tuples(st.integers(0, 3), st.sampled_from([1, 2, 3, NONE])), max_size=40))
def test_every_row_is_in_one_screen_and_no_screen_asks_twice(rows):
    keys, attributes = [key for key, _ in rows], [attribute for _, attribute in rows]
    found = screens(keys, attributes)
    assert sorted(row for screen in found for row in screen) == list(range(len(rows)))
    for screen in found:
        assert len({keys[row] for row in screen}) == 1
        asked = [attributes[row] for row in screen]
        assert len(asked) == len(set(asked))
        assert NONE not in asked[:-1]
