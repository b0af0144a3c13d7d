"""Agreement between groups against counting pairs one by one."""

from itertools import combinations, product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as some

from analysis.metrics.annotators.group_agreement import cross_agreement

ANSWERS = some.lists(some.tuples(*(some.integers(0, most) for most in (3, 2, 3))), max_size=30)


@given(ANSWERS)
def test_group_agreement_is_the_mean_share_of_equal_pairs(rows):
    unit, group, answer = (np.array([row[index] for row in rows], dtype=np.int64) for index in range(3))
    found = cross_agreement(unit, group, answer, groups=3)
    assert [(row.group_a, row.group_b) for row in found] == list(combinations(range(3), 2))
    for row in found:
        shares = []
        for one in set(unit.tolist()):
            given_in = [
                [given for about, by, given in rows if (about, by) == (one, code)]
                for code in (row.group_a, row.group_b)
            ]
            if pairs := list(product(*given_in)):
                shares.append(sum(a == b for a, b in pairs) / len(pairs))
        assert row.units == len(shares)
        assert row.value == pytest.approx(np.mean(shares)) if shares else np.isnan(row.value)
        assert row.reason == ("" if shares else "no_shared_unit")


def test_arrays_of_different_lengths_are_refused():
    with pytest.raises(ValueError, match="different lengths"):
        cross_agreement(np.zeros(2, int), np.zeros(1, int), np.zeros(2, int), groups=2)
