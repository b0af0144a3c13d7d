"""Strengths of ranked items against an independent package, a plain likelihood, and what is known of small tables."""

from itertools import combinations

import choix
import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import minimize

from analysis.metrics import preference_strengths, ranking_strengths

pytestmark = pytest.mark.database_free


def as_table(rankings: list[list[list[str]]], prompts: int = 9, annotators: int = 7) -> pd.DataFrame:
    """Each ranking is a list of places, best first, each with the items that share it."""
    return pd.DataFrame(
        [
            (number, item, place, number % prompts, number * 5 % annotators)
            for number, ranking in enumerate(rankings)
            for place, items in enumerate(ranking, 1)
            for item in items
        ],
        columns=["ranking", "item", "rank", "prompt", "annotator"],
    )


def drawn(
    strength: np.ndarray, delta: dict[int, float], *, number: int, size: int, seed: int
) -> list[list[list[str]]]:
    """Rankings of `size` randomly chosen items, place by place as the model says."""
    generator = np.random.default_rng(seed)
    rankings = []
    for _ in range(number):
        left = sorted(generator.choice(len(strength), size, replace=False).tolist())
        places = []
        while left:
            subsets = [
                subset for order in delta for subset in combinations(left, order) if order <= len(left)
            ]
            weights = np.array([delta[len(s)] * np.exp(strength[list(s)].mean()) for s in subsets])
            chosen = subsets[generator.choice(len(subsets), p=weights / weights.sum())]
            places.append([f"m{item}" for item in chosen])
            left = [item for item in left if item not in chosen]
        rankings.append(places)
    return rankings


def fitted_plainly(rankings: list[list[list[str]]]) -> tuple[dict[str, float], dict[int, float]]:
    """Fit the model by a general optimiser, over all subsets of the remaining items: slow and independent of ours."""
    items = sorted({item for ranking in rankings for place in ranking for item in place})
    orders = sorted({len(place) for ranking in rankings for place in ranking} - {1})

    def loss(parameters: np.ndarray) -> float:
        power = dict(zip(items, parameters, strict=False))
        delta = {1: 0.0} | dict(zip(orders, parameters[len(items) :], strict=True))
        total = 0.0
        for ranking in rankings:
            for position, place in enumerate(ranking):
                left = [item for later in ranking[position:] for item in later]
                weights = [
                    delta[order] + sum(power[item] for item in subset) / order
                    for order in delta
                    for subset in combinations(left, order)
                ]
                chosen = delta[len(place)] + sum(power[item] for item in place) / len(place)
                total -= chosen - np.logaddexp.reduce(weights)
        return total + parameters[: len(items)].sum() ** 2

    best = minimize(loss, np.zeros(len(items) + len(orders)), method="BFGS", options={"gtol": 1e-7})
    strengths = best.x[: len(items)] - best.x[: len(items)].mean()
    return dict(zip(items, strengths, strict=True)), {
        order: float(np.exp(value)) for order, value in zip(orders, best.x[len(items) :], strict=True)
    }


def strengths_of(result: pd.DataFrame) -> dict[str, float]:
    return dict(zip(result["item"], result["strength"], strict=True))


@settings(max_examples=20, deadline=None)
@given(items=st.integers(3, 8), size=st.integers(2, 6), seed=st.integers(0, 10_000))
def test_without_ties_strengths_are_those_of_choix(items, size, seed):
    strength = np.random.default_rng(seed).normal(0, 0.8, items)
    rankings = drawn(strength, {1: 1.0}, number=150, size=min(size, items), seed=seed)
    result = ranking_strengths(as_table(rankings))
    if result.table["strength"].isna().any():
        return
    coded = [[int(place[0][1:]) for place in ranking] for ranking in rankings]
    expected = choix.opt_rankings(items, coded, alpha=0, method="Newton-CG", tol=1e-12)
    expected = choix.ilsr_rankings(items, coded, alpha=0, initial_params=expected, tol=1e-12)
    assert result.table["strength"].to_numpy(dtype=float) == pytest.approx(
        expected - expected.mean(), abs=1e-6
    )
    assert result.notes["ties"] == {}
    assert result.notes["converged"]


@settings(max_examples=5, deadline=None)
@given(size=st.integers(3, 4), triple=st.floats(0.2, 0.6), seed=st.integers(0, 1000))
def test_with_ties_strengths_maximise_the_likelihood(size, triple, seed):
    strength = np.random.default_rng(seed).normal(0, 0.6, 5)
    rankings = drawn(strength, {1: 1.0, 2: 0.5, 3: triple}, number=60, size=size, seed=seed)
    result = ranking_strengths(as_table(rankings))
    if result.table["strength"].isna().any():
        return
    expected, ties = fitted_plainly(rankings)
    assert strengths_of(result.table) == pytest.approx(expected, abs=1e-4)
    assert result.notes["ties"] == pytest.approx(ties, rel=1e-3)


