"""Scores compared with people's answers: against scikit-learn, scipy and plain loops."""

import hashlib
import warnings
from typing import Any

import numpy as np
import pandas as pd
import pytest
import scipy.stats
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.metrics import average_precision_score, precision_recall_fscore_support, roc_auc_score

from analysis.metrics import concordance
from analysis.metrics.automated.accuracy import (
    area_under_roc,
    average_precision,
    choose_threshold,
    spearman,
)
from analysis.metrics.resampling.intervals import wilson
from benchmarks.analysis.coverage.automated import PRECISION, precision_covered

Unit = tuple[str, str, float, int, int]  # image, attribute, score, yes, answers


def tables(units: list[Unit], **columns: Any) -> tuple[pd.DataFrame, pd.DataFrame]:
    scores = pd.DataFrame([unit[:3] for unit in units], columns=["image", "attribute", "score"])
    answers = [
        (image, attribute, f"p{i}", int(i < yes))
        for image, attribute, _, yes, number in units
        for i in range(number)
    ]
    judgements = pd.DataFrame(answers, columns=["image", "attribute", "annotator", "present"])
    return scores.assign(scorer="s", model="m", **columns), judgements


def chosen_on(image: str) -> bool:
    return hashlib.sha256(image.encode()).digest()[0] % 2 == 1


score = st.integers(0, 6).map(lambda n: n / 6)
ranked = st.lists(st.tuples(score, st.booleans()), min_size=1, max_size=20)


@settings(max_examples=120, deadline=None)
@given(ranked)
def test_ap_and_auc_equal_scikit_learn(units: list[tuple[float, bool]]) -> None:
    values, positive = (np.array(column) for column in zip(*units, strict=True))
    if positive.all() or not positive.any():
        assert np.isnan(average_precision(values, positive))
        assert np.isnan(area_under_roc(values, positive))
        return
    assert average_precision(values, positive) == pytest.approx(average_precision_score(positive, values))
    assert area_under_roc(values, positive) == pytest.approx(roc_auc_score(positive, values))


@settings(max_examples=80, deadline=None)
@given(st.lists(st.tuples(score, score), max_size=12))
def test_spearman_equals_scipy(pairs: list[tuple[float, float]]) -> None:
    one, other = (np.array([pair[i] for pair in pairs]) for i in (0, 1))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of constant input
        expected = scipy.stats.spearmanr(one, other).statistic if len(pairs) > 1 else np.nan
    assert spearman(one, other) == pytest.approx(expected, nan_ok=True, abs=1e-12)


@settings(max_examples=120, deadline=None)
@given(ranked.filter(lambda units: any(there for _, there in units)), st.sampled_from([0.2, 0.5, 0.9, 1.0]))
def test_threshold_is_the_best_of_all_tried(units: list[tuple[float, bool]], target: float) -> None:
    values = sorted({value for value, _ in units}, reverse=True)

    def quality(threshold: float) -> tuple[float, bool]:
        hits = sum(there for value, there in units if value >= threshold)
        predicted = sum(value >= threshold for value, _ in units)
        low = float(wilson(np.array(hits / predicted), np.array(predicted))[0])
        return 2 * hits / (predicted + sum(there for _, there in units)), low >= target

    allowed = [value for value in values if quality(value)[1]] or values
    best = max(quality(value)[0] for value in allowed)
    ours = choose_threshold(*(np.array(column) for column in zip(*units, strict=True)), target)
    accepted = min(value for value in values if value >= ours)
    # The same units are accepted as by the highest of the best thresholds.
    assert accepted == max(value for value in allowed if quality(value)[0] == pytest.approx(best))
    lower = [value for value in values if value < accepted]
    assert ours == pytest.approx((accepted + lower[0]) / 2 if lower else accepted)


def invented(images: int = 40, seed: int = 0, noise: float = 0.25) -> list[Unit]:
    """Three attributes; a hat scores well where people see it, a drum less so, a boat by chance."""
    generator = np.random.default_rng(seed)
    units: list[Unit] = []
    for i in range(images):
        for attribute, signal in (("hat", 1.0), ("drum", 0.5), ("boat", 0.0)):
            there = generator.random() < 0.5
            yes = int(generator.binomial(4, 0.85 if there else 0.15))
            value = float(np.clip(0.5 + signal * (0.3 if there else -0.3) + generator.normal(0, noise), 0, 1))
            units.append((f"i{i}", attribute, round(value, 2), yes, 4))
    return units


