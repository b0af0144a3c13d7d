"""Harm, judges and overlaps, against loops, statsmodels and the measures of agreement."""

from collections import defaultdict

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from statsmodels.stats.proportion import proportion_confint

from analysis.metrics import (
    association_overlap,
    harm_shares,
    judge_agreement,
    krippendorff_alpha,
    tfidf_associations,
)
from tests.analysis.metrics.probing.oracles import design_effect
from tests.analysis.metrics.probing.word_answers import word_answers


def scored(seed: int, *, models: tuple[str, ...] = ("m1",)) -> pd.DataFrame:
    generator = np.random.default_rng(seed)
    frames = [
        tfidf_associations(word_answers(seed + number, descriptors=8, runs=6)).table.assign(model=model)
        for number, model in enumerate(models)
    ]
    table = pd.concat(frames, ignore_index=True)
    n = len(table)
    table["dimension"] = np.where(table["descriptor"].str[-1].isin(list("0123")), "age", "place")
    table["significant"] = generator.random(n) < 0.5
    table["sentiment"] = generator.choice(["negative", "positive", "NEGATIVE"], n)
    table["toxicity"] = np.where(generator.random(n) < 0.1, np.nan, generator.random(n))
    table["bias_level"] = generator.integers(1, 6, n)
    return table


@pytest.mark.parametrize("seed", range(3))
def test_shares_have_a_wilson_interval_on_a_design_effect_of_descriptors(seed):
    frame = scored(seed, models=("m1", "m2"))
    table = harm_shares(frame).to_frame()
    assert len(table) == 3 * 2 * 2 * 2
    harmful = {
        "negative": lambda row: row["sentiment"].lower() == "negative",
        "toxic": lambda row: row["toxicity"] >= 0.5,
        "biased": lambda row: row["bias_level"] >= 4,
    }
    for row in table.to_dict("records"):
        clusters = defaultdict(list)
        key = ["model", "setting", "dimension"]
        at = frame[(frame[key] == [row[name] for name in key]).all(axis=1)]
        for pair in at[at["significant"]].to_dict("records"):
            if row["measure"] != "toxic" or pair["toxicity"] == pair["toxicity"]:
                clusters[pair["descriptor"]].append(bool(harmful[row["measure"]](pair)))
        share, n, effect = design_effect(clusters)
        low, high = proportion_confint(share * n / effect, n / effect, method="wilson")
        assert [row[name] for name in ("share", "ci_low", "ci_high")] == pytest.approx(
            [share, low, high], abs=1e-9
        )
        assert (row["scored"], row["descriptors"]) == (n, len(clusters))
        assert row["scored"] + row["unscored"] == row["associations"] == at["significant"].sum()


def test_measures_are_those_whose_scores_are_there():
    frame = scored(1).drop(columns=["toxicity", "bias_level"])
    assert set(harm_shares(frame).table["measure"]) == {"negative"}
    with pytest.raises(
        ValueError, match="expected at least one of the columns sentiment, toxicity, bias_level"
    ):
        harm_shares(frame.drop(columns="sentiment"))
    with pytest.raises(ValueError, match=r"'toxicity' must be 0 to 1, got 1\.5"):
        harm_shares(frame.assign(toxicity=1.5, significant=True))
    with pytest.raises(ValueError, match="'sentiment' must be one of negative"):
        harm_shares(frame.assign(sentiment="sad", significant=True))


def test_an_exact_significance_that_is_null_is_none():
    frame = scored(2)
    frame["significant_exact"] = pd.array([None] * len(frame), dtype="boolean")
    result = harm_shares(frame, significant="significant_exact")
    assert result.to_frame().empty
    assert result.dropped == {"not_significant": len(frame)}


