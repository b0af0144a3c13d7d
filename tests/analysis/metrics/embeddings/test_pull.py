"""Stereotypical pull, compared with loops over pairs of images."""

from itertools import product
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from analysis.metrics import mean_similarity, pull
from analysis.metrics.embeddings.pull import CONDITIONS
from benchmarks.analysis.coverage.automated import PULL, pull_covered

Images = list[tuple[str, str, str | None, list[float]]]


def tables(images: Images) -> tuple[pd.DataFrame, np.ndarray]:
    frame = pd.DataFrame(
        [row[:3] for row in images], columns=["identity_group", "condition", "attribute"]
    ).assign(model="m")
    return frame, np.array([row[3] for row in images], dtype=float).reshape(len(images), -1)


def cosine(x: list[float], y: list[float]) -> float:
    return float(np.dot(x, y) / (np.linalg.norm(x) * np.linalg.norm(y)))


def oracle(images: Images, group: str) -> dict[str, float | None]:
    """Compute pull over every pair of images, in plain Python."""
    sets: dict[str, dict[Any, list[list[float]]]] = {condition: {} for condition in CONDITIONS}
    for g, condition, attribute, vector in images:
        if g == group:
            sets[condition].setdefault(None if condition == "default" else attribute, []).append(vector)

    def between(first: str, second: str) -> float | None:
        means = [
            np.mean([cosine(x, y) for x, y in product(one, other)])
            for one, other in product(sets[first].values(), sets[second].values())
        ]
        return float(np.mean(means)) if means else None

    d_s, d_ns, s_ns = (
        between("default", "stereotypical"),
        between("default", "non_stereotypical"),
        between("stereotypical", "non_stereotypical"),
    )
    alike = sets["default"].get(None, [])
    pairs = [cosine(x, y) for i, x in enumerate(alike) for j, y in enumerate(alike) if i != j]
    every = None if None in (d_s, d_ns, s_ns) else (d_s + d_ns + s_ns) / 3  # type: ignore[operator]
    return {
        "s_d_s": d_s,
        "s_d_ns": d_ns,
        "s_s_ns": s_ns,
        "mean_similarity": every,
        "pull": None if d_s is None or d_ns is None else d_s - d_ns,
        "s_d_d": float(np.mean(pairs)) if pairs else None,
    }


vector = st.lists(st.integers(-3, 3), min_size=3, max_size=3).filter(any)
kind = st.one_of(
    st.tuples(st.just("default"), st.none()),
    st.tuples(st.sampled_from(CONDITIONS[1:]), st.sampled_from(["hat", "drum", "boat"])),
)


@settings(max_examples=60, deadline=None)
@given(st.lists(st.tuples(st.sampled_from(["Aru", "Bel"]), kind, vector), min_size=1, max_size=14))
def test_equals_loops_over_pairs(drawn: list[Any]) -> None:
    images = [(group, condition, attribute, v) for group, (condition, attribute), v in drawn]
    result = pull(*tables(images), resamples=20)
    assert [row["identity_group"] for row in result.rows()] == sorted({row[0] for row in images})
    for row in result.rows():
        for name, expected in oracle(images, row["identity_group"]).items():
            assert row[name] == (None if expected is None else pytest.approx(expected, abs=1e-9)), name


