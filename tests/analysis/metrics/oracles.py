"""Deliberately slow and plain: each measure again, with loops over dictionaries, straight from its
definition."""

from collections import defaultdict
from collections.abc import Iterable, Mapping
from fractions import Fraction
from itertools import permutations
from typing import Any

import pandas as pd

Weights = Mapping[Any, float]


def cell_counts(
    frame: pd.DataFrame, images: Weights | None = None, annotators: Weights | None = None
) -> dict[tuple[str, str, str], tuple[float, float]]:
    """(model, group, attribute) → (shown, marked), each judgement weighing image × annotator."""
    counts: dict[tuple[str, str, str], tuple[float, float]] = {}
    for row in frame.to_dict("records"):
        weight = 1.0
        if images is not None:
            weight *= images[(row["identity_group"], row["image"])]
        if annotators is not None:
            weight *= annotators[row["annotator"]]
        key = (row.get("model", ""), row["identity_group"], row["attribute"])
        shown, marked = counts.get(key, (0.0, 0.0))
        counts[key] = (shown + weight, marked + weight * row["present"])
    return counts


def stereotypes(roles: pd.DataFrame) -> set[tuple[str, str]]:
    return {
        (r["identity_group"], r["attribute"]) for r in roles.to_dict("records") if r["role"] == "stereotype"
    }


def role_means(
    counts: Mapping[tuple[str, str, str], tuple[float, float]], roles: pd.DataFrame
) -> dict[tuple[str, str], tuple[float | None, float | None]]:
    """(model, group) → mean L over its stereotypes, over its random attributes; None where the role was not
    shown."""
    listed = stereotypes(roles)
    shares: dict[tuple[str, str], tuple[list[float], list[float]]] = defaultdict(lambda: ([], []))
    for (model, group, attribute), (shown, marked) in counts.items():
        lists = shares[(model, group)]
        if shown:
            lists[0 if (group, attribute) in listed else 1].append(marked / shown)
    return {
        key: tuple(sum(values) / len(values) if values else None for values in lists)  # type: ignore[misc]
        for key, lists in shares.items()
    }


def theta(stereo: float | None, random: float | None) -> tuple[float | None, str | None]:
    if stereo is None or random is None:
        return None, "not_shown"
    if random == 0:
        return None, "only_stereotypes" if stereo > 0 else "none_marked"
    return stereo / random, None


def quantile(values: Iterable[float], q: float) -> float:
    """Type 7 of Hyndman & Fan."""
    ordered = sorted(values)
    place = q * (len(ordered) - 1)
    below = int(place)
    if place == below or ordered[below] == ordered[below + 1]:
        return ordered[below]
    return ordered[below] + (place - below) * (ordered[below + 1] - ordered[below])


def units(frame: pd.DataFrame) -> dict[Any, list[int]]:
    """Return the answers by (model, group, image, attribute)."""
    answers: dict[Any, list[int]] = defaultdict(list)
    for row in frame.to_dict("records"):
        answers[(row.get("model", ""), row["identity_group"], row["image"], row["attribute"])].append(
            row["present"]
        )
    return answers


def ratings(counts: Iterable[Iterable[int]]) -> list[list[int]]:
    """Return value counts as lists of ratings."""
    return [[value for value, number in enumerate(unit) for _ in range(number)] for unit in counts]


def krippendorff_alpha(rated: list[list[int]], level: str) -> Fraction | None:
    """1 − D_o/D_e over all ordered pairs, in exact arithmetic; None where D_e is 0 or nothing is paired."""
    pairable = [unit for unit in rated if len(unit) > 1]
    everything = [value for unit in pairable for value in unit]
    number = {value: everything.count(value) for value in set(everything)}

    def distance(a: int, b: int) -> Fraction:
        if a == b:
            return Fraction(0)
        if level == "nominal":
            return Fraction(1)
        if level == "interval":
            return Fraction((a - b) ** 2)
        low, high = min(a, b), max(a, b)
        between = sum(times for value, times in number.items() if low <= value <= high)
        return (between - Fraction(number[a] + number[b], 2)) ** 2

    observed = sum(
        (Fraction(1, len(unit) - 1) * distance(a, b))
        for unit in pairable
        for i, a in enumerate(unit)
        for j, b in enumerate(unit)
        if i != j
    )
    expected = sum(
        distance(a, b) for i, a in enumerate(everything) for j, b in enumerate(everything) if i != j
    )
    if not expected:
        return None
    return 1 - observed * (len(everything) - 1) / expected