def test_one_descriptor_has_no_interval():
    frame = scored(3)
    one = frame[(frame["descriptor"] == "people of 1") & (frame["setting"] == "setting0")].assign(
        significant=True
    )
    one["bias_level"] = [1, 5] * (len(one) // 2) + [1] * (len(one) % 2)
    row = harm_shares(one).table.query("measure == 'biased'").to_dict("records")[0]
    assert (row["reason"], row["descriptors"]) == ("one_cluster", 1)
    assert pd.isna(row["ci_low"])


@pytest.mark.parametrize("seed", range(3))
def test_overlap_is_that_of_the_sets(seed):
    frame = scored(seed, models=("m1", "m2"))
    frame = frame[~((frame["model"] == "m2") & (frame["descriptor"] == "people of 3"))]
    table = association_overlap(frame, resamples=200).to_frame()
    for setting, rows in table.groupby("setting"):
        part = frame[
            (frame["setting"] == setting) & frame["significant"] & (frame["descriptor"] != "people of 3")
        ]
        one, other = (
            set(zip(side["descriptor"], side["word"], strict=True))
            for side in (part[part["model"] == "m1"], part[part["model"] == "m2"])
        )
        value = dict(zip(rows["measure"], rows["value"], strict=True))
        assert value["jaccard"] == pytest.approx(len(one & other) / len(one | other), abs=1e-12)
        assert value["coefficient"] == pytest.approx(len(one & other) / min(len(one), len(other)), abs=1e-12)
        assert (rows["descriptors"] == 7).all()
        assert ((rows["ci_low"] <= rows["value"]) & (rows["value"] <= rows["ci_high"])).all()
    assert association_overlap(frame, resamples=200).dropped == {"lone_descriptors": 2}


def test_overlap_of_nothing_is_null():
    frame = scored(1, models=("m1", "m2"))
    nothing = association_overlap(frame.assign(significant=False), resamples=50).to_frame()
    assert set(nothing["reason"]) == {"none_significant"}
    assert nothing["value"].isna().all()
    one_side = association_overlap(frame.assign(significant=frame["model"] == "m1"), resamples=50).to_frame()
    jaccard, coefficient = one_side.to_dict("records")[:2]
    assert jaccard["value"] == 0
    assert coefficient["reason"] == "none_significant"


def test_a_model_overlaps_completely_with_itself():
    frame = scored(2)
    both = pd.concat([frame, frame.assign(model="m2")])
    table = association_overlap(both, resamples=50).to_frame()
    assert table["value"].tolist() == [1.0] * len(table)
    settings_compared = association_overlap(frame, compare="setting", resamples=50).to_frame()
    assert (
        settings_compared[["setting", "other_setting"]].to_numpy().tolist() == [["setting0", "setting1"]] * 2
    )


def ratings(seed: int, *, pairs: int = 40, people: int = 3) -> tuple[pd.DataFrame, pd.DataFrame]:
    generator = np.random.default_rng(seed)
    truth = generator.integers(1, 6, pairs)

    def rate(level: int) -> int:
        return int(np.clip(level + generator.integers(-1, 2), 1, 5))

    rows = [
        (f"p{i}", f"a{j}", rate(truth[i]))
        for i in range(pairs)
        for j in range(people)
        if generator.random() < 0.9
    ]
    judged = [(f"p{i}", rate(truth[i])) for i in range(3, pairs)]
    return (
        pd.DataFrame(rows, columns=["pair", "annotator", "rating"]),
        pd.DataFrame(judged, columns=["pair", "rating"]),
    )


def alpha_of(table: pd.DataFrame) -> float:
    """Ordinal α by the measure of agreement itself."""
    counts = pd.crosstab(table["pair"], table["rating"]).reindex(columns=range(1, 6), fill_value=0)
    return krippendorff_alpha(counts.to_numpy(), level="ordinal", resamples=0).rows()[0]["value"]


@pytest.mark.parametrize("seed", range(4))
def test_judge_and_people_agree_as_the_measures_of_agreement_say(seed):
    people, judge = ratings(seed)
    rows = {row["measure"]: row for row in judge_agreement(people, judge, resamples=300).rows()}
    shared = people[people["pair"].isin(judge["pair"])].sort_values(["pair", "annotator"])
    assert rows["people_alpha"]["value"] == pytest.approx(alpha_of(shared), abs=1e-12)

    level = judge.set_index("pair")["rating"]
    median = shared.groupby("pair")["rating"].median()
    difference = level.reindex(median.index) - median
    assert rows["exact"]["value"] == pytest.approx((difference == 0).mean())
    assert rows["within_one"]["value"] == pytest.approx((difference.abs() <= 1).mean())
    assert rows["mean_difference"]["value"] == pytest.approx(difference.mean())

    turns = []
    for turn in range(shared.groupby("pair").size().max()):
        replaced = shared.copy()
        for _, rows_of_pair in shared.groupby("pair"):
            at = rows_of_pair.index[min(turn, len(rows_of_pair) - 1)]
            replaced.loc[at, "rating"] = level[rows_of_pair["pair"].iloc[0]]
        turns.append(alpha_of(replaced))
    assert rows["judge_alpha"]["value"] == pytest.approx(np.mean(turns), abs=1e-12)
    for row in rows.values():
        assert row["ci_low"] <= row["value"] <= row["ci_high"]
        assert row["pairs"] == len(median)


def test_a_judge_that_repeats_people_agrees_completely():
    rows = [(f"p{i}", name, i % 5 + 1) for i in range(10) for name in "ab"]
    people = pd.DataFrame(rows, columns=["pair", "annotator", "rating"])
    judge = pd.DataFrame(
        [(f"p{i}", i % 5 + 1) for i in range(10) for _ in range(3)], columns=["pair", "rating"]
    )
    values = {row["measure"]: row["value"] for row in judge_agreement(people, judge, resamples=50).rows()}
    expected = {"people_alpha": 1, "judge_alpha": 1, "exact": 1, "within_one": 1, "mean_difference": 0}
    assert values == pytest.approx(expected)


@pytest.mark.parametrize(
    ("people", "judge", "reason"),
    [
        ([("p1", "a", 3)], [("p2", 3)], {"no_shared_pairs"}),
        (
            [("p1", "a", 3), ("p2", "a", 4)],
            [("p1", 3), ("p2", 4)],
            {"no_pair_rated_twice", None, "zero_width"},
        ),
        ([("p1", "a", 3), ("p1", "b", 3)], [("p1", 3)], {"no_variation", None, "zero_width"}),
    ],
)
def test_undefined_values_are_null(people, judge, reason):
    result = judge_agreement(
        pd.DataFrame(people, columns=["pair", "annotator", "rating"]),
        pd.DataFrame(judge, columns=["pair", "rating"]),
    )
    rows = result.rows()
    assert {row["reason"] for row in rows} <= reason
    assert rows[0]["value"] is None
    assert rows[0]["reason"] == next(iter(name for name in reason if name and name.startswith("no_")))


def test_wrong_ratings_are_refused():
    people, judge = ratings(1)
    with pytest.raises(ValueError, match="people: column 'rating' must be 1 to 5, got 7"):
        judge_agreement(people.assign(rating=7), judge)
    with pytest.raises(ValueError, match="is rated twice by one annotator"):
        judge_agreement(pd.concat([people, people]), judge)


@settings(max_examples=20, deadline=None)
@given(st.integers(0, 1000))
def test_agreement_keeps_its_invariances(seed):
    people, judge = ratings(seed, pairs=12)
    table = judge_agreement(people, judge, resamples=30).to_frame()
    shuffled = judge_agreement(people.sample(frac=1, random_state=1), judge.iloc[::-1], resamples=30)
    pd.testing.assert_frame_equal(table, shuffled.to_frame())
    renamed = judge_agreement(people.assign(annotator="x" + people["annotator"]), judge, resamples=30)
    pd.testing.assert_frame_equal(table, renamed.to_frame())
    opposite = [each.assign(rating=6 - each["rating"]) for each in (people, judge)]
    turned = judge_agreement(*opposite, resamples=30)
    assert turned.table["value"][:2].tolist() == pytest.approx(table["value"][:2].tolist(), abs=1e-12)
