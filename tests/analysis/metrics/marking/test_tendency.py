"""θ(g)."""

import math

import pandas as pd
import pytest
from hypothesis import given, settings

from analysis.metrics import pigeonhole_bootstrap, tendency
from tests.analysis.metrics import oracles
from tests.analysis.metrics.tables import ROLES, judgement_tables, judgements, marks, role_tables


def aru(hat: int, drum: int, boat: int, *, shown: int = 12) -> list[tuple]:
    return [
        *marks("Aru", "hat", shown, hat),
        *marks("Aru", "drum", shown, drum),
        *marks("Aru", "boat", shown, boat),
    ]


def test_theta_is_the_ratio_of_unweighted_means() -> None:
    # L(stereo) = (6/12 + 3/12)/2 = 0.375; L(random) = 2/12; θ = 0.375 · 6 = 2.25.
    # Median n is 12, so ε = 1/24: (0.375 + 1/24)/(2/12 + 1/24) = (10/24)/(5/24) = 2.
    row = tendency(judgements(*aru(6, 3, 2)), ROLES, resamples=100).rows()[0]
    assert row["theta"] == pytest.approx(2.25)
    assert row["theta_smoothed"] == pytest.approx(2)
    assert (row["stereotypes"], row["random_attributes"]) == (2, 1)


@settings(max_examples=40, deadline=None)
@given(judgement_tables(models=True), role_tables())
def test_intervals_of_both_means_equal_weighing_judgements_one_by_one(
    frame: pd.DataFrame, roles: pd.DataFrame
) -> None:
    shared = pigeonhole_bootstrap(frame, resamples=40, seed=4)
    data = shared.judgements
    images = [(data.group_names[g], name) for g, name in zip(data.image_group, data.image_names, strict=True)]
    draws = []
    for number in range(40):
        drawn = dict(zip(images, shared.image_weights[:, number], strict=True))
        people = None
        if shared.annotators_resampled:
            people = dict(zip(data.annotator_names, shared.annotator_weights[:, number], strict=True))
        draws.append(oracles.role_means(oracles.cell_counts(frame, drawn, people), roles))
    result = tendency(frame, roles, min_stereotypes=1, resampling=shared)
    rows = [*result.rows(), *result.excluded.to_dict("records")]
    assert rows
    for row in rows:
        for role, name in enumerate(("likelihood_stereotype", "likelihood_random")):
            low, high = row[f"{name}_low"], row[f"{name}_high"]
            pairs = [draw.get((row["model"], row["identity_group"])) for draw in draws]
            values = [pair[role] for pair in pairs if pair is not None and pair[role] is not None]
            if pd.isna(low):
                assert pd.isna(high)
                continue
            assert low == pytest.approx(oracles.quantile(values, 0.025), abs=1e-6)
            assert high == pytest.approx(oracles.quantile(values, 0.975), abs=1e-6)


def test_a_mean_without_marks_has_no_interval_and_the_other_keeps_its_own() -> None:
    # Each of twelve images is judged once; nobody marks the boat: every resample has L(random) = 0.
    row = tendency(judgements(*aru(6, 3, 0)), ROLES, resamples=200).rows()[0]
    assert (row["likelihood_random"], row["likelihood_random_low"], row["likelihood_random_high"]) == (
        0,
        None,
        None,
    )
    assert row["theta"] is None
    assert row["likelihood_stereotype_low"] < row["likelihood_stereotype"] < row["likelihood_stereotype_high"]


def test_epsilon_is_half_over_the_median_number_shown() -> None:
    # Cells shown 12, 12, 3 times: ε = 0.5/12 (their mean would be 9).
    frame = judgements(*marks("Aru", "hat", 12, 6), *marks("Aru", "drum", 12, 3), *marks("Aru", "boat", 3, 1))
    assert tendency(frame, ROLES, resamples=20).notes["epsilon"] == {"": pytest.approx(0.5 / 12)}


@pytest.mark.parametrize(
    ("hat", "boat", "theta", "reason"),
    [(5, 0, None, "only_stereotypes"), (0, 0, None, "none_marked"), (0, 4, 0.0, "zero_width")],
)
def test_theta_with_nothing_marked_somewhere(hat: int, boat: int, theta: float | None, reason: str) -> None:
    row = tendency(judgements(*aru(hat, 0, boat)), ROLES, resamples=100).rows()[0]
    assert (row["theta"], row["reason"]) == (theta, reason)
    assert row["theta_smoothed"] is not None
    assert row["theta_low"] is None
    assert row["theta_high"] is None


