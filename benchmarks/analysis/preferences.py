"""Coverage of the 95 % intervals of win rates, strengths and rankings, and the time for a million comparisons.

    python -m benchmarks preferences        (make bench)

Annotators and prompts each have a taste, so that answers about one prompt, and those of one annotator, are similar.
The truth is that of a hundred thousand annotators, each with different prompts.
"""

import time
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache
from itertools import product

import numpy as np
import pandas as pd

from analysis.metrics import kendall_w, preference_strengths, ranking_strengths
from analysis.metrics.data.arrays import Array
from analysis.metrics.preferences.leaderboard import Preferences
from benchmarks.table import Row

SEEDS = 400
ALLOWED = (0.93, 0.995)
STRENGTHS = np.array([0.8, 0.2, 0.0, -1.0])
TIE = 0.6
SPEARMAN_ALLOWED = (0.92, 0.998)  # few annotators per set: wider than necessary
STEP = 0.5  # utilities are rounded to it, so that equal items of a ranking are tied
LARGE = 1_000_000
LARGE_SECONDS = 10.0


@dataclass(frozen=True)
class Cell:
    """A study: every annotator compares `each` pairs of images of randomly chosen prompts."""

    prompts: int
    annotators: int
    each: int


RANKING_CELLS = (Cell(30, 8, 15), Cell(60, 30, 20))
CELLS = (Cell(30, 8, 60), Cell(30, 15, 40), Cell(100, 40, 30))
TASTES = (0.0, 0.4, 1.0)  # standard deviation of a taste, in log odds


def drawn(cell: Cell, strength: Array, taste: float, generator: np.random.Generator) -> pd.DataFrame:
    """Return comparisons of numbered items, answered by Davidson's model with tastes of annotator and prompt."""
    count, items = cell.annotators * cell.each, len(strength)
    annotator = np.repeat(np.arange(cell.annotators), cell.each)
    prompt = generator.integers(0, cell.prompts, count)
    first = generator.integers(0, items, count)
    second = (first + generator.integers(1, items, count)) % items
    by_annotator = generator.normal(0, taste, (cell.annotators, items))
    by_prompt = generator.normal(0, taste, (cell.prompts, items))
    felt = strength + by_annotator[annotator] + by_prompt[prompt]
    row = np.arange(count)
    half = (felt[row, first] - felt[row, second]) / 2
    weights = np.stack([np.exp(half), np.exp(-half), np.full(count, TIE)], axis=1)
    ends = np.cumsum(weights / weights.sum(axis=1, keepdims=True), axis=1)
    answer = np.array(["first", "second", "tie"])[
        (generator.random(count)[:, None] > ends[:, :2]).sum(axis=1)
    ]
    return pd.DataFrame(
        {"first": first, "second": second, "answer": answer, "prompt": prompt, "annotator": annotator}
    )


MEASURES = {
    "strengths": ("table", "strength", "ci_low", "ci_high"),
    "win rates": ("table", "win_rate", "win_rate_low", "win_rate_high"),
    "differences of strengths": ("pairs", "difference", "ci_low", "ci_high"),
}


def values(result: Preferences, measure: str) -> Array:
    """Return estimates with both ends of their intervals, nulls as NaN."""
    table, *columns = MEASURES[measure]
    estimates: Array = getattr(result, table)[columns].to_numpy(dtype=float, na_value=np.nan)
    return estimates


@cache
def truth(taste: float) -> dict[str, Array]:
    frame = drawn(Cell(100_000, 100_000, 4), STRENGTHS, taste, np.random.default_rng(11))
    result = preference_strengths(frame)
    return {measure: values(result, measure)[:, 0] for measure in MEASURES}


def covered(cell: Cell, taste: float, seed: int) -> dict[str, float]:
    """Return the share of intervals that cover the truth in one study, per measure. A null interval covers nothing."""
    generator = np.random.default_rng(np.random.SeedSequence([seed, cell.prompts]))
    result = preference_strengths(drawn(cell, STRENGTHS, taste, generator))
    shares = {}
    for measure, planted in truth(taste).items():
        _, low, high = values(result, measure).T
        shares[measure] = float(np.mean((low <= planted) & (planted <= high)))
    return shares


