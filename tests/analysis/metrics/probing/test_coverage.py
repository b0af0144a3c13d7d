"""Intervals of probes cover a planted truth, and the exact test finds no false associations; `make bench` runs more."""

import numpy as np
import pytest

from analysis.metrics import tfidf_associations
from benchmarks.analysis.probing import association_tests
from benchmarks.analysis.probing.coverage import CELLS, Cell, coverage


@pytest.mark.parametrize("cell", [CELLS[0], CELLS[3]], ids=str)
def test_intervals_cover_the_planted_truth(cell: Cell) -> None:
    for name, share in coverage(cell, 60).items():
        assert 0.87 <= share <= 1, name


def test_the_exact_test_rarely_finds_false_associations() -> None:
    frame = association_tests.by_letter(np.random.default_rng(1), planted=0)
    table = tfidf_associations(frame[frame["model"] < 30]).table
    found = table["significant_exact"].fillna(False).astype(bool)
    assert table[found]["model"].nunique() <= 4
    assert table["significant"].mean() > 0.05  # the published rule marks its tail nevertheless


def test_the_exact_test_finds_nothing_among_many_rare_words() -> None:
    # The pairs that occur are a fiftieth of all pairs, and each looks surprising: among them alone some always
    # seem to be associated.
    table = tfidf_associations(association_tests.rare_words(np.random.default_rng(1), studies=6)).table
    assert not table["significant_exact"].fillna(False).any()
    assert (table["q_exact"] < 0.05).fillna(False).groupby(table["model"]).any().mean() > 0.5
