"""Krippendorff's α of sets of labels against all pairs, one by one, and against the package with the same distance."""

from itertools import permutations
from math import nan

import evalica
import krippendorff
import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from analysis.metrics import krippendorff_alpha_sets
from tests.analysis.metrics.agreement.jackknife_oracle import interval

pytestmark = pytest.mark.database_free

LABELS = ("hat", "drum", "boat")


def masi(one: frozenset[str], other: frozenset[str]) -> float:
    """MASI distance (Passonneau 2006), case by case."""
    if one == other:
        return 0.0
    if not one & other:
        return 1.0
    monotonicity = 2 / 3 if one < other or other < one else 1 / 3
    return 1 - monotonicity * len(one & other) / len(one | other)


def drawn(images: int, annotators: int, each: int, seed: int, noise: float = 0.3) -> pd.DataFrame:
    """Every image has true labels; an annotator errs on each label with probability `noise`."""
    generator = np.random.default_rng(seed)
    rows = []
    for image in range(images):
        truth = generator.random(len(LABELS)) < 0.5
        for annotator in generator.choice(annotators, each, replace=False):
            chosen = truth ^ (generator.random(len(LABELS)) < noise)
            rows.append((f"i{image}", int(annotator), [LABELS[i] for i in np.flatnonzero(chosen)]))
    return pd.DataFrame(rows, columns=["image", "annotator", "labels"])


def pair_by_pair(table: pd.DataFrame) -> float:
    units = [[frozenset(labels) for labels in rows] for _, rows in table.groupby("image")["labels"]]
    units = [unit for unit in units if len(unit) > 1]
    number = sum(map(len, units))
    observed = sum(masi(a, b) / (len(unit) - 1) for unit in units for a, b in permutations(unit, 2)) / number
    everything = [labels for unit in units for labels in unit]
    expected = sum(masi(a, b) for a, b in permutations(everything, 2)) / (number * (number - 1))
    return 1 - observed / expected if expected else nan


def value(table: pd.DataFrame) -> float:
    return float(krippendorff_alpha_sets(table, resamples=0).table["value"].astype("float64").iloc[0])


@settings(max_examples=25, deadline=None)
@given(images=st.integers(1, 12), each=st.integers(1, 5), noise=st.floats(0, 0.5), seed=st.integers(0, 999))
def test_alpha_is_that_of_all_pairs_one_by_one(images, each, noise, seed):
    table = drawn(images, 6, each, seed, noise)
    if each == 1:
        row = krippendorff_alpha_sets(table, resamples=0).table.iloc[0]
        assert row["reason"] == "no_unit_rated_twice"
        return
    assert value(table) == pytest.approx(pair_by_pair(table), abs=1e-12, nan_ok=True)


def test_alpha_is_that_of_the_package_with_the_same_distance():
    table = drawn(40, 8, 4, 3)
    table["labels"] = table["labels"].map(frozenset)
    sets = sorted(set(table["labels"]), key=sorted)
    wide = table.assign(code=table["labels"].map(sets.index)).pivot(
        index="annotator", columns="image", values="code"
    )

    def distance(one: np.ndarray, other: np.ndarray, **_: object) -> np.ndarray:
        return np.vectorize(lambda a, b: masi(sets[int(a)], sets[int(b)]), otypes=[float])(one, other)

    expected = krippendorff.alpha(
        reliability_data=wide.to_numpy(dtype=float),
        value_domain=list(range(len(sets))),
        level_of_measurement=lambda v1, v2, **_: distance(v1, v2),
    )
    assert value(table) == pytest.approx(expected, abs=1e-9)


@pytest.mark.parametrize("seed", range(3))
def test_alpha_is_that_of_another_package_with_the_same_distance(seed):
    table = drawn(30, 6, 3, seed)
    table["labels"] = table["labels"].map(frozenset)
    sets = sorted(set(table["labels"]), key=sorted)
    wide = table.assign(code=table["labels"].map(sets.index)).pivot(
        index="annotator", columns="image", values="code"
    )

    def distance(one: float, other: float) -> float:
        return masi(sets[int(one)], sets[int(other)])

    assert value(table) == pytest.approx(evalica.alpha(wide, distance, solver="naive").alpha, abs=1e-6)


def test_the_order_of_labels_and_their_repetition_do_not_count():
    table = drawn(10, 5, 3, 1)
    turned = table.assign(labels=table["labels"].map(lambda labels: labels[::-1] + labels[:1]))
    assert value(turned) == value(table)


def test_other_names_for_labels_change_nothing():
    table = drawn(10, 5, 3, 1)
    renamed = {"hat": "z", "drum": "y", "boat": "x"}
    changed = table.assign(labels=table["labels"].map(lambda labels: [renamed[label] for label in labels]))
    assert value(changed) == pytest.approx(value(table))


def test_answers_that_are_all_the_same_have_no_alpha():
    table = drawn(5, 4, 3, 0).assign(labels=[["hat"]] * 15)
    assert krippendorff_alpha_sets(table, resamples=0).table["reason"].tolist() == ["no_variation"]


def test_models_are_measured_apart():
    first, second = drawn(8, 5, 3, 1), drawn(8, 5, 3, 2)
    both = krippendorff_alpha_sets(
        pd.concat([first.assign(model="a"), second.assign(model="b")]), resamples=0
    )
    assert both.table["value"].tolist() == pytest.approx([value(first), value(second)])


@pytest.mark.parametrize("seed", range(3))
def test_the_interval_leaves_out_annotators_and_images_in_turn(seed):
    table = drawn(20, 6, 3, seed)
    result = krippendorff_alpha_sets(table)
    row = result.table.iloc[0]
    assert result.notes["resampled"] == ["annotators", "images"]
    rows = table.assign(unit=table["image"], stratum="").to_dict("records")
    expected = interval(rows, lambda kept: pair_by_pair(pd.DataFrame(kept)))
    assert (row["ci_low"], row["ci_high"]) == pytest.approx(expected, abs=1e-9)


@pytest.mark.parametrize(
    ("labels", "message"),
    [
        ("hat", "column 'labels' must contain collections of names, got 'hat'"),
        (3, "column 'labels' must contain collections of names, got 3"),
        (None, "column 'labels' is empty"),
    ],
)
def test_labels_that_are_no_collection_are_refused(labels, message):
    with pytest.raises(ValueError, match=message):
        krippendorff_alpha_sets(drawn(3, 4, 2, 0).assign(labels=labels))
