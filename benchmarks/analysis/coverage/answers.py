"""Coverage of the 95 % intervals of means, shares and their differences.

    python -m benchmarks coverage_answers        (make bench)

Annotators are more or less strict, and images better or worse, than others of their model. The truth is that of very
many images, each answered by different annotators.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache
from itertools import product

import numpy as np
import pandas as pd

from analysis.metrics.answers.means import Means, answer_means
from analysis.metrics.data.arrays import Array
from benchmarks.table import Row

SEEDS = 400  # a share of 0.95 has a standard error of 0.011, that of three items together less
ALLOWED = (0.93, 0.995)
PLACES = np.array([0.0, 0.5, 1.2])  # of the items, from the middle of the scale; the third is near its end
RARE = np.array([-1.5, -0.5, 0.5])  # log odds that an answer is chosen
POINTS = (1, 5)
LARGE = 60_000


@dataclass(frozen=True)
class Cell:
    """A study: each item has `units` images, each answered by `each` of the annotators."""

    units: int
    annotators: int
    each: int


CELLS = (Cell(20, 8, 8), Cell(40, 12, 4), Cell(100, 30, 3))
DIFFERENCES = (0.0, 0.5, 1.0)  # standard deviation of annotators and of images


def drawn(cell: Cell, spread: float, generator: np.random.Generator, *, own: bool = False) -> pd.DataFrame:
    """Return answers about all items; `felt` is an annotator's perception. `own`: each image has its own annotators."""
    units = len(PLACES) * cell.units
    unit = np.repeat(np.arange(units), cell.each)
    if own:
        annotator, people = np.arange(len(unit)), len(unit)
    else:
        people = cell.annotators
        shuffled = np.argsort(generator.random((units, people)), axis=1)
        annotator = shuffled[:, : cell.each].ravel()
    felt = generator.normal(0, spread, people)[annotator] + generator.normal(0, spread, units)[unit]
    return pd.DataFrame(
        {"item": unit // cell.units, "unit": unit, "annotator": annotator, "felt": felt, "value": 0.0}
    )


def rated(frame: pd.DataFrame, generator: np.random.Generator) -> pd.DataFrame:
    """Return points of a scale: rounded, and clipped at its ends."""
    felt = 3 + PLACES[frame["item"]] + frame["felt"] + generator.normal(0, 0.8, len(frame))
    return frame.assign(value=np.clip(np.round(felt), *POINTS))


def chosen(frame: pd.DataFrame, generator: np.random.Generator) -> pd.DataFrame:
    odds = 1 / (1 + np.exp(-(RARE[frame["item"]] + frame["felt"])))
    return frame.assign(value=(generator.random(len(frame)) < odds).astype(float))


STUDIES = {"means": rated, "shares": chosen}


def measured(name: str, frame: pd.DataFrame) -> Means:
    if name == "shares":
        return answer_means(frame, share=True)
    return answer_means(frame, bounds=POINTS)


@cache
def truth(name: str, spread: float) -> Array:
    generator = np.random.default_rng(17)
    frame = STUDIES[name](drawn(Cell(LARGE, 0, 3), spread, generator, own=True), generator)
    return frame.groupby("item")["value"].mean().to_numpy()


def covered(name: str, cell: Cell, spread: float, seed: int) -> tuple[Array, Array]:
    """Return whether the interval covers the truth, per item and per pair of items. A null interval covers nothing."""
    generator = np.random.default_rng([seed, cell.units])
    result = measured(name, STUDIES[name](drawn(cell, spread, generator), generator))
    means = truth(name, spread)
    first, second = np.triu_indices(len(means), 1)
    return _within(result.table, means), _within(result.differences, means[first] - means[second])


def _within(table: pd.DataFrame, planted: Array) -> Array:
    low, high = (table[end].to_numpy(dtype=float, na_value=np.nan) for end in ("ci_low", "ci_high"))
    return (low <= planted) & (planted <= high)


def run(seeds: int = SEEDS) -> Iterable[Row]:
    for name, cell, spread in product(STUDIES, CELLS, DIFFERENCES):
        both = zip(*(covered(name, cell, spread, seed) for seed in range(seeds)), strict=True)
        for of, parts in zip((name, f"differences of {name}"), both, strict=True):
            share = float(np.mean(parts))
            claim = (
                f"coverage of {of} of 3 items, {cell.units} images each, {cell.each} of {cell.annotators} annotators,"
                f" who differ with sd {spread} as images do, {seeds} seeds"
            )
            least, most = ALLOWED
            yield Row(claim, f"{share:.3f}", f"{least} to {most}", least <= share <= most)