def test_each_number_from_the_definition() -> None:
    units = invented()
    result = concordance(*tables(units), resamples=50)
    rows = {row["attribute"]: row for row in result.rows()}
    assert list(rows) == [None, "boat", "drum", "hat"]
    for attribute, row in rows.items():
        mine = [unit for unit in units if attribute in (None, unit[1])]
        decided = [unit for unit in mine if 2 * unit[3] != unit[4]]
        truth, values = [2 * unit[3] > unit[4] for unit in decided], [unit[2] for unit in decided]
        assert (row["n"], row["positives"]) == (len(decided), sum(truth))
        assert row["ties_left_out"] == len(mine) - len(decided) > 0
        assert row["average_precision"] == pytest.approx(average_precision_score(truth, values))
        assert row["auc"] == pytest.approx(roc_auc_score(truth, values))
        assert row["brier"] == pytest.approx(np.mean([(u[2] - u[3] / u[4]) ** 2 for u in mine]))
        share = [u[3] / u[4] for u in mine]
        assert row["spearman"] == pytest.approx(scipy.stats.spearmanr([u[2] for u in mine], share).statistic)
        here = [(u[2], 2 * u[3] > u[4]) for u in decided if chosen_on(u[0])]
        threshold = choose_threshold(*(np.array(column) for column in zip(*here, strict=True)), 0.9)
        assert row["threshold"] == threshold
        there = [u for u in decided if not chosen_on(u[0])]
        expected = precision_recall_fscore_support(
            [2 * u[3] > u[4] for u in there], [u[2] >= threshold for u in there], average="binary"
        )[:3]
        assert (row["precision"], row["recall"], row["f1"]) == pytest.approx(expected)
        assert row["predicted"] == sum(u[2] >= threshold for u in there)
    assert result.used == sum(unit[4] for unit in units)


def test_interval_is_that_of_resampling_images_one_by_one() -> None:
    units = invented(60)
    row = concordance(*tables(units), resamples=4_000).rows()[0]
    there = [u for u in units if not chosen_on(u[0])]
    images = sorted({u[0] for u in there})
    predicted = [
        [u for u in there if u[0] == i and u[2] >= row["threshold"] and 2 * u[3] != u[4]] for i in images
    ]
    number = np.array([len(on) for on in predicted])
    right = np.array([sum(2 * u[3] > u[4] for u in on) for on in predicted])
    generator = np.random.default_rng(1)
    drawn = generator.integers(0, len(images), (4_000, len(images)))
    low, high = np.percentile(right[drawn].sum(axis=1) / number[drawn].sum(axis=1), [2.5, 97.5])
    assert [row["precision_low"], row["precision_high"]] == pytest.approx(
        [low, high], abs=0.05 * (high - low)
    )


def separable(images: int, wrong: int = 0) -> list[Unit]:
    """Images of both halves, every second positive; the score separates them except for `wrong` errors."""
    return [(f"i{i}", "hat", 0.9 if (i % 2) != (i < wrong) else 0.1, 3 * (i % 2), 3) for i in range(images)]


def test_the_share_that_can_be_left_to_the_machine() -> None:
    # 200 images, about 50 positive ones in a half, all found: precision 1, and Wilson's lower end about 0.93.
    (overall, row) = concordance(*tables(separable(200)), resamples=200).rows()
    assert (row["precision"], row["recall"], row["f1"], row["threshold"]) == (1, 1, 1, 0.5)
    assert row["precision_low"] == pytest.approx(wilson(np.array(1.0), np.array(row["predicted"]))[0])
    assert (row["precision_high"], row["automatable"], row["reason"]) == (1, True, None)
    assert overall["precision"] == 1
    # A higher target is not reached by the same data, nor by a handful of images.
    assert not concordance(*tables(separable(200)), target_precision=0.97, resamples=200).rows()[1][
        "automatable"
    ]
    assert not concordance(*tables(separable(30)), resamples=200).rows()[1]["automatable"]
    # Forty of 400 wrong: precision about 0.9 as it stands, its lower end is not.
    row = concordance(*tables(separable(400, wrong=40)), resamples=200).rows()[1]
    assert row["precision_low"] < 0.9 < row["precision_high"]
    assert row["automatable"] is False
    assert concordance(*tables(separable(400, wrong=40)), target_precision=0.7, resamples=200).rows()[1][
        "automatable"
    ]


