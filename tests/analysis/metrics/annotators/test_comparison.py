"""Groups of annotators."""

import numpy as np
import pandas as pd
import pytest

from analysis.metrics import compare_annotator_groups, krippendorff_alpha
from tests.analysis.metrics import oracles
from tests.analysis.metrics.tables import ROLES, judgements


def study(
    north: float, south: float, *, people: int = 16, seed: int = 0
) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Annotators of the north mark stereotypes with one chance, those of the south with another."""
    generator = np.random.default_rng(seed)
    names = [f"p{i:02}" for i in range(people)]
    rows = []
    for i in range(10):
        for attribute in ("hat", "drum", "boat"):
            for who in generator.choice(people, 4, replace=False):
                chance = 0.2 if attribute == "boat" else (north if who % 2 == 0 else south)
                rows.append((f"i{i}", "Aru", attribute, names[who], int(generator.random() < chance)))
    groups = pd.DataFrame({"annotator": names, "group": ["north", "south"] * (people // 2)})
    return judgements(*rows), groups


def by_measure(result) -> dict[str, dict]:
    return {r["measure"]: r for r in result.rows()}


def test_values_are_those_of_each_group_alone() -> None:
    frame, groups = study(0.7, 0.3)
    rows = by_measure(compare_annotator_groups(frame, ROLES, groups, resamples=50, permutations=50))
    merged = frame.merge(groups, on="annotator")
    for side, name in (("a", "north"), ("b", "south")):
        means = oracles.role_means(oracles.cell_counts(merged[merged["group"] == name]), ROLES)[("", "Aru")]
        assert rows["likelihood_stereotype"][f"value_{side}"] == pytest.approx(means[0])
        assert rows["theta"][f"value_{side}"] == pytest.approx(means[0] / means[1])


def test_a_planted_difference_is_found_where_it_was_planted() -> None:
    frame, groups = study(0.8, 0.2)
    rows = by_measure(compare_annotator_groups(frame, ROLES, groups, resamples=100))
    assert rows["likelihood_stereotype"]["p_adjusted"] < 0.01
    assert rows["likelihood_random"]["p_adjusted"] > 0.1


def test_p_equals_a_permutation_test_over_every_relabelling() -> None:
    # 6 annotators, 3 a group: 20 relabellings; with many random ones p comes near their exact share.
    frame, groups = study(0.8, 0.2, people=6)
    people = sorted(frame["annotator"].unique())

    def difference(north: set[str]) -> float:
        means = [
            oracles.role_means(oracles.cell_counts(frame[frame["annotator"].isin(north) == side]), ROLES)[
                ("", "Aru")
            ][0]
            for side in (True, False)
        ]
        return means[0] - means[1]

    from itertools import combinations

    observed = difference({"p00", "p02", "p04"})
    every = [difference(set(some)) for some in combinations(people, 3)]
    exact = np.mean([abs(d) >= abs(observed) - 1e-12 for d in every])
    result = compare_annotator_groups(frame, ROLES, groups, resamples=20, permutations=4_000, adjust="max_t")
    assert by_measure(result)["likelihood_stereotype"]["p"] == pytest.approx(exact, abs=0.03)


def test_permutation_p_is_uniform_enough_without_a_difference() -> None:
    small = 0
    for seed in range(40):
        frame, groups = study(0.4, 0.4, seed=seed)
        result = compare_annotator_groups(frame, ROLES, groups, resamples=1, permutations=99, adjust="max_t")
        small += by_measure(result)["likelihood_stereotype"]["p"] <= 0.1
    # Binomial(40, 0.1): 11 or more has a chance of 0.2 %.
    assert small < 11


def test_family_is_declared_and_permutations_suffice_for_it() -> None:
    frame, groups = study(0.6, 0.4)
    result = compare_annotator_groups(frame, ROLES, groups, resamples=20, permutations=10)
    assert result.notes["family"] == 3
    assert result.notes["permutations"] == 1_200  # 20·3/0.05
    adjusted = [r["p_adjusted"] for r in result.rows()]
    assert all(r["p_adjusted"] >= r["p"] for r in result.rows())
    assert max(adjusted) <= 1


def test_too_few_annotators_for_the_level_is_null() -> None:
    # 4 annotators in two pairs: 6 relabellings; 0.05/3 would need 60.
    frame, groups = study(0.9, 0.1, people=4)
    rows = compare_annotator_groups(frame, ROLES, groups, resamples=20).rows()
    assert {(r["p"], r["reason"]) for r in rows} == {(None, "too_few_annotators")}
    assert all(r["difference"] is not None for r in rows)


def test_ids_that_are_not_people_leave_nothing_to_compare() -> None:
    frame, groups = study(0.6, 0.4)
    rows = compare_annotator_groups(pd.concat([frame, frame]), ROLES, groups, resamples=20).rows()
    assert {(r["difference"], r["p"], r["reason"]) for r in rows} == {(None, None, "annotator_ids_unusable")}


def test_annotators_without_a_group_are_left_out_and_counted() -> None:
    frame, groups = study(0.6, 0.4)
    gone = int((frame["annotator"] == "p15").sum())
    result = compare_annotator_groups(frame, ROLES, groups[:-1], resamples=20, permutations=20)
    assert result.dropped == {"annotator_without_group": gone}
    assert result.used == len(frame) - gone


def test_agreement_within_and_across_groups() -> None:
    frame, groups = study(0.6, 0.4)
    merged = frame.merge(groups, on="annotator")
    table = compare_annotator_groups(frame, ROLES, groups, resamples=20, permutations=20).agreement
    within = table[table["measure"] == "krippendorff_alpha_nominal"].set_index("group_a")["value"]
    for name in ("north", "south"):
        alone = krippendorff_alpha(merged[merged["group"] == name], resamples=0).rows()[0]["value"]
        assert within[name] == pytest.approx(alone)
    shares = []
    for _, unit in merged.groupby(["image", "attribute"]):
        north, south = (unit.loc[unit["group"] == n, "present"].tolist() for n in ("north", "south"))
        if north and south:
            shares.append(np.mean([a == b for a in north for b in south]))
    across = table[table["measure"] == "cross_group_agreement"]
    assert across["value"].item() == pytest.approx(np.mean(shares))
    assert across["units"].item() == len(shares)


def test_in_group_depends_on_who_is_depicted() -> None:
    frame, groups = study(0.6, 0.4)
    profiles = groups.assign(
        nationality=groups["group"].map({"north": "Aru", "south": "Cir"}), region="isles"
    )
    profiles.loc[profiles["annotator"] == "p01", "region"] = "coast"
    depicted = pd.DataFrame({"identity_group": ["Aru"], "nationality": ["Aru"], "region": ["isles"]})
    result = compare_annotator_groups(
        frame, ROLES, profiles.drop(columns="group"), identity_groups=depicted, resamples=20, permutations=50
    )
    pairs = {(r["group_a"], r["group_b"]) for r in result.rows()}
    assert pairs == {("in_group", "out_group"), ("in_group", "same_region"), ("out_group", "same_region")}
    north = frame.merge(groups, on="annotator").query("group == 'north'")
    stereo = oracles.role_means(oracles.cell_counts(north), ROLES)[("", "Aru")][0]
    assert by_measure(result)["likelihood_stereotype"]["value_a"] is not None
    first = next(
        r for r in result.rows() if r["group_b"] == "same_region" and r["measure"] == "likelihood_stereotype"
    )
    assert (first["group_a"], first["value_a"]) == ("in_group", pytest.approx(stereo)) or first[
        "group_a"
    ] == "out_group"


def test_annotator_in_two_groups_is_refused() -> None:
    frame, groups = study(0.6, 0.4)
    with pytest.raises(ValueError, match="annotator_groups: annotator 'p00' is in more than one group"):
        compare_annotator_groups(
            frame, ROLES, pd.concat([groups, pd.DataFrame({"annotator": ["p00"], "group": ["south"]})])
        )


def test_both_scopes_at_once_are_the_two_apart() -> None:
    frame, groups = study(0.7, 0.3)
    frame = pd.concat([frame, frame.assign(identity_group="Bel", image="b" + frame["image"])])
    options = {"resamples": 40, "permutations": 60, "adjust": "max_t"}
    both = compare_annotator_groups(frame, ROLES, groups, by="both", **options)
    apart = [
        compare_annotator_groups(frame, ROLES, groups, by=by, **options) for by in ("all", "identity_group")
    ]
    pd.testing.assert_frame_equal(both.table, pd.concat([one.table for one in apart], ignore_index=True))
    assert both.notes["family"] == {"all": 3, "identity_group": apart[1].notes["family"]}


def test_unknown_relations_are_left_out() -> None:
    frame, _ = study(0.6, 0.4, people=4)
    # p00 Aru; p01 gave no nationality; p02 a foreigner without region; p03 a foreigner of the same region.
    profiles = pd.DataFrame(
        {
            "annotator": ["p00", "p01", "p02", "p03"],
            "nationality": ["aru", None, "cir", "cir"],
            "region": [None, "isles", None, "isles"],
        }
    )
    depicted = pd.DataFrame(
        {"identity_group": ["Aru", "Aru"], "nationality": ["aru", "aruland"], "region": "isles"}
    )
    result = compare_annotator_groups(
        frame, ROLES, profiles, identity_groups=depicted, resamples=20, permutations=20
    )
    assert {(r["group_a"], r["group_b"]) for r in result.rows()} == {("in_group", "same_region")}
    assert result.used == int(frame["annotator"].isin(["p00", "p03"]).sum())
