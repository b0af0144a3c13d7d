"""Consensus on a label."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from analysis.metrics import consensus, visual_attributes
from tests.analysis.metrics.tables import value_counts


@settings(max_examples=80, deadline=None)
@given(value_counts(3), st.integers(1, 5))
def test_share_is_that_of_units_counted_one_by_one(counts: list[list[int]], raters: int) -> None:
    rows = consensus(np.array(counts), raters=raters).rows()
    assert {r["agreeing"] for r in rows} == {t for t in range(1, raters + 1) if t > raters / 2}
    for row in rows:
        t = row["agreeing"]
        enough = [unit for unit in counts if sum(unit) >= t]
        if row["label"] == "any":
            agreeing = [unit for unit in enough if max(unit) >= t]
        else:
            agreeing = [unit for unit in enough if unit[int(row["label"])] >= t]
        assert (row["units_rated"], row["units_agreeing"]) == (len(enough), len(agreeing))
        assert row["share"] == (len(agreeing) / len(enough) if enough else None)
        assert row["reason"] == (None if enough else "no_unit_rated_enough")


def likert(**ratings: list[int]) -> pd.DataFrame:
    return pd.DataFrame(
        [(name, f"p{i}", value) for name, values in ratings.items() for i, value in enumerate(values)],
        columns=["attribute", "annotator", "rating"],
    )


RATED = likert(hat=[5, 4, 5], poor=[4, 2, 5], kind=[1, 3, 2], drum=[4, 3, 5])


def test_unsure_is_a_label_and_raters_default_to_the_commonest_number() -> None:
    # Two of three alike: hat (5, 5). Nobody else; 1 of 4 attributes.
    result = consensus(RATED)
    assert result.notes["raters"] == 3
    shares = {(r["label"], r["agreeing"]): r["share"] for r in result.rows()}
    assert shares[("5", 2)] == 0.25
    assert shares[("3", 2)] == 0
    assert shares[("any", 2)] == 0.25
    assert shares[("any", 3)] == 0


@pytest.mark.parametrize(
    ("rule", "threshold", "visual"),
    [
        ("unanimous", 4, ["hat"]),
        ("majority", 4, ["drum", "hat", "poor"]),
        ("mean", 4, ["drum", "hat"]),  # drum (4 + 3 + 5)/3 = 4, hat 14/3, poor 11/3
        ("mean", 3.5, ["drum", "hat", "poor"]),
    ],
)
def test_visual_attributes_by_each_rule(rule: str, threshold: float, visual: list[str]) -> None:
    result = visual_attributes(RATED, rule=rule, threshold=threshold)
    assert [r["attribute"] for r in result.rows() if r["visual"]] == visual
    assert result.notes == {"visual": len(visual), "attributes": 4}


def test_visual_attribute_table_keeps_mean_and_unsure() -> None:
    row = visual_attributes(RATED).rows()[0]
    assert row == {
        "attribute": "drum",
        "ratings": 3,
        "mean": 4.0,
        "unsure": 1,
        "unanimous": False,
        "visual": False,
    }
