"""The share of decided comparisons in which the first stimulus is preferred."""

import pandas as pd
import pytest

from analysis.metrics import position_bias

pytestmark = pytest.mark.database_free


def answers(first: int, second: int, tie: int) -> pd.DataFrame:
    given = ["first"] * first + ["second"] * second + ["tie"] * tie
    return pd.DataFrame(
        {
            "first": "a",
            "second": "b",
            "answer": given,
            "prompt": [row % 7 for row in range(len(given))],
            "annotator": [row % 5 for row in range(len(given))],
        }
    )


def test_the_share_of_decided_comparisons():
    result = position_bias(answers(30, 10, 5))
    row = result.table.iloc[0]
    assert (row["first"], row["second"], row["share"]) == (30, 10, 0.75)
    assert row["ci_low"] < 0.75 < row["ci_high"]
    assert result.dropped == {"tie": 5}


def test_only_ties_decide_nothing():
    row = position_bias(answers(0, 0, 5)).table.iloc[0]
    assert pd.isna(row["share"])
    assert row["reason"] == "nothing_decided"


def test_the_same_place_each_time_has_no_width_and_who_decided_nothing_does_not_count():
    assert position_bias(answers(30, 0, 0)).table["reason"].tolist() == ["zero_width"]
    decided = answers(20, 10, 0).assign(annotator=[row % 2 for row in range(30)])
    tied = answers(0, 0, 5).assign(annotator="another")
    assert position_bias(pd.concat([decided, tied])).table["reason"].tolist() == ["too_few_annotators"]