def test_group_without_random_attribute_is_not_shown_and_has_no_smoothed_theta() -> None:
    frame = judgements(*marks("Aru", "hat", 6, 2), *marks("Aru", "drum", 6, 1))
    row = tendency(frame, ROLES, resamples=50).rows()[0]
    assert (row["theta"], row["theta_smoothed"], row["reason"]) == (None, None, "not_shown")


def test_upper_end_on_infinity_is_null_and_unbounded() -> None:
    # The only marked boat is in one of three images: (2/3)³ = 30 % of resamples have L(random) = 0.
    frame = judgements(
        *[
            (f"i{i}", "Aru", a, f"s{i}{j}", int((i + j) % 2))
            for i in range(3)
            for j in range(4)
            for a in ("hat", "drum")
        ],
        *[(f"i{i}", "Aru", "boat", f"s{i}{j}", int(i == 0 and j == 0)) for i in range(3) for j in range(4)],
    )
    row = tendency(frame, ROLES, resamples=400).rows()[0]
    assert row["theta"] == pytest.approx(6)  # (24/48)/(1/12)
    assert row["theta_low"] is not None
    assert (row["theta_high"], row["reason"]) == (None, "unbounded")


def test_none_of_the_above_as_random_is_one_more_random_attribute() -> None:
    # 'None' was ticked in 6 of 12 screens: L(random) = (2/12 + 6/12)/2 = 1/3, θ = 0.375 · 3 = 1.125.
    none = judgements(*marks("Aru", "-", 12, 6)).drop(columns="attribute")
    frame = judgements(*aru(6, 3, 2))
    result = tendency(frame, ROLES, none_of_the_above="as_random", none_rows=none, resamples=50)
    assert result.rows()[0]["theta"] == pytest.approx(1.125)
    assert result.rows()[0]["random_attributes"] == 2
    ignored = tendency(frame, ROLES, none_rows=none, resamples=50)
    assert ignored.rows()[0]["theta"] == pytest.approx(2.25)
    assert ignored.dropped["none_of_the_above"] == 12


def test_none_as_random_without_its_rows_is_refused() -> None:
    with pytest.raises(ValueError, match="none_rows: "):
        tendency(judgements(*aru(1, 1, 1)), ROLES, none_of_the_above="as_random")


def test_group_with_one_stereotype_is_listed_apart_but_pooled() -> None:
    # Aru: L = 0.375 against 2/12. Bel: boat (its stereotype) 6/12 against hat 3/12.
    # Pooled over both: (0.375 + 0.5)/(2/12 + 0.25) = 2.1; over the table's group alone: 2.25.
    frame = judgements(*aru(6, 3, 2), *marks("Bel", "boat", 12, 6), *marks("Bel", "hat", 12, 3))
    result = tendency(frame, ROLES, resamples=50)
    assert [r["identity_group"] for r in result.rows()] == ["Aru"]
    assert result.excluded[["identity_group", "stereotypes"]].values.tolist() == [["Bel", 1]]
    overall = result.overall.set_index("statistic")
    assert overall.loc["pooled", "theta"] == pytest.approx(2.1)
    assert overall.loc["pooled_listed", "theta"] == pytest.approx(2.25)
    assert overall["groups"].to_dict() == {"pooled": 2, "pooled_listed": 1, "mean": 1, "median": 1}


def test_pooled_ratio_includes_groups_whose_theta_is_undefined() -> None:
    # Bel has no marked random attribute: its θ is null, but (0.375 + 0.5)/(2/12 + 0) = 5.25 over both.
    frame = judgements(
        *aru(6, 3, 2), *marks("Bel", "boat", 12, 6), *marks("Bel", "kite", 12, 6), *marks("Bel", "hat", 12, 0)
    )
    overall = tendency(frame, ROLES, resamples=50).overall.set_index("statistic")
    assert overall.loc["pooled", "theta"] == pytest.approx(5.25)
    assert overall.loc["mean", "theta"] == pytest.approx(2.25)
    assert overall["groups"].to_dict() == {"pooled": 2, "pooled_listed": 2, "mean": 1, "median": 1}


