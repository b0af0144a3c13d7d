"""Win rates and strengths against a plain likelihood, an independent package, and what is known of small tables."""

from itertools import combinations

import choix
import evalica
import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import minimize

from analysis.metrics import preference_strengths

pytestmark = pytest.mark.database_free


def comparisons(
    strength: list[float], *, tie: float, each: int, seed: int = 0, prompts: int = 20, annotators: int = 12
) -> pd.DataFrame:
    """Draw `each` comparisons of every pair from Davidson's model."""
    generator = np.random.default_rng(seed)
    rows = []
    for i, j in combinations(range(len(strength)), 2):
        for time in range(each):
            one, other = (i, j) if time % 2 else (j, i)
            a, b = np.exp(strength[one]), np.exp(strength[other])
            weights = np.array([a, b, tie * np.sqrt(a * b)])
            answer = generator.choice(["first", "second", "tie"], p=weights / weights.sum())
            rows.append((f"m{one}", f"m{other}", answer))
    frame = pd.DataFrame(rows, columns=["first", "second", "answer"])
    return frame.assign(
        prompt=generator.integers(0, prompts, len(frame)),
        annotator=generator.integers(0, annotators, len(frame)),
    )


def fitted_plainly(frame: pd.DataFrame) -> tuple[dict[str, float], float]:
    """Fit Davidson's model by a general optimiser: slow and independent of ours."""
    items = sorted({*frame["first"], *frame["second"]})
    rows = frame.groupby(["first", "second", "answer"]).size().to_dict().items()

    def loss(parameters: np.ndarray) -> float:
        power = dict(zip(items, parameters[:-1], strict=True))
        total = 0.0
        for (one, other, answer), times in rows:
            first, second = power[one], power[other]
            tie = parameters[-1] + (first + second) / 2
            chosen = {"first": first, "second": second, "tie": tie}[answer]
            total -= times * (chosen - np.log(np.exp(first) + np.exp(second) + np.exp(tie)))
        return total + parameters[:-1].sum() ** 2

    best = minimize(loss, np.zeros(len(items) + 1), method="BFGS", options={"gtol": 1e-8})
    return dict(zip(items, best.x[:-1] - best.x[:-1].mean(), strict=True)), float(np.exp(best.x[-1]))


@settings(max_examples=12, deadline=None)
@given(
    strength=st.lists(st.floats(-1, 1), min_size=2, max_size=5),
    tie=st.floats(0.3, 2),
    seed=st.integers(0, 1000),
)
def test_strengths_maximise_the_likelihood(strength, tie, seed):
    frame = comparisons(strength, tie=tie, each=30, seed=seed)
    result = preference_strengths(frame)
    if result.table["strength"].isna().any():
        return
    expected, expected_tie = fitted_plainly(frame)
    assert dict(zip(result.table["item"], result.table["strength"], strict=True)) == pytest.approx(
        expected, abs=1e-5
    )
    assert result.notes["tie"] == pytest.approx(expected_tie, rel=1e-4)


@settings(max_examples=12, deadline=None)
@given(strength=st.lists(st.floats(-1, 1), min_size=2, max_size=8), seed=st.integers(0, 1000))
def test_without_ties_strengths_are_those_of_choix(strength, seed):
    frame = comparisons(strength, tie=0.0, each=20, seed=seed)
    table = preference_strengths(frame).table
    if table["strength"].isna().any():
        return
    rows = frame.itertuples()
    wins = [(r.first, r.second) if r.answer == "first" else (r.second, r.first) for r in rows]
    coded = [(int(winner[1:]), int(loser[1:])) for winner, loser in wins]
    expected = choix.ilsr_pairwise(len(strength), coded, alpha=0, tol=1e-12)
    assert table["strength"].to_numpy(dtype=float) == pytest.approx(expected - expected.mean(), abs=1e-6)


def as_evalica(frame: pd.DataFrame, **options: object) -> dict[str, object]:
    """Comparisons as evalica reads them."""
    winners = {"first": evalica.Winner.X, "second": evalica.Winner.Y, "tie": evalica.Winner.Draw}
    precise = {"tolerance": 1e-13, "limit": 1_000_000}
    return (
        {"xs": frame["first"], "ys": frame["second"], "winners": frame["answer"].map(winners)}
        | precise
        | options
    )


def logs(scores: pd.Series) -> dict[str, float]:
    """Log strengths, mean zero."""
    powers = np.log(scores)
    return (powers - powers.mean()).to_dict()


@settings(max_examples=12, deadline=None)
@given(
    strength=st.lists(st.floats(-1, 1), min_size=2, max_size=8),
    tie=st.floats(0.2, 2),
    seed=st.integers(0, 1000),
)
def test_with_ties_strengths_are_those_of_newmans_algorithm(strength, tie, seed):
    """It maximises Davidson's likelihood, with half of his ν as its parameter."""
    frame = comparisons(strength, tie=tie, each=30, seed=seed)
    result = preference_strengths(frame)
    if result.table["strength"].isna().any():
        return
    expected = evalica.newman(**as_evalica(frame))
    assert dict(zip(result.table["item"], result.table["strength"], strict=True)) == pytest.approx(
        logs(expected.scores), abs=1e-6
    )
    assert result.notes["tie"] == pytest.approx(2 * expected.v, abs=1e-6)