def test_worked_by_hand() -> None:
    # d = {(1,0), (0,1)}, mean (½, ½). Stereotypes: hat {(1,0)}, drum {(0,1), (0,1), (1,0)}: set means (1,0) and
    # (⅓,⅔), their mean (⅔,⅓) whatever their sizes. Not stereotypes: kite {(−1,0)}.
    # S(d,s) = ½·⅔ + ½·⅓ = ½; S(d,ns) = −½; S(s,ns) = −⅔; mean −2/9; pull 1; S(d,d): the one pair is at 90°, 0.
    images: Images = [
        ("Aru", "default", None, [2, 0]),
        ("Aru", "default", None, [0, 3]),
        ("Aru", "stereotypical", "hat", [1, 0]),
        ("Aru", "stereotypical", "drum", [0, 1]),
        ("Aru", "stereotypical", "drum", [0, 5]),
        ("Aru", "stereotypical", "drum", [1, 0]),
        ("Aru", "non_stereotypical", "kite", [-1, 0]),
    ]
    result = pull(*tables(images), resamples=10)
    (row,) = result.rows()
    expected = {"s_d_s": 1 / 2, "s_d_ns": -1 / 2, "s_s_ns": -2 / 3, "mean_similarity": -2 / 9, "pull": 1}
    assert {name: row[name] for name in expected} == pytest.approx(expected)
    assert row["s_d_d"] == pytest.approx(0, abs=1e-12)
    assert [row[f"images_{condition}"] for condition in CONDITIONS] == [2, 4, 1]
    assert (row["attributes_stereotypical"], row["attributes_non_stereotypical"]) == (2, 1)
    assert (row["ci_low"], row["ci_high"], row["reason"]) == (None, None, "one_image")
    assert result.notes["models"] == [{"model": "m", "groups": 1, "defined": 1, "positive": 1}]


def full(images: int = 4, seed: int = 0) -> tuple[pd.DataFrame, np.ndarray]:
    kinds = [("default", None)] + [(c, a) for c in CONDITIONS[1:] for a in ("hat", "drum")]
    rows = [("Aru", c, a) for c, a in kinds for _ in range(images)]
    frame = pd.DataFrame(rows, columns=["identity_group", "condition", "attribute"])
    return frame, np.random.default_rng(seed).normal(0.3, 1, (len(frame), 5))


def test_interval_is_that_of_resampling_one_by_one() -> None:
    frame, vectors = full(images=6)
    low, high = pull(frame, vectors, resamples=4_000).table[["ci_low", "ci_high"]].astype(float).iloc[0]
    generator = np.random.default_rng(1)
    unit = vectors / np.linalg.norm(vectors, axis=1)[:, None]
    sets = [unit[start : start + 6] for start in range(0, 30, 6)]
    values = []
    for _ in range(4_000):
        d, *others = (own[generator.integers(0, 6, 6)].mean(axis=0) for own in sets)
        values.append(d @ (others[0] + others[1]) / 2 - d @ (others[2] + others[3]) / 2)
    slow = np.percentile(values, [2.5, 97.5])
    # Two independent runs of 4,000: an end differs by about ±0.02 of its width; the seeds are fixed.
    assert [low, high] == pytest.approx(slow, abs=0.04 * (slow[1] - slow[0]))


def test_groups_do_not_change_each_other() -> None:
    # Groups with sets of equal sizes are resampled together, and apart from those of other sizes.
    parts = [full(images, seed) for images, seed in ((4, 0), (4, 1), (7, 2), (4, 3))]
    names = ("Aru", "Bel", "Cir", "Dov")
    frames = [frame.assign(identity_group=name) for (frame, _), name in zip(parts, names, strict=True)]
    together = pull(pd.concat(frames), np.concatenate([part[1] for part in parts]), resamples=200)
    alone = [pull(frame, part[1], resamples=200).table for frame, part in zip(frames, parts, strict=True)]
    pd.testing.assert_frame_equal(together.table, pd.concat(alone, ignore_index=True), rtol=1e-4)
    assert together.table["ci_low"].notna().all()
    assert together.table["ci_low"].nunique() == 4


@pytest.mark.parametrize("condition", CONDITIONS)
def test_a_condition_without_images_is_null_with_its_reason(condition: str) -> None:
    frame, vectors = full()
    kept = (frame["condition"] != condition).to_numpy()
    (row,) = pull(frame[kept], vectors[kept], resamples=20).rows()
    assert (row["pull"], row["ci_low"], row["reason"]) == (None, None, f"no_{condition}_images")
    defined = {"default": "s_s_ns", "stereotypical": "s_d_ns", "non_stereotypical": "s_d_s"}[condition]
    assert row[defined] is not None
    assert row["mean_similarity"] is None


