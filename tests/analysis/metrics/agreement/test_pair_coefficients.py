"""AC1, AC2, Fleiss' κ and observed agreement."""

import numpy as np
import pytest
from hypothesis import given, settings

from analysis.metrics import fleiss_kappa, gwet_ac, observed_agreement
from analysis.metrics.agreement.gwet_ac import weight_matrix
from tests.analysis.metrics import oracles
from tests.analysis.metrics.tables import judgements, value_counts

# Gwet (2014), table 2.10's data as published with irrCAC (`cac.raw4raters`): 12 units, 4 raters, categories
# 1–5; the same ratings as Krippendorff's example C.
PUBLISHED = np.array(
    [
        [3, 0, 0, 0, 0], [0, 3, 1, 0, 0], [0, 0, 4, 0, 0], [0, 0, 4, 0, 0], [0, 4, 0, 0, 0], [1, 1, 1, 1, 0],
        [0, 0, 0, 4, 0], [3, 1, 0, 0, 0], [0, 4, 0, 0, 0], [0, 0, 0, 0, 3], [2, 0, 0, 0, 0], [0, 0, 1, 0, 0],
    ]
)  # fmt: skip
HAND = np.array([[2, 0], [1, 1], [0, 3], [1, 0]])


def value(measure, table: np.ndarray, **options) -> float | None:
    return measure(table, resamples=0, **options).rows()[0]["value"]


@pytest.mark.parametrize(
    ("measure", "published"), [(gwet_ac, 0.77544), (fleiss_kappa, 0.76117), (observed_agreement, 0.81818)]
)
def test_coefficients_of_the_published_example(measure, published: float) -> None:
    assert value(measure, PUBLISHED) == pytest.approx(published, abs=5e-6)


def test_coefficients_by_hand() -> None:
    # Pairs agree in units 1 and 3, not in 2; unit 4 has no pair: p_a = (1 + 0 + 1)/3 = 2/3.
    # Shares of the second category: 0, ½, 1, 0 → π_1 = 1.5/4 = 0.375, π_0 = 0.625.
    # AC1: p_e = 2·0.375·0.625/(2−1) = 0.46875 → (0.66667 − 0.46875)/0.53125 = 0.372549
    # κ: p_e = 0.375² + 0.625² = 0.53125 → (0.66667 − 0.53125)/0.46875 = 0.288889
    assert value(observed_agreement, HAND) == pytest.approx(2 / 3)
    assert value(gwet_ac, HAND) == pytest.approx(0.3725490196)
    assert value(fleiss_kappa, HAND) == pytest.approx(0.2888888889)


# Fleiss (1971), table 1: 30 patients, 6 psychiatrists each, 5 diagnoses.
DIAGNOSES = """
00060 03003 01401 00006 03030 20400 00402 20310 20040 00006 10050 11040 03300 10050 02031
00501 30012 51000 02040 10203 00006 01050 02013 20040 10041 05010 40002 02040 10500 00006
"""


def test_kappa_of_the_diagnoses_of_fleiss() -> None:
    table = np.array([[int(number) for number in patient] for patient in DIAGNOSES.split()])
    # Shares of the diagnoses 26, 26, 30, 55, 43 of 180: p_e = Σ(n/180)² = 7,126/32,400 = 0.2199.
    assert table.sum(axis=0).tolist() == [26, 26, 30, 55, 43]
    # Of the 30·15 pairs 250 agree: p_a = 0.5556; κ = (0.5556 − 0.2199)/(1 − 0.2199) = 0.430, as published.
    assert value(observed_agreement, table) == pytest.approx(250 / 450)
    assert value(fleiss_kappa, table) == pytest.approx((250 / 450 - 7126 / 32400) / (1 - 7126 / 32400))
    assert value(fleiss_kappa, table) == pytest.approx(0.430, abs=5e-4)


def test_ac1_is_stable_where_kappa_breaks_down() -> None:
    # Gwet (2002): two raters, 125 subjects: both yes 118, only one 5 and 2, both no 0. p_a = 118/125 = 0.944.
    # π = (123 + 120)/250 = 0.972; AC1: p_e = 2·0.972·0.028 = 0.0544 → (0.944 − 0.0544)/0.9456 = 0.9408.
    # κ: p_e = 0.972² + 0.028² = 0.9456 → (0.944 − 0.9456)/0.0544 = −0.029, although 94 % agree.
    table = np.array([[0, 2]] * 118 + [[1, 1]] * 7)
    assert value(gwet_ac, table) == pytest.approx(0.9408, abs=5e-5)
    assert value(fleiss_kappa, table) == pytest.approx(-0.0288, abs=5e-5)


@settings(max_examples=60, deadline=None)
@given(value_counts(4))
@pytest.mark.parametrize("weights", ["identity", "quadratic", "linear", "ordinal"])
def test_coefficients_equal_pairs_one_by_one(weights: str, counts: list[list[int]]) -> None:
    table, rated = np.array(counts), oracles.ratings(counts)
    matrix = (np.eye(4) if weights == "identity" else weight_matrix((0, 1, 2, 3), weights)).tolist()
    options = {"kind": "ac1"} if weights == "identity" else {"kind": "ac2", "weights": weights}
    expected = oracles.coefficient(rated, matrix, "ac")
    assert value(gwet_ac, table, **options) == (
        None if expected is None else pytest.approx(expected, abs=1e-12)
    )
    if weights == "identity":
        expected = oracles.coefficient(rated, matrix, "kappa")
        assert value(fleiss_kappa, table) == (None if expected is None else pytest.approx(expected, abs=1e-9))


def test_weights_run_from_one_to_zero() -> None:
    # Likert without Unsure: quadratic 1 − (k − l)²/16, so Disagree (2) and Agree (4) agree by 0.75.
    quadratic = weight_matrix((1, 2, 4, 5), "quadratic")
    assert quadratic[1, 2] == 0.75
    # ordinal: 1 − C(|i−j|+1, 2)/C(4, 2): ranks one apart 1 − 1/6
    assert weight_matrix((1, 2, 4, 5), "ordinal")[0, 1] == pytest.approx(5 / 6)
    for name in ("quadratic", "linear", "ordinal"):
        matrix = weight_matrix((1, 2, 4, 5), name)
        assert (matrix == matrix.T).all()
        assert (np.diag(matrix) == 1).all()
        assert matrix[0, -1] == 0


def test_ac1_counts_a_declared_category_that_nobody_used() -> None:
    # q = 3 instead of 2 halves p_e: 0.46875/2 = 0.234375 → (0.66667 − 0.234375)/0.765625 = 0.564626
    wider = np.column_stack([HAND, np.zeros(4, int)])
    assert value(gwet_ac, wider) == pytest.approx(0.5646258503)
    assert value(fleiss_kappa, wider) == pytest.approx(value(fleiss_kappa, HAND))


@pytest.mark.parametrize("measure", [gwet_ac, fleiss_kappa, observed_agreement])
def test_nothing_rated_twice_has_no_agreement(measure) -> None:
    frame = judgements(("i", "Aru", "hat", "p", 1), ("j", "Aru", "hat", "q", 0))
    row = measure(frame, resamples=20).rows()[0]
    assert (row["value"], row["reason"]) == (None, "no_unit_rated_twice")


def test_kappa_without_variation_is_null_where_ac1_is_one() -> None:
    table = np.array([[3, 0], [2, 0]])
    row = fleiss_kappa(table, resamples=0).rows()[0]
    assert (row["value"], row["reason"]) == (None, "no_variation")
    assert value(gwet_ac, table) == 1
