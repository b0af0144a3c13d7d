"""Percentile and Wilson intervals, and adjusted p-values."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from analysis.metrics.resampling.intervals import percentile_intervals, wilson
from analysis.metrics.resampling.multiplicity import holm, max_t, permutation_p
from tests.analysis.metrics import oracles

NAN, INF = float("nan"), float("inf")


@settings(max_examples=60, deadline=None)
@given(st.lists(st.one_of(st.floats(-5, 5), st.just(NAN)), min_size=1, max_size=40))
def test_percentiles_leave_undefined_resamples_out(values: list[float]) -> None:
    kept = [v for v in values if v == v]
    interval = percentile_intervals(np.array([values]))
    assert interval.undefined[0] == len(values) - len(kept)
    if not kept:
        assert interval.reason[0] == "no_resamples"
    elif interval.reason[0] == "zero_width":
        assert oracles.quantile(kept, 0.025) == pytest.approx(
            oracles.quantile(kept, 0.975), rel=1e-8, abs=1e-300
        )
    else:
        assert interval.low[0] == pytest.approx(np.quantile(kept, 0.025), abs=1e-12)
        assert interval.high[0] == pytest.approx(np.quantile(kept, 0.975), abs=1e-12)


@pytest.mark.parametrize(
    ("values", "low", "high", "reason"),
    [
        ([1.0] * 95 + [2.0] * 5, 1, 2, ""),
        ([1.0] * 95 + [INF] * 5, 1, NAN, "unbounded"),
        ([1.0] * 99 + [INF], NAN, NAN, "zero_width"),
        ([INF] * 100, NAN, NAN, "unbounded"),
        ([NAN] * 100, NAN, NAN, "no_resamples"),
    ],
)
def test_an_end_on_infinity_is_null(values: list[float], low: float, high: float, reason: str) -> None:
    interval = percentile_intervals(np.array([values]))
    assert [interval.low[0], interval.high[0]] == pytest.approx([low, high], nan_ok=True)
    assert interval.reason[0] == reason


@pytest.mark.parametrize(("sparse", "reason"), [(0.05, ""), (0.051, "too_sparse")])
def test_more_than_five_percent_sparse_resamples_leave_no_interval(sparse: float, reason: str) -> None:
    assert percentile_intervals(np.array([[1.0, 2.0]]), sparse=np.array([sparse])).reason[0] == reason


def test_wilson_by_hand() -> None:
    # 7 of 20, z = 1.96: centre (0.35 + 0.09604)/1.19208 = 0.374172, half-width 0.193017 (Newcombe 1998's
    # formula)
    low, high = wilson(np.array([0.35]), np.array([20]))
    assert (low[0], high[0]) == pytest.approx((0.18119, 0.56714), abs=2e-4)
    low, high = wilson(np.array([0.0, 1.0]), np.array([10, 10]))
    assert (low[0], high[1]) == (0, 1)
    assert high[0] == pytest.approx(1 - low[1])


def test_holm_by_hand_with_a_null_outside_the_family() -> None:
    # 3 tests: 0.01·3 = 0.03; 0.04·2 = 0.08; 0.03·… sorted 0.01, 0.03, 0.04 → 0.03, 0.06, max(0.06, 0.04) =
    # 0.06
    adjusted = holm(np.array([0.01, NAN, 0.04, 0.03]))
    assert adjusted == pytest.approx([0.03, NAN, 0.06, 0.06], nan_ok=True)


def test_permutation_p_counts_ties_and_itself() -> None:
    # |2| is reached by 2, −3 and the undefined one: (3 + 1)/(5 + 1)
    permuted = np.array([[2.0, -3.0, 1.0, 0.0, NAN]])
    assert permutation_p(np.array([2.0]), permuted)[0] == pytest.approx(4 / 6)


def test_max_t_is_never_below_the_plain_p() -> None:
    generator = np.random.default_rng(0)
    permuted = generator.standard_normal((4, 500)) * [[1], [10], [0.1], [1]]
    observed = np.array([2.5, 20.0, 0.05, NAN])
    plain, adjusted = permutation_p(observed, permuted), max_t(observed, permuted)
    assert np.isnan(adjusted[3])
    assert (adjusted[:3] >= plain[:3]).all()
    assert adjusted[0] < 0.1
