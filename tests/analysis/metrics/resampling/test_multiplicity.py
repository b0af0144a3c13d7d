"""Adjusted p-values of a family: equal to the definition, and never below the unadjusted ones."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from analysis.metrics.resampling.multiplicity import holm, max_t, permutation_p
from tests.analysis.metrics import oracles

P = st.one_of(st.none(), st.integers(1, 40).map(lambda number: number / 40))
STATISTIC = st.integers(-6, 6).map(float)


def nan(values: list[float | None]) -> np.ndarray:
    return np.array([np.nan if value is None else value for value in values], dtype=float)


@settings(max_examples=100, deadline=None)
@given(st.lists(P, max_size=12))
def test_holm_equals_its_definition_and_keeps_the_order(p: list[float | None]) -> None:
    adjusted = holm(nan(p))
    assert adjusted == pytest.approx(nan(oracles.holm(p)), nan_ok=True)
    kept = sorted((one, other) for one, other in zip(p, adjusted, strict=True) if one is not None)
    assert [other for _, other in kept] == sorted(other for _, other in kept)
    assert all(one <= other <= 1 for one, other in kept)


def test_holm_by_hand() -> None:
    # 0.01·3 = 0.03; 0.02·2 = 0.04; 0.03·1 = 0.03, but not below 0.04. The null test leaves the family.
    assert holm(np.array([0.03, 0.01, np.nan, 0.02])) == pytest.approx(
        [0.04, 0.03, np.nan, 0.04], nan_ok=True
    )


@settings(max_examples=100, deadline=None)
@given(st.data(), st.integers(1, 5), st.integers(1, 20))
def test_max_t_equals_its_definition_and_is_never_below_the_single_test(data, tests: int, b: int) -> None:
    permuted = data.draw(
        st.lists(st.lists(STATISTIC, min_size=b, max_size=b), min_size=tests, max_size=tests)
    )
    # A statistic that no permutation moves has no spread to be measured by.
    permuted = [row if any(row) else [1.0] * b for row in permuted]
    observed = data.draw(st.lists(STATISTIC, min_size=tests, max_size=tests))
    adjusted = max_t(np.array(observed), np.array(permuted))
    assert adjusted == pytest.approx(oracles.max_t(observed, permuted))
    single = permutation_p(np.array(observed), np.array(permuted))
    assert (adjusted >= single - 1e-12).all()
    assert (adjusted <= 1).all()


def test_a_permutation_without_a_value_counts_as_extreme() -> None:
    # Of three permutations one reaches 2, one has no value: (2 + 1)/(3 + 1).
    assert permutation_p(np.array([2.0]), np.array([[2.5, np.nan, 0.1]])) == pytest.approx([0.75])
    assert max_t(np.array([2.0]), np.array([[np.nan, np.nan, np.nan]])) == pytest.approx([1.0])
