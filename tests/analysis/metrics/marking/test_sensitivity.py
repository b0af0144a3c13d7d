"""θ and the ranking of groups, with the same answers counted differently."""

from statistics import mean, median

import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from analysis.metrics import annotator_ids_usable, sensitivity, tendency
from tests.analysis.metrics import oracles
from tests.analysis.metrics.tables import ROLES, judgement_tables, judgements, role_tables


def rows_of(frame: pd.DataFrame, **options) -> dict[tuple[str, str], dict[str, dict]]:
    """(scenario, scenario_value) → statistic → row."""
    found: dict = {}
    for row in sensitivity(frame, ROLES, min_stereotypes=0, **options).rows():
        found.setdefault((row["scenario"], row["scenario_value"]), {})[row["statistic"]] = row
    return found


# Aru: hat and drum are stereotypes, boat is random; one image, annotators p, q, r.
#             hat  drum  boat
#     p        1    1     0
#     q        1    0     0
#     r        0    0     1
# Bel: boat and kite are stereotypes, hat is random; one image.
#     p        kite 1, boat 0, hat 1;  q  0 0 1;  r  0 0 0
ARU = [("p", 1, 1, 0), ("q", 1, 0, 0), ("r", 0, 0, 1)]
BEL = [("p", 1, 0, 1), ("q", 0, 0, 1), ("r", 0, 0, 0)]
SMALL = judgements(
    *[("i", "Aru", a, who, y) for who, *ys in ARU for a, y in zip(("hat", "drum", "boat"), ys, strict=True)],
    *[("j", "Bel", a, who, y) for who, *ys in BEL for a, y in zip(("kite", "boat", "hat"), ys, strict=True)],
)


def test_each_scenario_by_hand() -> None:
    groups = pd.DataFrame({"field": "side", "group": ["a", "a", "b"], "annotator": ["p", "q", "r"]})
    rows = rows_of(SMALL, flagged=["r"], annotator_groups=groups)
    # Baseline: Aru (2/3 + 1/3)/2 = 1/2 over 1/3; Bel (1/3 + 0)/2 = 1/6 over 2/3. Pooled (1/2 + 1/6)/(1/3 + 2/3) = 2/3.
    base = rows["baseline", ""]
    assert base["pooled"]["value"] == pytest.approx(2 / 3)
    # θ = 3/2 and 1/4, mean 7/8
    assert base["mean"]["value"] == pytest.approx(7 / 8)
    assert (base["pooled"]["judgements"], base["pooled"]["annotators"]) == (18, 3)
    # Majority of three: Aru hat 1, drum 0, boat 0: L 1/2 over 0; Bel kite 0, boat 0, hat 1: 0 over 1. Pooled 1/2.
    assert rows["majority", ""]["pooled"]["value"] == pytest.approx(1 / 2)
    # Without r: Aru hat 1, drum 1/2, boat 0; Bel kite 1/2, boat 0, hat 1. (3/4 + 1/4)/(0 + 1) = 1.
    without = rows["without_flagged", ""]["pooled"]
    assert without["value"] == pytest.approx(1)
    assert without["difference"] == pytest.approx(1 - 2 / 3)
    assert (without["judgements"], without["judgements_left_out"], without["annotators"]) == (12, 6, 2)
    assert rows["annotator_group", "side: a"]["pooled"]["value"] == pytest.approx(1)
    # r alone: stereotypes never, boat of Aru always: 0/1 = 0.
    assert rows["annotator_group", "side: b"]["pooled"]["value"] == 0
    # Aru: 0 over 1; Bel: 0 over 0. ε = ½: (0 + ½)/(1 + ½) = 1/3 and 1. The order turns: τ = −1, Aru falls by one.
    alone = rows["annotator_group", "side: b"]["mean"]
    assert (alone["kendall_tau"], alone["largest_rank_change"]) == (-1, 1)
    assert alone["largest_rank_change_group"] == "Aru"
    none = rows["none_of_the_above", "as_random"]["pooled"]
    assert (none["value"], none["reason"]) == (None, "none_of_the_above_not_asked")


def test_a_tied_unit_has_no_majority_and_is_counted() -> None:
    rows = rows_of(SMALL[SMALL["annotator"] != "r"])
    # p and q differ on drum of Aru and kite of Bel; left: hat 1, boat 0 of Aru; boat 0, hat 1 of Bel.
    majority = rows["majority", ""]["pooled"]
    assert majority["value"] == pytest.approx(1 / 1)
    assert (majority["judgements"], majority["judgements_left_out"]) == (8, 4)


def test_the_other_treatment_of_none_of_the_above_equals_tendency() -> None:
    asked = SMALL.drop_duplicates(["image", "annotator"]).assign(present=[0, 0, 1, 1, 0, 0])
    for mode, other in (("ignore", "as_random"), ("as_random", "ignore")):
        row = rows_of(SMALL, none_rows=asked, none_of_the_above=mode)["none_of_the_above", other]["pooled"]
        overall = tendency(
            SMALL, ROLES, none_rows=asked, none_of_the_above=other, min_stereotypes=0, resamples=10
        ).overall
        assert row["value"] == pytest.approx(overall.loc[overall["statistic"] == "pooled", "theta"].item())
        assert row["judgements"] == (18 + 6 if other == "as_random" else 18)