@pytest.mark.parametrize(
    ("units", "reason", "null"),
    [
        (
            [(f"i{i}", "hat", i / 20, 1, 2) for i in range(20)],
            "no_majority",
            ("auc", "precision", "threshold"),
        ),
        ([(f"i{i}", "hat", i / 20, 2, 2) for i in range(20)], "one_class_only", ("auc", "average_precision")),
        ([(f"i{i}", "hat", i / 20, 0, 2) for i in range(20)], "one_class_only", ("auc", "precision_low")),
        (
            [(f"i{i}", "hat", i / 20, int(i < 2), 1) for i in range(20)],
            "too_few_positives",
            ("threshold", "f1"),
        ),
        (
            [(f"i{i}", "hat", i / 20, int(i > 1), 1) for i in range(20)],
            "too_few_negatives",
            ("threshold", "f1"),
        ),
        ([("i0", "hat", 0.5, 1, 1)], "one_class_only", ("auc", "precision", "spearman")),
    ],
)
def test_undefined_values_are_null_with_their_reason(
    units: list[Unit], reason: str, null: tuple[str, ...]
) -> None:
    for row in concordance(*tables(units), resamples=40).rows():
        assert row["reason"] == reason
        for name in (
            *null,
            "precision",
            "recall",
            "precision_low",
            "precision_high",
            "automatable",
            "predicted",
        ):
            assert row[name] is None, name
        assert row["brier"] is not None


def test_nothing_predicted_on_the_other_half_has_no_precision() -> None:
    # Positives score high on the half that the threshold is chosen on, and low on the other.
    units = [
        (f"i{i}", "hat", (0.9 if chosen_on(f"i{i}") else 0.2) if i % 3 == 0 else 0.1, int(i % 3 == 0), 1)
        for i in range(60)
    ]
    row = concordance(*tables(units), resamples=40).rows()[1]
    assert (row["precision"], row["recall"], row["f1"], row["predicted"]) == (None, 0, 0, 0)
    assert (row["automatable"], row["reason"]) == (None, "none_predicted")


def test_few_predictions_have_no_interval() -> None:
    # A high target: one positive has the highest score, the others are mixed with negatives.
    units = [(f"i{i}", "hat", 0.9 if i == 1 else 0.5, i % 2, 1) for i in range(40)]
    units += [(f"j{i}", "hat", 0.95, 1, 1) for i in range(40) if chosen_on(f"j{i}")][:40]
    row = concordance(*tables(units), resamples=300).rows()[1]
    assert not chosen_on("i1")
    assert (row["predicted"], row["precision"]) == (1, 1)
    assert (row["precision_low"], row["automatable"], row["reason"]) == (None, None, "too_sparse")


def test_scores_that_are_no_probabilities_have_no_brier_and_no_calibration() -> None:
    units = [(image, attribute, 3 * value - 1, yes, n) for image, attribute, value, yes, n in invented()]
    result = concordance(*tables(units), resamples=40)
    assert {row["brier"] for row in result.rows()} == {None}
    assert result.rows()[0]["reason"] == "not_a_probability"
    assert result.rows()[0]["auc"] == pytest.approx(
        concordance(*tables(invented()), resamples=0).rows()[0]["auc"]
    )
    assert set(result.calibration["reason"]) == {"not_a_probability"}
    assert set(result.calibration["n"]) == {0}


def test_constant_scores() -> None:
    units = [(image, attribute, 0.5, yes, n) for image, attribute, _, yes, n in invented()]
    row = concordance(*tables(units), resamples=40).rows()[0]
    assert (row["auc"], row["spearman"], row["reason"]) == (0.5, None, "constant")
    assert row["average_precision"] == pytest.approx(row["positives"] / row["n"])


