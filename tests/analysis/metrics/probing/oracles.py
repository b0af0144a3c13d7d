"""Each measure of probes in a slow form with loops over dictionaries, directly from its definition."""

from collections import defaultdict
from itertools import product
from typing import Any

import pandas as pd

from tests.analysis.metrics.probing.probe_answers import CODES

Cells = dict[Any, dict[Any, list[int]]]


def mean(values: list[float]) -> float:
    return sum(values) / len(values)


def scenario_scores(
    frame: pd.DataFrame, key: tuple[str, ...], cell: tuple[str, ...], kept: tuple[str, ...] | None = None
) -> dict[Any, dict[str, float]]:
    """key → scenario → mean over cells of the mean over repeats."""
    cells: dict[Any, dict[str, dict[Any, list[int]]]] = defaultdict(
        lambda: defaultdict(lambda: defaultdict(list))
    )
    for row in frame.to_dict("records"):
        if row["outcome"] == "failed" or (kept and row["outcome"] not in kept):
            continue
        at = cells[tuple(row[name] for name in key)][row["scenario"]]
        at[tuple(row[name] for name in cell)].append(CODES.get(row["outcome"], 0))
    return {
        name: {s: mean([mean(answers) for answers in inner.values()]) for s, inner in scenarios.items()}
        for name, scenarios in cells.items()
    }


def paired_differences(
    frame: pd.DataFrame, factor: str, levels: tuple[str, str], cell: tuple[str, ...]
) -> dict[str, float]:
    """scenario → difference, over the cells with answers at both levels."""
    answers: Cells = defaultdict(lambda: defaultdict(list))
    for row in frame.to_dict("records"):
        if row["outcome"] != "failed" and row[factor] in levels:
            place = (row["scenario"], *(row[name] for name in cell))
            answers[place][row[factor]].append(CODES.get(row["outcome"], 0))
    scenarios = defaultdict(list)
    for place, by_level in answers.items():
        if len(by_level) == 2:
            scenarios[place[0]].append(mean(by_level[levels[0]]) - mean(by_level[levels[1]]))
    return {scenario: mean(values) for scenario, values in scenarios.items()}


def double_differences(frame: pd.DataFrame, one: str, two: str, cell: tuple[str, ...]) -> dict[str, float]:
    """scenario → (a1b1 − a1b2) − (a2b1 − a2b2)."""
    answers: Cells = defaultdict(lambda: defaultdict(list))
    for row in frame.to_dict("records"):
        if row["outcome"] != "failed":
            place = (row["scenario"], *(row[name] for name in cell))
            answers[place][(row[one], row[two])].append(CODES.get(row["outcome"], 0))
    levels = [sorted({who[side] for by in answers.values() for who in by}) for side in (0, 1)]
    scenarios = defaultdict(list)
    for place, by in answers.items():
        if len(by) == 4:
            (a1, a2), (b1, b2) = levels
            value = mean(by[a1, b1]) - mean(by[a1, b2]) - mean(by[a2, b1]) + mean(by[a2, b2])
            scenarios[place[0]].append(value)
    return {scenario: mean(values) for scenario, values in scenarios.items()}


def sign_flip_p(differences: list[float]) -> float:
    """Return p over all 2ⁿ signs."""
    observed = abs(sum(differences))
    sums = [
        abs(sum(s * d for s, d in zip(signs, differences, strict=True)))
        for signs in product((1, -1), repeat=len(differences))
    ]
    return sum(total >= observed - 1e-9 for total in sums) / len(sums)


def design_effect(by_cluster: dict[Any, list[bool]]) -> tuple[float, float, float]:
    """Share, answers and design effect, cluster by cluster."""
    n = sum(len(answers) for answers in by_cluster.values())
    p = sum(sum(answers) for answers in by_cluster.values()) / n
    clusters = len(by_cluster)
    if p in (0, 1):
        return p, n, n / clusters
    variance = clusters / (clusters - 1) * sum((sum(a) - len(a) * p) ** 2 for a in by_cluster.values()) / n**2
    return p, n, max(1.0, variance / (p * (1 - p) / n))