@settings(max_examples=60, deadline=None)
@given(judgement_tables(models=True), role_tables())
def test_theta_equals_the_definition_by_hand(frame: pd.DataFrame, roles: pd.DataFrame) -> None:
    means = oracles.role_means(oracles.cell_counts(frame), roles)
    result = tendency(frame, roles, min_stereotypes=0, resamples=20)
    assert len(result.rows()) == len(means)
    for row in result.rows():
        stereo, random = means[(row["model"], row["identity_group"])]
        theta, reason = oracles.theta(stereo, random)
        assert row["theta"] == (None if theta is None else pytest.approx(theta, rel=1e-12))
        assert reason is None or row["reason"] == reason
    for row in result.overall[result.overall["statistic"] == "pooled"].to_dict("records"):
        both = [m for (model, _), m in means.items() if model == row["model"] and None not in m]
        theta, _ = oracles.theta(sum(s for s, _ in both), sum(r for _, r in both)) if both else (None, None)
        assert row["groups"] == len(both)
        assert (None if pd.isna(row["theta"]) else row["theta"]) == (
            None if theta is None else pytest.approx(theta)
        )


@settings(max_examples=20, deadline=None)
@given(judgement_tables(people=True), role_tables())
def test_theta_and_pooled_intervals_equal_resamples_taken_one_by_one(
    frame: pd.DataFrame, roles: pd.DataFrame
) -> None:
    shared = pigeonhole_bootstrap(frame, resamples=60, seed=1)
    data = shared.judgements
    images = [(data.group_names[g], name) for g, name in zip(data.image_group, data.image_names, strict=True)]
    draws: dict[str, list[float | None]] = {}
    dropped: dict[str, int] = {}
    point = oracles.role_means(oracles.cell_counts(frame), roles)
    pooled: list[float] = []
    lost = 0
    for b in range(60):
        annotators = (
            dict(zip(data.annotator_names, map(float, shared.annotator_weights[:, b]), strict=True))
            if shared.annotators_resampled
            else None
        )
        counts = oracles.cell_counts(
            frame, dict(zip(images, map(float, shared.image_weights[:, b]), strict=True)), annotators
        )
        for group in {g for _, g, _ in counts}:
            dropped[group] = dropped.get(group, 0) + any(
                n == 0 for (_, g, _), (n, _) in counts.items() if g == group
            )
        means = oracles.role_means(counts, roles)
        sums = [0.0, 0.0]
        gone = False
        for (_, group), (stereo, random) in means.items():
            if stereo is None or random is None or stereo == random == 0:
                draws.setdefault(group, []).append(None)
            else:
                draws.setdefault(group, []).append(math.inf if random == 0 else stereo / random)
            if None not in point[("", group)]:
                if stereo is None or random is None:
                    gone = True
                else:
                    sums[0] += stereo
                    sums[1] += random
        lost += gone
        if sums != [0.0, 0.0]:
            pooled.append(math.inf if sums[1] == 0 else sums[0] / sums[1])
    result = tendency(frame, roles, min_stereotypes=0, resampling=shared)
    for row in result.rows():
        values = draws[row["identity_group"]]
        kept = [v for v in values if v is not None]
        if row["theta"] is None:
            assert row["theta_low"] is None
            assert row["theta_high"] is None
            continue
        assert row["resamples_undefined"] == len(values) - len(kept)
        _check_interval(row, kept, dropped[row["identity_group"]] / 60)
    row = result.overall[result.overall["statistic"] == "pooled"].iloc[0]
    if pd.notna(row["theta"]):
        plain = {k: None if pd.isna(v) else v for k, v in row.items()}
        _check_interval(plain, pooled, lost / 60)


def _check_interval(row: dict, kept: list[float], sparse: float) -> None:
    if sparse > 0.05:
        assert (row["theta_low"], row["theta_high"], row["reason"]) == (None, None, "too_sparse")
        return
    low, high = oracles.quantile(kept, 0.025), oracles.quantile(kept, 0.975)
    if math.isclose(low, high, rel_tol=1e-9, abs_tol=1e-9):
        assert row["reason"] in ("zero_width", None, "unbounded")
        return
    assert row["theta_low"] == pytest.approx(low, rel=1e-5)
    assert row["theta_high"] == (None if math.isinf(high) else pytest.approx(high, rel=1e-5))
    assert (row["reason"] == "unbounded") == math.isinf(high)
