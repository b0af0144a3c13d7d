"""Errors of rules from a review by strata, against sums by hand and a simulated draw."""

from math import sqrt

import numpy as np
import pandas as pd
import pytest

from analysis.metrics import coding_errors


def reviewed(**strata):
    """Answers by stratum as (rules, people, how many)."""
    rows = [(name, *pair) for name, parts in strata.items() for *pair, number in parts for _ in range(number)]
    return pd.DataFrame(rows, columns=["stratum", "rules", "people"])


def by_stratum(result, measure="error_rate"):
    return {row["stratum"]: row for row in result.rows() if row["measure"] == measure}


def test_strata_weigh_as_many_answers_as_they_have():
    table = reviewed(
        unsure=[("plus", "plus", 2), ("plus", "minus", 1), ("other", "both", 1)],
        sure=[("plus", "plus", 7), ("minus", "refused", 1)],
    )
    result = coding_errors(table, {"unsure": 4, "sure": 96})
    errors = by_stratum(result)
    assert [errors[name]["value"] for name in ("unsure", "sure")] == [0.5, 0.125]
    # 0.04 · 0.5 + 0.96 · 0.125
    assert errors["all"]["value"] == pytest.approx(0.14)
    assert by_stratum(result, "reversal_rate")["all"]["value"] == pytest.approx(0.04 * 0.25)
    # All uncertain answers were reviewed, so there is no sampling error.
    assert (errors["unsure"]["ci_low"], errors["unsure"]["ci_high"]) == (0.5, 0.5)
    # Wilson by hand on 8 · 95/88 answers.
    n, p, z = 8 * 95 / 88, 0.125, 1.959963984540054
    centre, half = (p + z * z / (2 * n)), z * sqrt(p * (1 - p) / n + z * z / (4 * n * n))
    low, high = ((centre + sign * half) / (1 + z * z / n) for sign in (-1, 1))
    assert [errors["sure"]["ci_low"], errors["sure"]["ci_high"]] == pytest.approx([low, high])
    assert errors["all"]["ci_high"] == pytest.approx(0.14 + 0.96 * (high - 0.125))
    assert (errors["all"]["errors"], errors["all"]["reviewed"], errors["all"]["answers"]) == (3, 12, 100)


def test_a_stratum_nobody_reviewed_leaves_all_answers_unknown():
    errors = by_stratum(coding_errors(reviewed(unsure=[("plus", "plus", 3)]), {"unsure": 3, "sure": 50}))
    assert errors["unsure"]["value"] == 0
    assert [errors[name]["reason"] for name in ("all", "sure")] == ["none_reviewed"] * 2
    empty = by_stratum(coding_errors(reviewed(), {"unsure": 0, "sure": 0}))
    assert list(empty) == ["all"]
    assert empty["all"]["value"] is None


def test_rules_without_errors_still_have_an_upper_limit():
    errors = by_stratum(coding_errors(reviewed(sure=[("plus", "plus", 100)]), {"unsure": 0, "sure": 1_000}))
    assert errors["all"]["value"] == errors["all"]["ci_low"] == 0
    assert 0.02 < errors["all"]["ci_high"] < 0.05


@pytest.mark.parametrize(
    ("sizes", "words"),
    [({"sure": 9}, "size of stratum"), ({"sure": 9, "unsure": 1}, "more reviewed answers")],
)
def test_sizes_must_fit(sizes, words):
    with pytest.raises(ValueError, match=words):
        coding_errors(reviewed(unsure=[("plus", "plus", 2)]), sizes)


@pytest.mark.parametrize("errors_of_sure", [0.01, 0.05])
def test_intervals_cover_the_rate_of_all_answers(errors_of_sure):
    generator = np.random.default_rng(4)
    covered = []
    for _ in range(400):
        unsure = generator.random(200) < 0.3
        sure = generator.random(1_300) < errors_of_sure
        drawn = generator.choice(sure, 130, replace=False)
        table = pd.DataFrame(
            {
                "stratum": ["unsure"] * 200 + ["sure"] * 130,
                "rules": "plus",
                "people": ["minus" if wrong else "plus" for wrong in (*unsure, *drawn)],
            }
        )
        row = coding_errors(table, {"unsure": 200, "sure": 1_300}).rows()[0]
        covered.append(row["ci_low"] <= (unsure.sum() + sure.sum()) / 1_500 <= row["ci_high"])
    assert 0.93 <= np.mean(covered) <= 0.995
