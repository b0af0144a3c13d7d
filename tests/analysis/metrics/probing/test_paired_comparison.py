"""Paired comparisons, against scipy, statsmodels and loops."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import optimize, stats
from statsmodels.stats.multitest import multipletests
from statsmodels.stats.power import TTestPower
from statsmodels.stats.weightstats import DescrStatsW

from analysis.metrics import condition_effects, first_option_shares, model_differences, paired_comparison
from analysis.metrics.probing.paired.permutation import sign_flip_p
from analysis.metrics.probing.paired.statistics import detectable_effect, paired_test
from tests.analysis.metrics.probing import oracles
from tests.analysis.metrics.probing.probe_answers import COLUMNS, probe_answers, probe_tables

SEVERAL = (("work", 20, 1), ("leisure", 9, 5))
CELLS = {"colour": ("question", "order", "size"), "size": ("question", "order", "colour")}
LEVELS = {"colour": ("blue", "red"), "size": ("big", "small")}


def as_expected(row, differences, level):
    """Every statistic of a row, by other people's code."""
    n = len(differences)
    t, p = stats.ttest_rel(differences, np.zeros(n))
    interval = stats.ttest_1samp(differences, 0).confidence_interval()
    equivalence = DescrStatsW(differences).ttost_mean(-0.2, 0.2)[0]
    d_z = np.mean(differences) / np.std(differences, ddof=1)
    found = [
        row[name] for name in ("n", "difference", "ci_low", "ci_high", "t", "df", "p", "d_z", "p_equivalence")
    ]
    assert found == pytest.approx(
        [n, np.mean(differences), *interval, t, n - 1, p, d_z, equivalence], abs=1e-9
    )
    for end, share in (("d_z_low", 0.975), ("d_z_high", 0.025)):

        def excess(shift, share=share):
            return stats.nct.cdf(t, n - 1, shift) - share

        root = optimize.brentq(excess, t - 6, t + 6, xtol=1e-13)
        assert row[end] == pytest.approx(root / np.sqrt(n), abs=1e-9)
    power = TTestPower().solve_power(nobs=n, alpha=level, power=0.8)
    assert row["detectable_d_z"] == pytest.approx(power, rel=1e-5)
    assert row["detectable_difference"] == pytest.approx(power * np.std(differences, ddof=1), rel=1e-5)
    assert row["test_level"] == pytest.approx(level)


@pytest.mark.parametrize("seed", range(3))
def test_every_statistic_is_that_of_scipy_and_statsmodels(seed):
    frame = probe_answers(seed, models=("m1", "m2"), experiments=SEVERAL, failed=0.3)
    table = paired_comparison(frame).to_frame()
    assert len(table) == 2 * 2 * 3
    for row in table.to_dict("records"):
        part = frame[(frame["model"] == row["model"]) & (frame["experiment"] == row["experiment"])]
        if row["family"] == "interaction":
            differences = oracles.double_differences(part, "colour", "size", ("question", "order"))
        else:
            differences = oracles.paired_differences(
                part, row["factor"], LEVELS[row["factor"]], CELLS[row["factor"]]
            )
        as_expected(row, list(differences.values()), 0.05 / 4)


@pytest.mark.parametrize("seed", range(3))
def test_holm_adjusts_within_each_family(seed):
    frame = probe_answers(seed, models=("m1", "m2"), experiments=SEVERAL, shift=0.3)
    result = paired_comparison(frame)
    for table in (result.to_frame(), result.questions):
        for _, rows in table.groupby("family"):
            expected = multipletests(rows["p"].to_numpy(dtype=float), method="holm")[1]
            assert rows["p_holm"].tolist() == pytest.approx(expected.tolist(), abs=1e-12)
            assert rows["family_size"].tolist() == [len(rows)] * len(rows)
    assert result.notes["families"] == {"primary": 4, "other_factor": 4, "interaction": 4}


