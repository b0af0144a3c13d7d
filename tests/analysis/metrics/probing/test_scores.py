"""Association scores and refusal rates, against scipy, statsmodels and loops."""

from collections import defaultdict

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from scipy import stats
from statsmodels.stats.proportion import proportion_confint

from analysis.metrics import association_scores
from tests.analysis.metrics.probing.oracles import design_effect, scenario_scores
from tests.analysis.metrics.probing.probe_answers import COLUMNS, probe_answers, probe_tables

CELL = ("question", "order")
KEY = ("model", "experiment", "group")
SEVERAL = (("work", 12, 1), ("leisure", 7, 5))


@pytest.mark.parametrize("seed", range(4))
def test_association_is_the_mean_of_scenarios_with_a_t_interval(seed):
    frame = probe_answers(seed, models=("m1", "m2"), experiments=SEVERAL, failed=0.2)
    expected = scenario_scores(frame, KEY, CELL)
    decided = scenario_scores(frame, KEY, CELL, ("plus", "minus"))
    table = association_scores(frame).to_frame()
    assert len(table) == len(expected) == 16
    for row in table.to_dict("records"):
        key = tuple(row[name] for name in KEY)
        for values, names in (
            (expected[key], ("association", "ci_low", "ci_high")),
            (decided[key], ("association_without_refusals", "without_refusals_low", "without_refusals_high")),
        ):
            scenarios = list(values.values())
            low, high = stats.t.interval(0.95, len(scenarios) - 1, np.mean(scenarios), stats.sem(scenarios))
            assert [row[name] for name in names] == pytest.approx([np.mean(scenarios), low, high], abs=1e-9)


@pytest.mark.parametrize("seed", range(4))
def test_refusals_have_a_wilson_interval_on_a_design_effect_of_scenarios(seed):
    frame = probe_answers(seed, odd=0.3, failed=0.1)
    table = association_scores(frame).to_frame()
    named = {"refusal": ("refused", "both", "declined"), "other": ("other",), "empty": ("empty",)}
    for row in table.to_dict("records"):
        answers = frame[(frame["group"] == row["group"]) & (frame["outcome"] != "failed")]
        for name, outcomes in named.items():
            clusters = defaultdict(list)
            for scenario, outcome in zip(answers["scenario"], answers["outcome"], strict=True):
                clusters[scenario].append(outcome in outcomes)
            share, n, effect = design_effect(clusters)
            low, high = proportion_confint(share * n / effect, n / effect, method="wilson")
            estimate = row["refusal_rate"] if name == "refusal" else row[f"{name}_share"]
            assert [estimate, row[f"{name}_low"], row[f"{name}_high"]] == pytest.approx(
                [share, low, high], abs=1e-9
            )


def test_a_share_of_none_or_all_counts_scenarios():
    frame = probe_answers(1, odd=0, failed=0)
    row = association_scores(frame).rows()[0]
    _, high = proportion_confint(0, 12, method="wilson")
    assert (row["refusal_rate"], row["refusal_low"]) == (0, 0)
    assert row["refusal_high"] == pytest.approx(high, abs=1e-12)
    assert row["refusal_reason"] is None


def test_where_nothing_failed_the_score_is_the_mean_of_all_answers():
    frame = probe_answers(3, experiments=SEVERAL, failed=0)
    table = association_scores(frame).to_frame()
    assert table["association"].tolist() == pytest.approx(table["association_responses"].tolist(), abs=1e-12)


def test_failed_answers_are_missing_and_refusals_are_not():
    rows = [
        ("m", "e", scenario, "q", "blue", "blue", "big", repeat, "published", outcome)
        for scenario, outcomes in {
            "s1": ["plus", "plus", "failed"],
            "s2": ["plus", "refused", "minus"],
        }.items()
        for repeat, outcome in enumerate(outcomes)
    ]
    result = association_scores(pd.DataFrame(rows, columns=COLUMNS))
    (row,) = result.rows()
    assert (row["n"], row["failed"], row["association"]) == (5, 1, 0.5)
    assert row["association_responses"] == pytest.approx(2 / 5)
    assert row["refusal_rate"] == pytest.approx(1 / 5)
    assert result.dropped == {"failed": 1}
    assert result.used == 5