def test_rankings_of_two_are_comparisons_with_ties():
    rankings = drawn(np.array([0.8, 0.1, -0.9]), {1: 1.0, 2: 0.7}, number=200, size=2, seed=3)
    table = as_table(rankings)
    firsts = pd.DataFrame(
        {
            "first": [ranking[0][0] for ranking in rankings],
            "second": [ranking[-1][-1] for ranking in rankings],
            "answer": ["first" if len(ranking) == 2 else "tie" for ranking in rankings],
        }
    )
    owners = table.drop_duplicates("ranking")[["prompt", "annotator"]].reset_index(drop=True)
    ranked, compared = ranking_strengths(table), preference_strengths(firsts.join(owners))
    shared = ["item", "strength", "ci_low", "ci_high", "rank", "rank_low", "rank_high", "reason"]
    pd.testing.assert_frame_equal(ranked.table[shared], compared.table[shared], rtol=1e-7)
    pd.testing.assert_frame_equal(ranked.pairs, compared.pairs, rtol=1e-7)
    assert ranked.notes["ties"][2] == pytest.approx(compared.notes["tie"])


def test_pairs_within_rankings_are_counted():
    # a above b twice and level once; c below both in the first, absent from the others.
    table = as_table([[["a"], ["b"], ["c"]], [["a"], ["b"]], [["a", "b"]], [["b"], ["a"]]])
    result = ranking_strengths(table)
    pair = result.pairs.iloc[0]
    assert (pair["item"], pair["other"], pair["wins"], pair["losses"], pair["ties"]) == ("a", "b", 2, 1, 1)
    assert pair["share"] == 2.5 / 4
    assert result.table["rankings"].tolist() == [4, 4, 1]
    assert result.table["first"].tolist() == [3, 2, 0]
    assert set(result.table["reason"]) == {"no_finite_maximum"}, "c never won"


def test_items_never_ranked_with_the_others_have_no_strength():
    apart = [[["a"], ["b"]], [["b"], ["a"]], [["c"], ["d"]], [["d"], ["c"]]]
    result = ranking_strengths(as_table(apart))
    assert set(result.table["reason"]) == {"not_connected"}
    assert result.table["strength"].isna().all()


@pytest.mark.parametrize("ranking", [[["a"], ["b"], ["c"]], [["a", "b", "c"]]])
def test_rankings_that_are_all_the_same_have_no_finite_maximum(ranking):
    result = ranking_strengths(as_table([ranking] * 12))
    assert set(result.table["reason"]) == {"no_finite_maximum"}
    assert not result.notes["converged"]


def test_only_the_order_of_ranks_counts():
    rankings = drawn(np.array([0.5, 0.0, -0.3, 0.2]), {1: 1.0, 2: 0.4}, number=60, size=4, seed=1)
    table = as_table(rankings)
    pd.testing.assert_frame_equal(
        ranking_strengths(table).table, ranking_strengths(table.assign(rank=table["rank"] ** 3 - 7.5)).table
    )


def test_other_names_for_items_change_only_the_names():
    rankings = drawn(np.array([0.5, 0.0, -0.3, 0.2]), {1: 1.0, 2: 0.4}, number=60, size=4, seed=1)
    table = as_table(rankings)
    names = {"m0": "z", "m1": "y", "m2": "x", "m3": "w"}
    renamed = ranking_strengths(table.assign(item=table["item"].map(names))).table.sort_values("item")[::-1]
    expected = ranking_strengths(table).table
    columns = ["rankings", "first", "strength", "ci_low", "ci_high", "rank"]
    pd.testing.assert_frame_equal(renamed[columns].reset_index(drop=True), expected[columns], rtol=1e-6)


def test_a_ranking_of_a_single_item_is_left_out():
    table = as_table([[["a"], ["b"]], [["b"], ["a"]], [["a"]]])
    result = ranking_strengths(table)
    assert (result.used, result.dropped) == (2, {"single_item": 1})
    assert result.table["strength"].tolist() == pytest.approx([0, 0])


def test_intervals_separate_different_items():
    rankings = drawn(np.array([1.2, 0.0, 0.0, -1.0]), {1: 1.0, 2: 0.3}, number=300, size=4, seed=8)
    result = ranking_strengths(as_table(rankings, prompts=30, annotators=12))
    apart = {(row.item, row.other): row.distinct for row in result.pairs.itertuples()}
    assert [apart[pair] for pair in (("m0", "m1"), ("m2", "m3"), ("m1", "m2"))] == [True, True, False]
    best = result.table.set_index("item").loc["m0"]
    assert (best["rank_low"], best["rank_high"]) == (1, 1)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"rank": "best"}, "column 'rank' must contain numbers, got 'best'"),
        ({"item": "a"}, "item 'a' occurs twice in a ranking"),
        ({"ranking": 0, "item": list("abcd")}, "'0' has more than one prompt or annotator"),
        ({"prompt": None}, "column 'prompt' is empty"),
    ],
)
def test_wrong_rows_are_refused(changes, message):
    table = as_table([[["a"], ["b"]], [["b"], ["a"]]])
    with pytest.raises(ValueError, match=message):
        ranking_strengths(table.assign(**changes))


def test_rankings_of_more_items_than_allowed_are_refused():
    with pytest.raises(ValueError, match="'0' ranks 11 items, at most 10 are allowed"):
        ranking_strengths(as_table([[[f"m{i}"] for i in range(11)]]))