def test_the_published_comparisons_are_the_primary_family():
    frame = probe_answers(1, experiments=(("occupations", 4, 1), ("status", 4, 1), ("potential_crime", 4, 1)))
    frame = frame.rename(columns={"colour": "race", "size": "gender"})
    table = paired_comparison(frame).to_frame()
    primary = table[table["family"] == "primary"]
    assert dict(zip(primary["experiment"], primary["factor"], strict=True)) == {
        "occupations": "gender",
        "potential_crime": "race",
        "status": "race",
    }
    chosen = paired_comparison(frame, comparisons={"occupations": "race"}).to_frame()
    assert chosen.query("experiment == 'occupations' and family == 'primary'")["factor"].tolist() == ["race"]
    with pytest.raises(ValueError, match="comparisons: 'age' is not a factor"):
        paired_comparison(frame, comparisons={"status": "age"})


def test_questions_are_tested_where_several_were_asked_of_several_scenarios():
    frame = probe_answers(2, experiments=(("work", 6, 1), ("leisure", 6, 4)))
    questions = paired_comparison(frame).questions
    assert questions["question"].tolist() == ["q0", "q1", "q2", "q3"]
    for row in questions.to_dict("records"):
        part = frame[(frame["experiment"] == "leisure") & (frame["question"] == row["question"])]
        differences = oracles.paired_differences(part, "colour", LEVELS["colour"], ("order", "size"))
        as_expected(row, list(differences.values()), 0.05 / 4)
    own = frame.assign(question=frame["scenario"])
    assert paired_comparison(own).questions.empty


def test_scenarios_have_differences_and_no_p():
    frame = probe_answers(3, failed=0.2)
    scenarios = paired_comparison(frame).scenarios
    expected = oracles.paired_differences(frame, "colour", LEVELS["colour"], CELLS["colour"])
    assert dict(zip(scenarios["scenario"], scenarios["difference"], strict=True)) == pytest.approx(expected)
    assert not [name for name in scenarios if name.startswith("p")]


def test_a_cell_without_answers_in_one_group_leaves_both():
    frame = probe_answers(4, failed=0, experiments=(("work", 5, 1),))
    lone = (frame["scenario"] == "s0") & (frame["group"] == "red_big") & (frame["order"] == "published")
    gone = (frame["scenario"] == "s1") & (frame["colour"] == "red")
    result = paired_comparison(frame.assign(outcome=frame["outcome"].mask(lone | gone, "failed")))
    row = result.rows()[0]
    assert (row["factor"], row["n"], row["lone_cells"], row["lone_scenarios"]) == ("colour", 4, 1 + 4, 1)
    without = frame[
        ~((frame["scenario"] == "s0") & (frame["size"] == "big") & (frame["order"] == "published"))
    ]
    without = without[without["scenario"] != "s1"]
    expected = oracles.paired_differences(without, "colour", LEVELS["colour"], CELLS["colour"])
    assert row["difference"] == pytest.approx(np.mean(list(expected.values())), abs=1e-12)
    assert result.dropped["failed"] == int((lone | gone).sum())


def test_no_variation_leaves_the_difference_and_the_family():
    rows = [
        (model, "work", f"s{i}", "q", f"{colour}_big", colour, "big", 0, "published", outcome)
        for model, turns in (
            ("m1", ["plus"] * 6),
            ("m2", ["plus", "minus", "plus", "refused", "plus", "plus"]),
        )
        for i, turn in enumerate(turns)
        for colour, outcome in (("blue", turn), ("red", "minus"))
    ]
    table = paired_comparison(pd.DataFrame(rows, columns=COLUMNS)).to_frame().query("factor == 'colour'")
    still, moving = table.to_dict("records")
    assert (still["difference"], still["reason"], still["p_permutation"]) == (2, "no_variation", 2 / 2**6)
    assert all(
        pd.isna(still[name])
        for name in ("t", "p", "p_holm", "d_z", "d_z_low", "ci_low", "p_equivalence", "equivalent")
    )
    assert moving["family_size"] == 1
    assert moving["p_holm"] == moving["p"]


@pytest.mark.parametrize(("scenarios", "reason"), [(1, "one_pair"), (0, "no_pairs")])
def test_too_few_pairs_are_null(scenarios, reason):
    frame = probe_answers(1, experiments=(("work", max(scenarios, 1), 1),), failed=0)
    if not scenarios:
        frame = frame.assign(outcome=frame["outcome"].mask(frame["colour"] == "red", "failed"))
    row = paired_comparison(frame).rows()[0]
    assert (row["n"], row["p"], row["reason"]) == (scenarios, None, reason)


