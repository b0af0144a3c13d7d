"""Kendall's W against its definition, the mean of Spearman's correlations, and small tables by hand."""

from collections.abc import Sequence
from itertools import combinations
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import friedmanchisquare, rankdata, spearmanr

from analysis.metrics import kendall_w
from tests.analysis.metrics.agreement.jackknife_oracle import interval

pytestmark = pytest.mark.database_free


def as_table(ranks: np.ndarray, prompt: str = "p", annotators: list[int] | None = None) -> pd.DataFrame:
    """Of one prompt: ranks (annotators × items)."""
    people = annotators or list(range(len(ranks)))
    return pd.DataFrame(
        [
            (f"{prompt}-{row}", f"i{item}", rank, prompt, people[row])
            for row, ranking in enumerate(ranks)
            for item, rank in enumerate(ranking)
        ],
        columns=["ranking", "item", "rank", "prompt", "annotator"],
    )


def values(table: pd.DataFrame) -> dict[str, float]:
    result = kendall_w(table).table
    return dict(zip(result["measure"], result["value"], strict=True))


def by_definition(ranks: np.ndarray) -> float:
    annotators, items = ranks.shape
    middle_ranks = np.array([rankdata(row) for row in ranks])
    sums = middle_ranks.sum(axis=0)
    ties = sum((count**3 - count) for row in ranks for count in np.unique(row, return_counts=True)[1])
    spread = ((sums - sums.mean()) ** 2).sum()
    return 12 * spread / (annotators**2 * (items**3 - items) - annotators * ties)


@settings(max_examples=40, deadline=None)
@given(annotators=st.integers(2, 6), items=st.integers(2, 6), ties=st.booleans(), seed=st.integers(0, 9999))
def test_w_is_as_defined(annotators, items, ties, seed):
    generator = np.random.default_rng(seed)
    if ties:
        ranks = generator.integers(0, items, (annotators, items))
    else:
        ranks = np.array([generator.permutation(items) for _ in range(annotators)])
    if (ranks == ranks[:, :1]).all():
        assert kendall_w(as_table(ranks)).table["reason"].tolist() == ["no_order"] * 2
        return
    measured = values(as_table(ranks))
    assert measured["kendall_w"] == pytest.approx(by_definition(ranks), abs=1e-12)
    identity = ((annotators - 1) * measured["mean_spearman"] + 1) / annotators
    assert measured["kendall_w"] == pytest.approx(identity, abs=1e-12)
    if not ties:
        pairs = [spearmanr(a, b).statistic for a, b in combinations(ranks, 2)]
        assert measured["mean_spearman"] == pytest.approx(np.mean(pairs), abs=1e-12)


@settings(max_examples=25, deadline=None)
@given(annotators=st.integers(2, 8), items=st.integers(3, 7), ties=st.booleans(), seed=st.integers(0, 9999))
def test_w_is_friedmans_statistic_over_its_largest_value(annotators, items, ties, seed):
    generator = np.random.default_rng(seed)
    ranks = (
        generator.integers(0, items, (annotators, items)) if ties else generator.random((annotators, items))
    )
    if (ranks == ranks[:, :1]).all():
        return
    statistic = friedmanchisquare(*ranks.T).statistic
    expected = statistic / (annotators * (items - 1))
    assert values(as_table(ranks))["kendall_w"] == pytest.approx(expected, abs=1e-6)


def test_sets_weigh_equally():
    # ranks alike: W = 1. Turned around by one of two: W = 0, ρ = −1.
    table = pd.concat(
        [
            as_table(np.array([[1, 2, 3]] * 4), "alike"),
            as_table(np.array([[1, 2, 3], [3, 2, 1]]), "opposed"),
        ]
    )
    assert values(table) == pytest.approx({"kendall_w": 0.5, "mean_spearman": 0.0})
    sets = kendall_w(table).sets
    assert sets[["prompt", "rankings", "kendall_w"]].values.tolist() == [
        ["alike", 4, 1.0],
        ["opposed", 2, 0.0],
    ]


def test_other_items_of_a_prompt_are_another_set():
    # Two ranked a, b and c; the others ranked only some of them, each other ones.
    both = as_table(np.array([[1, 2, 3], [1, 3, 2]]))
    some = as_table(np.array([[1, 2, 3], [3, 2, 1]]), annotators=[7, 8])
    some = some.assign(ranking="q" + some["ranking"])
    some = some[~some[["annotator", "item"]].apply(tuple, axis=1).isin([(7, "i0"), (8, "i1")])]
    result = kendall_w(pd.concat([both, some]))
    assert result.table["value"].tolist() == pytest.approx([0.75, 0.5])
    assert result.dropped == {"single_item": 0, "ranked_once": 2, "no_order": 0}
    assert result.used == 2
    assert result.sets["reason"].dropna().tolist() == ["ranked_once", "ranked_once"]


def test_rankings_of_nothing_twice_have_no_w():
    result = kendall_w(as_table(np.array([[1, 2, 3]])))
    assert result.table["reason"].tolist() == ["no_set_ranked_twice"] * 2
    assert result.table["value"].isna().all()


def test_the_interval_leaves_out_annotators_and_prompts():
    generator = np.random.default_rng(2)
    table = pd.concat(
        [
            as_table(np.arange(5) + generator.normal(0, 2.5, (8, 5)), f"p{prompt}", list(range(8)))
            for prompt in range(20)
        ]
    )
    result = kendall_w(table).table
    estimate = result["value"].to_numpy(dtype=float)
    assert (result["ci_low"] < estimate).all()
    assert (estimate < result["ci_high"]).all()
    few = kendall_w(table[table["annotator"] < 2]).table
    assert few["reason"].tolist() == ["too_few_annotators"] * 2


def mean_spearman(rows: Sequence[dict[str, Any]]) -> float | None:
    """The mean over units of the mean over pairs of rankings."""
    sets: dict[str, list[np.ndarray]] = {}
    for row in rows:
        sets.setdefault(row["unit"], []).append(row["ranks"])
    correlations = [
        np.mean([np.corrcoef(a, b)[0, 1] for a, b in combinations(ranks, 2)])
        for ranks in sets.values()
        if len(ranks) > 1
    ]
    return float(np.mean(correlations)) if correlations else None


@pytest.mark.parametrize("seed", range(3))
def test_the_interval_leaves_out_annotators_and_prompts_in_turn(seed):
    generator = np.random.default_rng(seed)
    rows, tables = [], []
    for prompt in range(15):
        ranks = rankdata(np.arange(4) + generator.normal(0, 2, (3, 4)), axis=1)
        people = generator.choice(6, 3, replace=False).tolist()
        tables.append(as_table(ranks, f"p{prompt}", people))
        for person, ranking in zip(people, ranks, strict=True):
            rows.append(
                {"unit": prompt, "image": prompt, "stratum": "", "annotator": person, "ranks": ranking}
            )
    result = kendall_w(pd.concat(tables)).table
    ends = result[["ci_low", "ci_high"]].to_numpy(dtype=float)
    expected = np.array(interval(rows, mean_spearman))
    assert ends[1] == pytest.approx(np.clip(expected, -1, 1), abs=1e-9)
    # Every set has three rankings: W = (1 + 2ρ)/3, and so have the ends.
    assert ends[0] == pytest.approx(np.clip((1 + 2 * expected) / 3, 0, 1), abs=1e-9)
