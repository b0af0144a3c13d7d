"""The figures of a plan agree with simulated probes."""

import numpy as np
import pytest

from analysis.metrics import association_scores, paired_comparison, plan_probe
from analysis.metrics.probing.paired.planning import ProbeSpread
from tests.analysis.metrics.probing.probe_answers import probe_answers


def test_requests_and_money_are_counted():
    (row,) = plan_probe(
        scenarios=20,
        repeats=3,
        models=2,
        orders=2,
        tokens_in=1000,
        tokens_out=10,
        price_in=2.0,
        price_out=8.0,
    ).rows()
    assert row["requests"] == 2 * 20 * 4 * 2 * 3
    assert row["money"] == pytest.approx(row["requests"] * (1000 * 2 + 10 * 8) / 1e6)
    assert plan_probe().rows()[0]["price_reason"] == "no_price"
    assert plan_probe().rows()[0]["money"] is None


def test_published_probe_has_the_published_number_of_requests():
    closed = [
        plan_probe(scenarios=scenarios, questions=questions, orders=1).rows()[0]["requests"]
        for scenarios, questions in ((20, 1), (20, 5), (10, 1))
    ]
    assert sum(closed) == 1560


def test_half_widths_are_those_of_probes_like_the_pilot():
    design = {"experiments": (("work", 20, 1),), "failed": 0, "shift": 0.1}
    plan = plan_probe(
        scenarios=20, repeats=3, pilot=probe_answers(0, experiments=(("work", 200, 1),), failed=0)
    )
    half = {"association_half_width": [], "difference_half_width": []}
    for seed in range(12):
        frame = probe_answers(seed + 1, **design)
        score, test = association_scores(frame).rows()[0], paired_comparison(frame).rows()[0]
        for name, row in (("association_half_width", score), ("difference_half_width", test)):
            half[name].append((row["ci_high"] - row["ci_low"]) / 2)
    (row,) = plan.rows()
    for name, values in half.items():
        assert row[name] == pytest.approx(np.mean(values), rel=0.1), name


def test_more_scenarios_and_repeats_narrow_intervals():
    rows = plan_probe(scenarios=[1, 10, 20], repeats=[1, 3], spread=ProbeSpread(scenarios=0.4)).rows()
    assert [row["reason"] for row in rows] == ["one_scenario"] * 2 + [None] * 4
    widths = [row["difference_half_width"] for row in rows[2:]]
    assert widths == sorted(widths, reverse=True)
    assert len(set(widths)) == 4


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"scenarios": 0}, "scenarios: expected a whole number of at least 1"),
        ({"groups": 3}, "groups: expected an even number, because two halves are compared, got 3"),
        ({"pilot": probe_answers(1, repeats=1)}, "pilot: no request was repeated"),
    ],
)
def test_impossible_plans_are_refused(arguments, message):
    with pytest.raises(ValueError, match=message):
        plan_probe(**arguments)