def test_responses_pair_answers_alike_in_all_else():
    frame = probe_answers(7, failed=0.1)
    row = paired_comparison(frame, unit="responses").rows()[0]
    answered = frame[frame["outcome"] != "failed"]
    code = answered.assign(code=answered["outcome"].map({"plus": 1, "minus": -1}).fillna(0))
    wide = code.pivot(
        index=["scenario", "question", "order", "size", "repeat"], columns="colour", values="code"
    ).dropna()
    as_expected(row, (wide["blue"] - wide["red"]).to_numpy(), 0.05)
    with pytest.raises(ValueError, match="column 'repeat' is missing"):
        paired_comparison(frame.drop(columns="repeat"), unit="responses")


def test_refusals_left_out_keep_plus_and_minus():
    frame = probe_answers(8, odd=0.3)
    result = paired_comparison(frame, refusals="left_out")
    decided = frame[frame["outcome"].isin(["plus", "minus"])]
    assert result.rows()[0]["difference"] == paired_comparison(decided).rows()[0]["difference"]
    assert result.dropped["not_decided"] == (~frame["outcome"].isin(["plus", "minus", "failed"])).sum()


def test_without_factors_groups_are_compared():
    frame = probe_answers(9).drop(columns=["colour", "size"])
    table = paired_comparison(frame).to_frame()
    assert len(table) == 6
    assert set(table["factor"]) == {"group"}


@settings(max_examples=60, deadline=None)
@given(st.lists(st.integers(-6, 6).map(lambda k: k / 3), min_size=1, max_size=11))
def test_fast_sign_flips_count_all_signs(differences):
    assert sign_flip_p(np.array(differences)) == pytest.approx(oracles.sign_flip_p(differences), abs=1e-12)


@pytest.mark.parametrize("n", [2, 7, 20])
def test_sign_flips_are_the_exact_permutation_test_of_scipy(n):
    differences = np.random.default_rng(n).normal(0.4, 1, n)
    exact = (
        stats.permutation_test(
            (differences, np.zeros(n)),
            lambda a, b: np.sum(a - b),
            permutation_type="samples",
            n_resamples=np.inf,
        )
        if n < 20
        else None
    )
    if exact is not None:
        assert sign_flip_p(differences) == pytest.approx(exact.pvalue, abs=1e-12)
    signs = 1 - 2 * ((np.arange(2**n)[:, None] >> np.arange(n)) & 1).astype(np.int8)
    assert sign_flip_p(differences) == pytest.approx(
        np.mean(np.abs(signs @ differences) >= abs(differences.sum()) - 1e-9)
    )


def test_many_pairs_are_flipped_at_random_from_a_seed():
    differences = np.random.default_rng(1).normal(0.3, 1, 60)
    p = sign_flip_p(differences, permutations=20_000, seed=3)
    assert p == sign_flip_p(differences, permutations=20_000, seed=3)
    assert p == pytest.approx(stats.ttest_1samp(differences, 0).pvalue, abs=0.01)
    assert sign_flip_p(np.full(40, 0.1), permutations=999) == 1 / 1000


@pytest.mark.parametrize("n", [2, 3, 10, 20, 100, 400])
@pytest.mark.parametrize("level", [0.05, 0.002])
def test_detectable_effect_has_the_power_it_promises(n, level):
    if n > 3:
        expected = TTestPower().solve_power(nobs=n, alpha=level, power=0.8)
        assert detectable_effect(n, level=level) == pytest.approx(
            expected, rel=1e-5
        )  # as near as its solver goes
    effect, critical = detectable_effect(n, level=level), stats.t.isf(level / 2, n - 1)
    shift = effect * np.sqrt(n)
    power = stats.nct.sf(critical, n - 1, shift) + np.nan_to_num(stats.nct.cdf(-critical, n - 1, shift))
    assert power == pytest.approx(0.8, abs=1e-9)