@pytest.mark.parametrize(
    ("outcomes", "estimate", "reason", "without"),
    [
        (["refused", "both"], 0.0, "no_variation", "all_refused"),
        (["failed", "failed"], None, "no_answers", "no_answers"),
        (["plus", "plus"], 1.0, "no_variation", "no_variation"),
    ],
)
def test_nulls_have_their_reasons(outcomes, estimate, reason, without):
    rows = [
        ("m", "e", f"s{i}", "q", "blue", "blue", "big", 0, "published", outcome)
        for i, outcome in enumerate(outcomes)
    ]
    (row,) = association_scores(pd.DataFrame(rows, columns=COLUMNS)).rows()
    assert (row["association"], row["reason"], row["without_refusals_reason"]) == (estimate, reason, without)
    assert row["ci_low"] is None


def test_one_scenario_has_no_interval():
    row = association_scores(probe_answers(1, experiments=(("work", 1, 1),))).rows()[0]
    assert row["association"] is not None
    assert (row["ci_low"], row["reason"], row["refusal_reason"]) == (None, "one_scenario", "one_cluster")


@pytest.mark.parametrize("by", ["question", "scenario", "order"])
def test_breakdowns_are_scores_of_parts(by):
    frame = probe_answers(5, experiments=(("leisure", 6, 3),))
    table = association_scores(frame, by=by).to_frame()
    assert len(table) == frame.groupby([by, "group"]).ngroups
    for value, rows in table.groupby(by):
        alone = association_scores(frame[frame[by] == value]).to_frame()
        pd.testing.assert_frame_equal(rows.drop(columns=by).reset_index(drop=True), alone)


def test_levels_pool_the_groups_of_a_factor():
    frame = probe_answers(6, failed=0.2)
    levels = association_scores(frame).levels
    assert levels[["factor", "level"]].to_numpy().tolist() == [
        *(["colour", level] for level in ("blue", "red")),
        *(["size", level] for level in ("big", "small")),
    ]
    expected = scenario_scores(frame, ("size",), ("question", "order", "colour"))
    for row in levels[levels["factor"] == "size"].to_dict("records"):
        assert row["association"] == pytest.approx(
            np.mean(list(expected[(row["level"],)].values())), abs=1e-12
        )


@settings(max_examples=20, deadline=None)
@given(probe_tables())
def test_scores_keep_their_invariances(frame):
    table = association_scores(frame).to_frame()
    assert table["association"].dropna().between(-1, 1).all()
    shuffled = association_scores(frame.sample(frac=1, random_state=1)).to_frame()
    pd.testing.assert_frame_equal(table, shuffled)
    twice = association_scores(pd.concat([frame, frame])).to_frame()
    pd.testing.assert_series_equal(table["association"], twice["association"])
    turned = frame.assign(outcome=frame["outcome"].replace({"plus": "minus", "minus": "plus"}))
    opposite = association_scores(turned).to_frame()
    assert opposite["association"].fillna(9).tolist() == pytest.approx(
        (-table["association"]).fillna(9).tolist()
    )
    assert opposite["refusal_rate"].equals(table["refusal_rate"])
    renamed = association_scores(frame.assign(scenario="x" + frame["scenario"])).to_frame()
    pd.testing.assert_frame_equal(table, renamed)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda f: f.drop(columns="scenario"), "answers: column 'scenario' is missing"),
        (
            lambda f: f.assign(outcome="maybe"),
            "answers: column 'outcome' must be one of plus, .* got 'maybe'",
        ),
        (lambda f: f.assign(outcome=None), "answers: column 'outcome' is empty"),
        (lambda f: f.to_dict(), "answers: expected a DataFrame"),
    ],
)
def test_wrong_answers_are_refused(change, message):
    with pytest.raises(ValueError, match=message):
        association_scores(change(probe_answers(1)))


def test_factors_are_columns_with_one_value_per_group():
    frame = probe_answers(1).assign(text="a", note=range(len(probe_answers(1))))
    assert association_scores(frame).notes["factors"] == ["colour", "size"]
    assert association_scores(frame, factors=["size"]).notes["factors"] == ["size"]
    with pytest.raises(ValueError, match="'note' differs within the group"):
        association_scores(frame, factors=["note"])