def agreeing_share(unit: list[int], weights: list[list[float]]) -> float:
    pairs = [(a, b) for i, a in enumerate(unit) for j, b in enumerate(unit) if i != j]
    return sum(weights[a][b] for a, b in pairs) / len(pairs)


def coefficient(rated: list[list[int]], weights: list[list[float]], kind: str) -> float | None:
    """Gwet's AC (kind "ac") or Fleiss' κ (kind "kappa") with the given weights."""
    q = len(weights)
    twice, once = [u for u in rated if len(u) > 1], [u for u in rated if u]
    if not twice:
        return None
    observed = sum(agreeing_share(unit, weights) for unit in twice) / len(twice)
    shares = [sum(unit.count(k) / len(unit) for unit in once) / len(once) for k in range(q)]
    if kind == "ac":
        total = sum(map(sum, weights))
        expected = total * sum(p * (1 - p) for p in shares) / (q * (q - 1))
    else:
        expected = sum(p * p for p in shares)
    if 1 - expected < 1e-12:
        return None
    return (observed - expected) / (1 - expected)


def iou(a: tuple[float, ...], b: tuple[float, ...]) -> float:
    width = max(0.0, min(a[2], b[2]) - max(a[0], b[0]))
    height = max(0.0, min(a[3], b[3]) - max(a[1], b[1]))
    shared = width * height
    return shared / ((a[2] - a[0]) * (a[3] - a[1]) + (b[2] - b[0]) * (b[3] - b[1]) - shared)


def box_distance(left: list[tuple[float, ...]], right: list[tuple[float, ...]]) -> float:
    """Return the smallest distance over all matchings of the shorter list into the longer."""
    short, long = sorted((left, right), key=len)
    best = max(
        sum(iou(a, b) for a, b in zip(short, way, strict=True)) for way in permutations(long, len(short))
    )
    return 1 - best / len(long)


def kendall_tau_b(one: list[float], other: list[float]) -> float | None:
    """(concordant − discordant)/√((pairs − ties in one)(pairs − ties in the other)), pair by pair."""
    signs = [
        ((one[i] > one[j]) - (one[i] < one[j]), (other[i] > other[j]) - (other[i] < other[j]))
        for i in range(len(one))
        for j in range(i)
    ]
    untied = [sum(sign[side] != 0 for sign in signs) for side in (0, 1)]
    if not all(untied):
        return None
    return float(sum(a * b for a, b in signs) / (untied[0] * untied[1]) ** 0.5)


def holm(p: list[float | None]) -> list[float | None]:
    """Each p times how many are at least as large, never below that of a smaller one, at most 1."""
    kept = [value for value in p if value is not None]

    def adjusted(value: float) -> float:
        return max(min(other * sum(q >= other for q in kept), 1.0) for other in kept if other <= value)

    return [None if value is None else adjusted(value) for value in p]


def max_t(observed: list[float], permuted: list[list[float]]) -> list[float]:
    """(1 + permutations in which the largest standardised statistic reaches this one's) over (1 + permutations)."""
    spread = [(sum(x * x for x in row) / len(row)) ** 0.5 for row in permuted]
    largest = [
        max(abs(row[b]) / s for row, s in zip(permuted, spread, strict=True)) for b in range(len(permuted[0]))
    ]
    return [
        (1 + sum(most >= abs(x) / s * (1 - 1e-9) for most in largest)) / (1 + len(largest))
        for x, s in zip(observed, spread, strict=True)
    ]