@pytest.mark.parametrize("differences", [[0.3, 0.3000001], [1.0] * 9 + [0.9], list(np.linspace(-1, 1, 500))])
def test_extreme_differences_have_an_interval_or_none(differences):
    test = paired_test(np.array(differences))
    assert np.isfinite([test.t, test.p]).all()
    assert np.isnan(test.d_z_low) or test.d_z_low <= test.d_z <= test.d_z_high


@settings(max_examples=12, deadline=None)
@given(probe_tables())
def test_comparisons_keep_their_invariances(frame):
    table = paired_comparison(frame).to_frame()
    pd.testing.assert_frame_equal(table, paired_comparison(frame.sample(frac=1, random_state=1)).to_frame())
    turned = paired_comparison(
        frame.assign(outcome=frame["outcome"].replace({"plus": "minus", "minus": "plus"}))
    ).to_frame()
    for name, sign in (("difference", -1), ("t", -1), ("p", 1), ("p_permutation", 1), ("d_z", -1)):
        assert turned[name].fillna(9).tolist() == pytest.approx(
            (sign * table[name]).fillna(9).tolist(), abs=1e-9
        )
    twice = paired_comparison(pd.concat([frame, frame])).to_frame()
    assert twice["difference"].fillna(9).tolist() == pytest.approx(table["difference"].fillna(9).tolist())


def test_orders_differ_by_what_they_change():
    frame = probe_answers(10, models=("m1", "m2"), failed=0.2)
    table = condition_effects(frame).to_frame()
    for row in table.to_dict("records"):
        part = frame[frame["model"] == row["model"]]
        differences = oracles.paired_differences(
            part, "order", ("published", "reversed"), ("question", "group")
        )
        as_expected(row, list(differences.values()), 0.05 / 2)
        assert row["association"] == pytest.approx((row["mean_level"] + row["mean_other"]) / 2)


def test_wordings_are_cells_and_conditions():
    frames = [probe_answers(seed).assign(wording=f"w{seed}") for seed in (1, 2, 3)]
    table = condition_effects(pd.concat(frames), condition="wording").to_frame()
    assert table[["level", "other"]].to_numpy().tolist() == [["w1", "w2"], ["w1", "w3"], ["w2", "w3"]]
    assert table["family_size"].tolist() == [3] * 3
    assert condition_effects(frames[0], condition="wording").to_frame().empty


def test_the_first_option_is_counted_by_order_and_question():
    def row(question, order, outcome, scenario="s1"):
        return ("m", "status", scenario, question, "blue", "blue", "big", 0, order, outcome)

    frame = pd.DataFrame(
        [
            row("wealth", "published", "plus"),
            row("wealth", "reversed", "minus", "s2"),
            row("education", "published", "minus"),
            row("education", "reversed", "plus", "s2"),
            row("wealth", "published", "minus", "s2"),
            row("wealth", "sideways", "minus"),
            row("wealth", "published", "both"),
            row("wealth", "published", "failed"),
        ],
        columns=COLUMNS,
    )
    result = first_option_shares(frame)
    overall, status = result.rows()
    assert (overall["experiment"], status["experiment"]) == (None, "status")
    assert (overall["decided"], overall["first"], overall["share"]) == (5, 4, 0.8)
    assert result.dropped == {"failed": 1, "not_decided": 1, "order_unknown": 1}
    declared = first_option_shares(frame.assign(first="minus")).rows()[0]
    assert (declared["decided"], declared["first"]) == (6, 4)


@pytest.mark.parametrize("seed", range(2))
def test_models_are_compared_on_the_cells_both_answered(seed):
    frame = probe_answers(seed, models=("m1", "m2"), failed=0.3)
    table = model_differences(frame).to_frame()
    association, difference = table.to_dict("records")
    cell = ("question", "order", "group")
    as_expected(
        association, list(oracles.paired_differences(frame, "model", ("m1", "m2"), cell).values()), 0.025
    )
    double = oracles.double_differences(frame, "model", "colour", ("question", "order", "size"))
    as_expected(difference, list(double.values()), 0.025)
    assert difference["factor"] == "colour: blue − red"
    assert difference["value"] - difference["other_value"] == pytest.approx(difference["difference"])
