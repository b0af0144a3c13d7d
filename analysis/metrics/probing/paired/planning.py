"""Planning a probe: the width of intervals, and the number and the cost of requests."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import product
from typing import Any

import numpy as np
import pandas as pd

from analysis.metrics.data.results import Result, counts, labels, numbers, words
from analysis.metrics.data.validation import require_whole
from analysis.metrics.probing.paired.answers import ProbeAnswers
from analysis.metrics.probing.paired.comparison_rows import contrast
from analysis.metrics.probing.paired.statistics import ALPHA, detectable_effect

ONE_SCENARIO = "one_scenario"
NO_PRICE = "no_price"


@dataclass(frozen=True, kw_only=True)
class ProbeSpread:
    """Standard deviations that determine the width of intervals, in codes (−1 … 1)."""

    scenarios: float = 0.5
    """of scenarios' true means about one group"""
    differences: float = 0.15
    """of scenarios' true differences between two groups"""
    answers: float = 0.5
    """of repeated answers to one request"""


def plan_probe(
    *,
    scenarios: int | Sequence[int] = 20,
    repeats: int | Sequence[int] = 3,
    models: int | Sequence[int] = 1,
    groups: int = 4,
    questions: int = 1,
    orders: int = 2,
    experiments: int = 3,
    spread: ProbeSpread | None = None,
    pilot: Any = None,
    tokens_in: float = 0,
    tokens_out: float = 0,
    price_in: float | None = None,
    price_out: float | None = None,
) -> Result:
    """Half-width of an association and of a difference, the smallest difference that is found, requests and money.

    One row for every combination of `scenarios` (of one experiment), `repeats` and `models`. With c = questions ×
    orders × repeats answers about a group in a scenario, the variance of a scenario's mean about the group is
    σ_scenario² + σ_answer²/c, and the variance of a scenario's difference between two halves of the `groups` is
    σ_difference² + 2σ_answer²/(c·groups/2); half-width = t(0.975, S − 1)·√(variance/S). `detectable_difference` has 80
    % power at 0.05/(models × experiments), the strictest level of the primary family. The standard deviations are those
    of `spread` (its defaults are guesses), or estimated from a `pilot` (answers as in `association_scores`: variances
    of cells, of scenarios' means and of differences, minus the contribution of answers; never below 0; with two or more
    factors, the pilot's first factor).

    requests = models × scenarios × groups × questions × orders × repeats; money = requests × (tokens_in·price_in +
    tokens_out·price_out)/10⁶, prices per million tokens.

    Null: half-widths of one scenario (`one_scenario`); money without a price (`price_reason` is `no_price`).
    Raises ValueError for numbers below 1, odd `groups` or a pilot without repeated requests.

    Source: Cochran 1977, ch. 10 (two-stage samples); Cohen 1988.
    """
    groups, questions, orders, experiments = (
        require_whole(value, name, least)
        for value, name, least in (
            *((groups, "groups", 2), (questions, "questions", 1), (orders, "orders", 1)),
            (experiments, "experiments", 1),
        )
    )
    if groups % 2:
        raise ValueError(f"groups: expected an even number, because two halves are compared, got {groups}")
    sd = (spread or ProbeSpread()) if pilot is None else probe_spread(pilot)
    designs = list(product(_axis(scenarios, "scenarios"), _axis(repeats, "repeats"), _axis(models, "models")))
    from scipy.special import stdtrit

    n, repeat, model = (np.array(values, dtype=float) for values in zip(*designs, strict=True))
    answers = questions * orders * repeat
    variance = {
        "association": sd.scenarios**2 + sd.answers**2 / answers,
        "difference": sd.differences**2 + 2 * sd.answers**2 / (answers * groups / 2),
    }
    t = np.where(n > 1, stdtrit(np.maximum(n - 1, 1), 1 - ALPHA / 2), np.nan)
    effect = [
        detectable_effect(int(s), level=ALPHA / (int(m) * experiments)) for s, m in zip(n, model, strict=True)
    ]
    requests = model * n * groups * answers
    priced = price_in is not None or price_out is not None
    cost = requests * (tokens_in * (price_in or 0.0) + tokens_out * (price_out or 0.0)) / 1e6
    table = pd.DataFrame(
        {
            **{
                name: counts(values)
                for name, values in (("scenarios", n), ("repeats", repeat), ("models", model))
            },
            "requests": counts(requests),
            **{f"{name}_half_width": numbers(t * np.sqrt(value / n)) for name, value in variance.items()},
            "detectable_difference": numbers(np.array(effect) * np.sqrt(variance["difference"])),
            "tokens_in": numbers(requests * tokens_in),
            "tokens_out": numbers(requests * tokens_out),
            "money": numbers(cost if priced else np.full(len(n), np.nan)),
            "reason": words(np.where(n > 1, "", ONE_SCENARIO)),
            "price_reason": labels([NO_PRICE] * len(n)) if not priced else words([""] * len(n)),
        }
    )
    return Result(
        table=table,
        used=0,
        method="variances of a two-stage sample: scenarios, answers",
        notes={
            "spread": sd,
            "groups": groups,
            "questions": questions,
            "orders": orders,
            "experiments": experiments,
        },
    )


def probe_spread(pilot: Any) -> ProbeSpread:
    """The standard deviations of a pilot's answers, pooled over its models, experiments and groups."""
    data = ProbeAnswers.of(pilot)
    frame = data.frame
    key = ["model", "experiment", "scenario", *data.cell()]
    cells = frame.groupby(key)["code"].agg(_var="var", _mean="mean", _size="size").reset_index()
    repeated = cells[cells["_size"] > 1]
    if repeated.empty:
        raise ValueError("pilot: no request was repeated")
    within = float(np.average(repeated["_var"], weights=repeated["_size"] - 1))
    cells["_noise"] = within / cells["_size"]
    scenario = cells.groupby(["model", "experiment", "group", "scenario"]).agg(
        _mean=("_mean", "mean"), _noise=("_noise", "sum"), _size=("_noise", "size")
    )
    noise = scenario["_noise"] / scenario["_size"] ** 2
    by = scenario["_mean"].groupby(level=["model", "experiment", "group"])
    between = _pooled(by.var(), by.size()) - float(noise.mean())
    return ProbeSpread(
        scenarios=float(np.sqrt(max(between, 0.0))),
        differences=float(np.sqrt(max(_differences(data, within), 0.0))),
        answers=float(np.sqrt(within)),
    )


def _differences(data: ProbeAnswers, within: float) -> float:
    """The variance of scenarios' true differences between the first two levels of the first factor."""
    factor = data.factors[0]
    variances, sizes = [], []
    for _, part in data.frame.groupby(["model", "experiment"]):
        levels = sorted(part[factor].unique())[:2]
        if len(levels) < 2:
            continue
        found = contrast(part, factor, levels, cell=data.cell(without=[factor])).differences
        if len(found) < 2:
            continue
        each = part[part[factor].isin(levels)].groupby(["scenario", factor]).size()
        variances.append(float(np.var(found, ddof=1)) - 2 * within / float(each.mean()))
        sizes.append(len(found))
    return _pooled(pd.Series(variances, dtype=float), pd.Series(sizes, dtype=float))


def _pooled(variance: pd.Series, size: pd.Series) -> float:
    known = variance.notna() & (size > 1)
    return float(np.average(variance[known], weights=size[known] - 1)) if known.any() else 0.0


def _axis(value: int | Sequence[int], name: str) -> list[int]:
    values = list(value) if isinstance(value, (list, tuple, range)) else [value]
    return [require_whole(level, name, 1) for level in values]