def test_calibration_worked_by_hand() -> None:
    # Bin 1 (0 to 0.1): 0.05 with 0 of 2, 0.05 with 1 of 2: mean score 0.05, observed 0.25.
    # Bin 10: 0.95 with 2 of 2, 1.0 with 2 of 2, both on one image: observed 1, Wilson with one image.
    units = [
        ("i0", "hat", 0.05, 0, 2),
        ("i1", "hat", 0.05, 1, 2),
        ("i2", "hat", 0.95, 2, 2),
        ("i2", "drum", 1.0, 2, 2),
    ]
    frame = concordance(*tables(units), resamples=2_000).calibration
    assert frame["bin"].tolist() == list(range(1, 11))
    assert frame["n"].tolist() == [2, *[0] * 8, 2]
    first, last = frame.iloc[0], frame.iloc[9]
    assert (first["mean_score"], first["observed"]) == pytest.approx((0.05, 0.25))
    assert (last["mean_score"], last["observed"], last["low"], last["high"]) == pytest.approx(
        (0.975, 1, 0.9, 1)
    )
    assert set(frame["reason"][1:9]) == {"no_units"}
    # Of three images resampled, a bin on one is empty in (2/3)³ of the resamples, on two in (1/3)³ = 3.7 %.
    assert last["reason"] == "too_sparse"
    assert pd.isna(last["ci_low"])
    assert (first["ci_low"], first["ci_high"]) == (0, 0.5)


def test_calibration_covers_what_is_observed() -> None:
    frame = concordance(*tables(invented(80)), resamples=200).calibration
    filled = frame[frame["reason"].isna()]
    assert len(filled) > 5
    assert (filled["ci_low"] <= filled["observed"]).all()
    assert (filled["observed"] <= filled["ci_high"]).all()
    assert frame["n"].sum() == 240


def test_scorers_and_models_do_not_change_each_other() -> None:
    scores, judgements = tables(invented())
    both = pd.concat(
        [scores, scores.assign(model="other", score=1 - scores["score"]), scores.assign(scorer="a")]
    )
    alone, together = (
        concordance(scores, judgements, resamples=40),
        concordance(both, judgements, resamples=40),
    )
    table = together.table
    mine = table[(table["scorer"] == "s") & (table["model"] == "m")].reset_index(drop=True)
    pd.testing.assert_frame_equal(mine, alone.table)
    assert table.groupby(["scorer", "model"]).size().tolist() == [4, 4, 4]
    other = table[table["model"] == "other"]
    assert other["auc"].iloc[0] == pytest.approx(1 - alone.table["auc"].iloc[0])
    assert len(together.calibration) == 30


def test_rows_without_a_match_are_counted() -> None:
    scores, judgements = tables(invented())
    scores.loc[0, "score"] = None
    scores = scores[scores.index != 1]
    judgements = judgements[~((judgements["image"] == "i1") & (judgements["attribute"] == "hat"))]
    result = concordance(scores, judgements, resamples=20)
    assert result.dropped == {"no_score": 1, "score_never_judged": 1, "judgement_never_scored": 8}
    assert result.used == 120 * 4 - 4 - 8


def test_an_image_stays_in_its_half_when_others_are_scored() -> None:
    units = invented()
    fewer = [unit for unit in units if unit[1] == "hat"]
    one, other = (concordance(*tables(some), resamples=20).rows() for some in (units, fewer))
    assert one[-1]["threshold"] == other[-1]["threshold"]
    assert one[-1]["precision"] == other[-1]["precision"]


@pytest.mark.parametrize("kept", ["scores", "judgements", "neither"])
def test_nothing_to_compare_has_no_rows(kept: str) -> None:
    scores, judgements = tables(invented(4))
    result = concordance(
        scores if kept == "scores" else scores[:0], judgements if kept == "judgements" else judgements[:0]
    )
    assert result.table.empty
    assert result.calibration.empty
    assert list(result.table.columns) == list(concordance(scores, judgements, resamples=0).table.columns)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda s, j: (pd.concat([s, s]), j), "scores: image 'i0', attribute 'boat' is scored twice"),
        (lambda s, j: (s.assign(score="high"), j), "scores: column 'score' must contain numbers, got 'high'"),
        (lambda s, j: (s.assign(score=np.inf), j), "scores: column 'score' must contain numbers"),
        (lambda s, j: (s, j.assign(present=2)), "judgements: column 'present' must contain 0 or 1, got 2"),
        (lambda s, j: (s.drop(columns="image"), j), "scores: column 'image' is missing"),
    ],
)
def test_wrong_tables_are_refused_by_name(change: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        concordance(*change(*tables(invented(4))))
    with pytest.raises(ValueError, match="target_precision"):
        concordance(*tables(invented(4)), target_precision=90)


def test_interval_covers_the_planted_precision() -> None:
    share = np.mean([precision_covered(PRECISION[0], seed, 300) for seed in range(60)])
    assert 0.88 <= share <= 1