def test_single_images_leave_the_interval_null() -> None:
    (row,) = pull(*full(images=1), resamples=20).rows()
    assert row["pull"] is not None
    assert (row["s_d_d"], row["ci_low"], row["reason"]) == (None, None, "one_image")


def test_images_all_alike_leave_the_interval_null() -> None:
    frame, _ = full()
    (row,) = pull(frame, np.ones((len(frame), 3)), resamples=20).rows()
    assert row["pull"] == pytest.approx(0, abs=1e-12)
    assert (row["ci_low"], row["ci_high"], row["reason"]) == (None, None, "zero_width")


def test_no_images_no_rows() -> None:
    frame, vectors = full()
    result = pull(frame[:0], vectors[:0])
    assert (len(result.table), result.used, result.notes["models"]) == (0, 0, [])


def test_rows_without_group_and_of_other_conditions_are_counted() -> None:
    frame, vectors = full()
    frame.loc[0, "identity_group"] = None
    frame.loc[1, "condition"] = "target"
    result = pull(frame, vectors, resamples=20)
    assert result.dropped == {"no_identity_group": 1, "other_condition": 1}
    assert result.used == len(frame) - 2
    assert result.table["images_default"].tolist() == [2]


def test_turning_and_stretching_the_space_changes_nothing() -> None:
    frame, vectors = full()
    turn = np.linalg.qr(np.random.default_rng(3).normal(size=(5, 5)))[0]
    stretched = vectors * np.random.default_rng(4).uniform(0.1, 9, (len(frame), 1))
    columns = ["s_d_s", "s_d_ns", "s_s_ns", "pull"]
    expected = pull(frame, vectors, resamples=0).table[columns].astype(float)
    for changed in (vectors @ turn, stretched):
        table = pull(frame, changed, resamples=0).table[columns].astype(float)
        pd.testing.assert_frame_equal(table, expected)


def test_order_of_rows_changes_no_interval() -> None:
    frame, vectors = full()
    order = np.random.default_rng(8).permutation(len(frame))
    pd.testing.assert_frame_equal(
        pull(frame.iloc[order], vectors[order], resamples=50).table,
        pull(frame, vectors, resamples=50).table,
        rtol=1e-5,
    )


@pytest.mark.parametrize(
    ("vectors", "message"),
    [
        (np.ones((3, 2)), "vectors: expected 20 rows"),
        (np.zeros((20, 2)), "vectors: row 0 has no direction"),
        (np.full((20, 2), np.nan), "vectors: row 0 has no direction"),
    ],
)
def test_wrong_vectors_are_refused(vectors: np.ndarray, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        pull(full()[0], vectors)


@settings(max_examples=40, deadline=None)
@given(st.lists(vector, min_size=1, max_size=6), st.lists(vector, min_size=1, max_size=6))
def test_similarity_of_sets_equals_loops_over_pairs(first: list[Any], second: list[Any]) -> None:
    expected = np.mean([cosine(x, y) for x, y in product(first, second)])
    assert mean_similarity(first, second) == pytest.approx(expected, abs=1e-12)
    pairs = [cosine(x, y) for i, x in enumerate(first) for j, y in enumerate(first) if i != j]
    within = mean_similarity(first)
    assert within == (pytest.approx(np.mean(pairs), abs=1e-9) if pairs else None)


def test_similarity_with_nothing_is_none() -> None:
    assert mean_similarity([], [[1.0]]) is None
    assert mean_similarity([]) is None


def test_interval_covers_the_planted_pull() -> None:
    # 30 studies of four groups: 120 intervals; an interval that covers 80 % would nearly always fall below.
    share = np.mean([pull_covered(PULL[0], seed, 300) for seed in range(30)])
    assert 0.90 <= share <= 0.995