def ranked(cell: Cell, taste: float, generator: np.random.Generator) -> pd.DataFrame:
    """Return rankings of the items for some prompts by every annotator; utilities are rounded, so that items tie."""
    count, items = cell.annotators * cell.each, len(STRENGTHS)
    annotator = np.repeat(np.arange(cell.annotators), cell.each)
    prompt = (
        generator.integers(0, cell.prompts, cell.annotators)[annotator] + np.arange(count)
    ) % cell.prompts
    by_annotator = generator.normal(0, taste, (cell.annotators, items))
    by_prompt = generator.normal(0, taste, (cell.prompts, items))
    felt = STRENGTHS + by_annotator[annotator] + by_prompt[prompt] + generator.gumbel(size=(count, items))
    owner = {"ranking": np.arange(count), "prompt": prompt, "annotator": annotator}
    table = pd.DataFrame({name: np.repeat(codes, items) for name, codes in owner.items()})
    return table.assign(item=np.tile(np.arange(items), count), rank=-np.round(felt / STEP).ravel())


def of_rankings(frame: pd.DataFrame) -> pd.DataFrame:
    """Return strengths and then the mean of Spearman's correlations, with intervals."""
    strengths = ranking_strengths(frame).table.rename(columns={"strength": "value"})
    concordance = kendall_w(frame).table.query("measure == 'mean_spearman'")
    columns = ["value", "ci_low", "ci_high"]
    return pd.concat([strengths[columns], concordance[columns]]).astype(float)


@cache
def ranking_truth(taste: float) -> Array:
    values: Array = of_rankings(ranked(Cell(50_000, 100_000, 2), taste, np.random.default_rng(12)))[
        "value"
    ].to_numpy()
    return values


def ranking_covered(cell: Cell, taste: float, seed: int) -> Array:
    generator = np.random.default_rng(np.random.SeedSequence([seed, cell.prompts, 1]))
    table = of_rankings(ranked(cell, taste, generator))
    low, high = table["ci_low"].to_numpy(), table["ci_high"].to_numpy()
    return (low <= ranking_truth(taste)) & (ranking_truth(taste) <= high)


def ranking_rows(seeds: int = SEEDS) -> Iterable[Row]:
    for cell, taste in product(RANKING_CELLS, TASTES):
        shares = np.mean([ranking_covered(cell, taste, seed) for seed in range(seeds)], axis=0)
        strengths, spearman = shares[:-1].mean(), shares[-1]
        for name, share, (least, most) in (
            ("strengths", strengths, ALLOWED),
            ("mean Spearman", spearman, SPEARMAN_ALLOWED),
        ):
            claim = (
                f"coverage of {name} of rankings of 4, {cell.annotators} annotators × {cell.each} rankings,"
                f" {cell.prompts} prompts, tastes differ by sd {taste}, {seeds} seeds"
            )
            yield Row(claim, f"{share:.3f}", f"{least} to {most}", bool(least <= share <= most))


def run(seeds: int = SEEDS) -> Iterable[Row]:
    for cell, taste in product(CELLS, TASTES):
        studies = pd.DataFrame([covered(cell, taste, seed) for seed in range(seeds)])
        for measure, share in studies.mean().items():
            claim = (
                f"coverage of {measure} of 4 items, {cell.annotators} annotators × {cell.each} comparisons,"
                f" {cell.prompts} prompts, tastes differ by sd {taste}, {seeds} seeds"
            )
            kept = ALLOWED[0] <= share <= ALLOWED[1]
            yield Row(claim, f"{share:.3f}", f"{ALLOWED[0]} to {ALLOWED[1]}", kept)
    yield from ranking_rows()
    frame = drawn(Cell(1_000, 500, LARGE // 500), np.linspace(-1, 1, 50), 0.4, np.random.default_rng(3))
    begin = time.process_time()
    preference_strengths(frame)
    seconds = time.process_time() - begin
    yield Row(
        "a million comparisons of 50 models with intervals, processor time",
        f"{seconds:.1f} s",
        f"{LARGE_SECONDS:.0f} s",
        seconds <= LARGE_SECONDS,
    )
