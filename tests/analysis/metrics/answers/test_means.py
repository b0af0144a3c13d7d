"""Means and shares of answers by hand, their intervals compared with leaving out one by one, and a planted truth."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from analysis.metrics import answer_means

pytestmark = pytest.mark.database_free

COLUMNS = ["item", "unit", "annotator", "value"]


def table(*rows: tuple[object, ...]) -> pd.DataFrame:
    return pd.DataFrame(list(rows), columns=COLUMNS)


def drawn(
    seed: int, *, items: int = 3, units: int = 40, annotators: int = 15, each: int = 4, sd: float = 0.5
) -> pd.DataFrame:
    """Draw values around 1, 2, … per item, with effects of annotator and unit."""
    generator = np.random.default_rng(seed)
    people = generator.normal(0, sd, annotators)
    rows = []
    for item in range(items):
        for unit in range(units):
            of_unit = generator.normal(0, sd)
            for person in generator.choice(annotators, each, replace=False):
                value = 1 + item + people[person] + of_unit + generator.normal(0, 1)
                rows.append((f"m{item}", f"m{item}-{unit}", int(person), value))
    return table(*rows)


def test_means_and_differences_are_those_by_hand():
    # a: (5 + 4 + 3) / 3 = 4, b: (2 + 1) / 2 = 1.5, c: 3; a − mean of b and c = 4 − 2.25
    answers = table(
        ("a", 1, "p", 5),
        ("a", 1, "q", 4),
        ("a", 2, "p", 3),
        ("b", 3, "p", 2),
        ("b", 3, "q", 1),
        ("c", 4, "p", 3),
    )
    result = answer_means(answers, bounds=(1, 5))
    assert [(row["item"], row["value"], row["answers"], row["units"]) for row in result.rows()] == [
        ("a", 4.0, 3, 2),
        ("b", 1.5, 2, 1),
        ("c", 3.0, 1, 1),
    ]
    assert result.differences["difference"].tolist() == [2.5, 1.0, -1.5]
    others = answer_means(answers, bounds=(1, 5), compare="others").differences
    assert others["difference"].tolist() == [1.75, -2.0, 0.25]
    assert others["other"].isna().all()
    assert len(answer_means(answers, compare="nothing").differences) == 0


def test_two_annotators_give_no_interval():
    row = answer_means(table(("a", 1, "p", 5), ("a", 2, "q", 4))).rows()[0]
    assert (row["value"], row["ci_low"], row["reason"]) == (4.5, None, "too_few_annotators")


def test_a_single_item_has_no_difference():
    answers = table(*(("a", unit, person, unit) for unit in range(4) for person in "pqr"))
    row = answer_means(answers, compare="others").differences.iloc[0]
    assert row["reason"] == "one_item"
    assert pd.isna(row["difference"])


def test_equal_answers_have_no_interval_and_a_share_of_none_has_wilsons():
    answers = table(*(("a", unit, person, 0) for unit in range(10) for person in "pqrs"))
    assert answer_means(answers).rows()[0]["reason"] == "zero_width"
    row = answer_means(answers, share=True).rows()[0]
    # No cell varies, so ρ is 1: n / deff = 40 / (1 + 3 + 9)
    effective, z = 40 / 13, 1.959963984540054
    assert row["ci_low"] == 0
    assert row["ci_high"] == pytest.approx(z * z / (effective + z * z))
    assert row["reason"] is None


def test_a_rare_share_borrows_the_correlation_of_the_others():
    generator = np.random.default_rng(2)
    common = [("b", f"b{u}", p, int(generator.random() < 0.5)) for u in range(60) for p in range(6)]
    never = [("a", f"a{u}", p, 0) for u in range(60) for p in range(6)]
    alone = answer_means(table(*never), share=True).rows()[0]["ci_high"]
    beside = answer_means(table(*never, *common), share=True).rows()[0]["ci_high"]
    assert beside < alone


@pytest.mark.parametrize("sd", [0.0, 0.6])
def test_intervals_cover_the_planted_means_and_differences(sd):
    held, apart = [], []
    for seed in range(40):
        result = answer_means(drawn(seed, sd=sd))
        held += [
            low <= place + 1 <= high
            for place, (low, high) in enumerate(
                zip(result.table["ci_low"], result.table["ci_high"], strict=True)
            )
        ]
        apart += result.differences["distinct"].tolist()
    assert np.mean(held) >= 0.92
    assert all(apart)  # items lie 1 from each other


def test_equal_items_are_rarely_found_different():
    """Effects of annotators on every item cancel in a difference, so its interval is narrower."""
    distinct, narrower = [], []
    for seed in range(40):
        answers = drawn(seed, items=2, sd=0.6)
        answers.loc[answers["item"] == "m1", "value"] -= 1
        result = answer_means(answers)
        row, own = result.differences.iloc[0], result.table.iloc[0]
        distinct.append(bool(row["distinct"]))
        narrower.append(row["ci_high"] - row["ci_low"] < 2 * (own["ci_high"] - own["ci_low"]))
    assert np.mean(distinct) <= 0.1
    assert all(narrower)


@given(seed=st.integers(0, 9_999), items=st.integers(1, 4), each=st.integers(1, 4))
def test_answers_to_another_item_do_not_change_this_one(seed, items, each):
    answers = drawn(seed, items=items, units=4, annotators=5, each=each)
    alone = answer_means(answers[answers["item"] == "m0"]).rows()[0]
    together = answer_means(answers).rows()[0]
    assert alone == pytest.approx(together, nan_ok=True)


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        ({"value": 7}, "must be 1 to 5, got 7"),
        ({"value": None}, "column 'value' is empty"),
        ({"annotator": None}, "column 'annotator' is empty"),
    ],
)
def test_wrong_answers_are_refused_by_name(change, sentence):
    answers = table(("a", 1, "p", 5), ("a", 1, "q", 4)).assign(**change)
    with pytest.raises(ValueError, match=sentence):
        answer_means(answers, bounds=(1, 5))


def test_a_share_is_of_zeros_and_ones():
    with pytest.raises(ValueError, match="must contain 0 or 1"):
        answer_means(table(("a", 1, "p", 0.5)), share=True)