def test_a_relation_to_the_depicted_counts_for_that_group_only() -> None:
    relation = pd.DataFrame(
        {
            "field": "relation",
            "group": "in_group",
            "annotator": ["p", "q"],
            "identity_group": ["Aru", "Bel"],
        }
    )
    row = rows_of(SMALL, annotator_groups=relation)["annotator_group", "relation: in_group"]["pooled"]
    # p of Aru: (1 + 1)/2 over 0; q of Bel: (0 + 0)/2 over 1. Pooled 1.
    assert row["value"] == pytest.approx(1)
    assert row["judgements"] == 6


def test_ids_that_are_not_people_have_no_scenarios_about_people() -> None:
    groups = pd.DataFrame({"field": "side", "group": "a", "annotator": ["p", "q"]})
    rows = rows_of(pd.concat([SMALL, SMALL]), flagged=["p"], annotator_groups=groups)
    for scenario in (("without_flagged", ""), ("annotator_group", "side: a")):
        assert {(r["value"], r["reason"]) for r in rows[scenario].values()} == {
            (None, "annotator_ids_unusable")
        }
    assert rows["majority", ""]["pooled"]["value"] is not None


def test_one_group_cannot_be_ranked() -> None:
    row = rows_of(SMALL[SMALL["identity_group"] == "Aru"])["baseline", ""]["pooled"]
    assert (row["value"], row["kendall_tau"], row["reason"]) == (pytest.approx(3 / 2), None, "too_few_groups")


def counted(frame: pd.DataFrame, scenario: str) -> pd.DataFrame:
    """The answers of a scenario as a table of its own, row by row."""
    if scenario == "without_flagged":
        return frame[frame["annotator"] != "p"]
    if scenario == "annotator_group":
        return frame[frame["annotator"].isin(["q", "r"])]
    if scenario == "majority":
        rows = []
        for (model, group, image, attribute), answers in oracles.units(frame).items():
            if 2 * sum(answers) != len(answers):
                rows.append((image, group, attribute, "all", int(2 * sum(answers) > len(answers)), model))
        return pd.DataFrame(rows, columns=[*frame.columns])
    return frame


def smoothed(frame: pd.DataFrame, roles: pd.DataFrame, least: int) -> dict[tuple[str, str], float]:
    """(model, group) → θ_smoothed of the groups that the tendency table lists, from its definition."""
    counts = oracles.cell_counts(frame)
    epsilon = {
        model: 0.5 / median(shown for (m, _, _), (shown, _) in counts.items() if m == model)
        for model, _, _ in counts
    }
    listed = oracles.stereotypes(roles)
    found = {}
    for (model, group), (stereo, random) in oracles.role_means(counts, roles).items():
        number = sum((m, g) == (model, group) and (g, a) in listed for m, g, a in counts)
        if stereo is not None and random is not None and number >= least:
            found[model, group] = (stereo + epsilon[model]) / (random + epsilon[model])
    return found


@settings(max_examples=60, deadline=None)
@given(judgement_tables(people=True, models=True), role_tables(), st.integers(0, 2))
def test_scenarios_equal_counting_their_answers_one_by_one(
    frame: pd.DataFrame, roles: pd.DataFrame, least: int
) -> None:
    groups = pd.DataFrame({"field": "side", "group": "a", "annotator": ["q", "r"]})
    result = sensitivity(frame, roles, min_stereotypes=least, flagged=["p"], annotator_groups=groups)
    usable = bool(annotator_ids_usable(frame))
    base = smoothed(frame, roles, least)
    ranked = {(r["model"], r["scenario"], r["identity_group"]): r for r in result.ranks.to_dict("records")}
    for row in result.rows():
        if row["reason"] in ("annotator_ids_unusable", "none_of_the_above_not_asked"):
            assert row["scenario"] == "none_of_the_above" or not usable
            continue
        model, scenario = row["model"], row["scenario"]
        own = counted(frame, scenario)
        means = oracles.role_means(oracles.cell_counts(own), roles)
        mine = {g: m for (name, g), m in means.items() if name == model}
        both = [m for m in mine.values() if None not in m]
        stereo, random = sum(m[0] for m in both), sum(m[1] for m in both)
        table = smoothed(own, roles, least)
        listed = {group for name, group in table if name == model}
        thetas = [mine[g][0] / mine[g][1] for g in listed if mine[g][1]]
        expected = {
            "pooled": stereo / random if random else None,
            "mean": mean(thetas) if thetas else None,
            "median": median(thetas) if thetas else None,
        }[row["statistic"]]
        assert row["value"] == (None if expected is None else pytest.approx(expected))
        assert row["groups"] == (len(both) if row["statistic"] == "pooled" else len(thetas))
        shared = sorted(g for g in listed if (model, g) in base)
        now, then = ([round(t[model, g], 12) for g in shared] for t in (table, base))
        tau = oracles.kendall_tau_b(now, then)
        assert row["kendall_tau"] == (None if tau is None else pytest.approx(tau))
        places = [1 + sum(other > value for other in now) for value in now]
        before = [1 + sum(other > value for other in then) for value in then]
        for group, place, old in zip(shared, places, before, strict=True):
            held = ranked[model, scenario, group]
            assert (held["rank"], held["baseline_rank"]) == (place, old)
        if len(shared) > 1:
            moved = [a - b for a, b in zip(places, before, strict=True)]
            assert abs(row["largest_rank_change"]) == max(map(abs, moved))