def test_a_tie_is_no_half_win():
    """Bradley and Terry's model with ties as half a win each draws strengths together; Davidson's does not."""
    frame = comparisons([1.0, 0.2, -0.8], tie=0.0, each=200, seed=1)
    tied = comparisons([1.0, 0.2, -0.8], tie=1.0, each=200, seed=1)
    without, ours = (preference_strengths(table).table["strength"] for table in (frame, tied))
    halves = logs(evalica.bradley_terry(**as_evalica(tied)).scores)
    assert without.tolist() == pytest.approx(
        list(logs(evalica.bradley_terry(**as_evalica(frame)).scores).values()), abs=1e-6
    )
    assert abs(halves["m0"]) < 0.8 * abs(ours[0])


def test_two_items_have_a_closed_form():
    # 30 to 10 without ties: strengths ± ½ log 3. With 20 ties: π ratio from wins + ½ ties of each side.
    frame = pd.DataFrame(
        {"first": ["a"] * 40, "second": ["b"] * 40, "answer": ["first"] * 30 + ["second"] * 10}
    )
    table = preference_strengths(frame.assign(prompt=range(40), annotator="p")).table
    assert table["strength"].tolist() == pytest.approx([np.log(3) / 2, -np.log(3) / 2])
    assert table["win_rate"].tolist() == [0.75, 0.25]
    tied = pd.concat(
        [frame, pd.DataFrame({"first": ["b"] * 20, "second": ["a"] * 20, "answer": ["tie"] * 20})]
    )
    result = preference_strengths(tied.assign(prompt=range(60), annotator="p"))
    # P(a) : P(b) = 30 : 10 and P(tie)² / (P(a)·P(b)) = ν² = 20² / (30·10)
    assert result.table["strength"].tolist() == pytest.approx([np.log(3) / 2, -np.log(3) / 2])
    assert result.notes["tie"] == pytest.approx(20 / np.sqrt(300))
    assert result.table["win_rate"].tolist() == pytest.approx([40 / 60, 20 / 60])


def test_the_order_shown_does_not_count():
    frame = comparisons([1, 0, -1], tie=0.5, each=40)
    turned = frame.rename(columns={"first": "second", "second": "first"})
    turned["answer"] = turned["answer"].map({"first": "second", "second": "first", "tie": "tie"})
    pd.testing.assert_frame_equal(preference_strengths(frame).table, preference_strengths(turned).table)


def test_items_never_compared_with_the_others_have_no_strength():
    frame = pd.concat(
        [
            comparisons([0, 1], tie=1, each=20),
            comparisons([0, 1], tie=1, each=20).replace({"m0": "m2", "m1": "m3"}),
        ]
    )
    result = preference_strengths(frame)
    assert set(result.table["reason"]) == {"not_connected"}
    assert result.table["strength"].isna().all()
    assert result.table["win_rate"].notna().all()
    never = result.pairs[result.pairs["comparisons"] == 0]
    assert set(never["share_reason"]) == {"not_compared"}


@pytest.mark.parametrize("answer", ["first", "tie"])
def test_uniform_answers_have_no_finite_maximum(answer):
    frame = pd.DataFrame({"first": ["a"] * 9, "second": ["b"] * 9, "answer": answer})
    table = preference_strengths(frame.assign(prompt=range(9), annotator="p")).table
    assert set(table["reason"]) == {"no_finite_maximum"}
    assert table[["strength", "rank", "ci_low"]].isna().all(axis=None)


def test_an_item_that_never_lost_but_tied_has_no_finite_maximum():
    frame = pd.DataFrame({"first": "a", "second": "b", "answer": ["first"] * 5 + ["tie"] * 5})
    table = preference_strengths(frame.assign(prompt=range(10), annotator="p")).table
    assert set(table["reason"]) == {"no_finite_maximum"}


def test_intervals_separate_different_items_from_equal_ones():
    result = preference_strengths(comparisons([1.5, 0, 0], tie=0.5, each=150, seed=4))
    apart = {frozenset((row.item, row.other)): row.distinct for row in result.pairs.itertuples()}
    assert apart == {
        frozenset(("m0", "m1")): True,
        frozenset(("m0", "m2")): True,
        frozenset(("m1", "m2")): False,
    }
    best = result.table.set_index("item").loc["m0"]
    assert (best["rank"], best["rank_low"], best["rank_high"]) == (1, 1, 1)
    assert best["ci_low"] < best["strength"] < best["ci_high"]


@pytest.mark.parametrize(("answer", "rate"), [("tie", 0.5), ("first", 1.0)])
def test_a_win_rate_of_answers_that_are_all_alike_has_no_width(answer, rate):
    frame = pd.DataFrame({"first": ["a"] * 12, "second": ["b"] * 12, "answer": answer, "prompt": range(12)})
    many = preference_strengths(frame.assign(annotator=[row % 4 for row in range(12)])).table.iloc[0]
    assert (many["win_rate"], many["win_rate_reason"]) == (rate, "zero_width")
    few = preference_strengths(frame.assign(annotator=[row % 2 for row in range(12)])).table.iloc[0]
    assert (few["win_rate"], few["win_rate_reason"]) == (rate, "too_few_annotators")


def test_two_annotators_are_too_few_for_an_interval():
    frame = comparisons([0.5, 0], tie=0.5, each=60, annotators=2)
    table = preference_strengths(frame).table
    assert set(table["reason"]) == {"too_few_annotators"}
    assert table["strength"].notna().all()


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"answer": "both"}, "must contain first, second or tie, got 'both'"),
        ({"second": "m0", "first": "m0"}, "'m0' is compared with itself"),
        ({"prompt": None}, "column 'prompt' is empty"),
    ],
)
def test_wrong_rows_are_refused(changes, message):
    with pytest.raises(ValueError, match=message):
        preference_strengths(comparisons([0, 1], tie=1, each=3).assign(**changes))
