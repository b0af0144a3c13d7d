"""Coverage of the 95 % intervals of agreement on labels and on points.

    python -m benchmarks coverage_choices        (make bench)

Annotators differ in the frequency and size of their errors, images in difficulty. The truth is that of forty
thousand images, each answered by three different annotators.
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import cache

import numpy as np
import pandas as pd

from analysis.metrics import Result, krippendorff_alpha_sets, point_agreement
from benchmarks.table import Row

SEEDS = 200  # a share of 0.95 has a standard error of 0.015
ALLOWED = (0.92, 0.998)
LABELS = np.array(["hat", "drum", "boat", "kite"])
LARGE = 40_000


@dataclass(frozen=True)
class Cell:
    """A study: each image is answered by `each` of the annotators."""

    images: int
    annotators: int
    each: int


CELLS = (Cell(40, 8, 8), Cell(150, 12, 3), Cell(100, 40, 5))
TRUTH = Cell(LARGE, 3 * LARGE, 3)


def assigned(cell: Cell, generator: np.random.Generator) -> pd.DataFrame:
    """Return the annotators of each image."""
    if cell.annotators == cell.images * cell.each:
        annotator = np.arange(cell.annotators)
    else:
        shuffled = np.argsort(generator.random((cell.images, cell.annotators)), axis=1)
        annotator = shuffled[:, : cell.each].ravel()
    return pd.DataFrame({"image": np.repeat(np.arange(cell.images), cell.each), "annotator": annotator})


def labelled(cell: Cell, generator: np.random.Generator) -> pd.DataFrame:
    """Return labels; the probability of an error depends on the annotator and the image."""
    frame = assigned(cell, generator)
    truth = generator.random((cell.images, len(LABELS))) < 0.4
    logit = -1.5 + generator.normal(0, 0.6, cell.annotators)[frame["annotator"]]
    logit += generator.normal(0, 0.6, cell.images)[frame["image"]]
    errs = generator.random((len(frame), len(LABELS))) < 1 / (1 + np.exp(-logit[:, None]))
    chosen = truth[frame["image"]] ^ errs
    return frame.assign(labels=[LABELS[row].tolist() for row in chosen])


def pointed(cell: Cell, generator: np.random.Generator) -> pd.DataFrame:
    """Return points around the image's point, at distances that depend on the annotator and the image."""
    frame = assigned(cell, generator)
    far = 0.03 * np.exp(generator.normal(0, 0.4, cell.annotators)[frame["annotator"]])
    far *= np.exp(generator.normal(0, 0.4, cell.images)[frame["image"]])
    place = generator.uniform(0.3, 0.7, (cell.images, 2))[frame["image"]]
    place = np.clip(place + far[:, None] * generator.normal(size=place.shape), 0, 1)
    return frame.assign(x=place[:, 0], y=place[:, 1], width=512, height=512)


Study = Callable[[Cell, np.random.Generator], pd.DataFrame]
STUDIES: dict[str, tuple[Study, Callable[[pd.DataFrame], Result]]] = {
    # The jackknife draws nothing, so a single resample is enough.
    "α of sets of labels (MASI)": (labelled, lambda frame: krippendorff_alpha_sets(frame, resamples=1)),
    "agreement of points": (pointed, point_agreement),
}


@cache
def truth(name: str) -> float:
    study, measure = STUDIES[name]
    return float(measure(study(TRUTH, np.random.default_rng(13))).table["value"].iloc[0])


def covers(name: str, cell: Cell, seed: int) -> bool:
    """Return whether the interval of a study covers the truth. A null interval covers nothing."""
    study, measure = STUDIES[name]
    row = measure(study(cell, np.random.default_rng([seed, cell.images]))).table.iloc[0]
    if pd.isna(row["ci_low"]):
        return False
    return bool(row["ci_low"] <= truth(name) <= row["ci_high"])


def run(seeds: int = SEEDS) -> Iterable[Row]:
    for name in STUDIES:
        for cell in CELLS:
            share = float(np.mean([covers(name, cell, seed) for seed in range(seeds)]))
            claim = (
                f"coverage of {name}, {cell.images} images, {cell.each} of {cell.annotators} annotators each,"
                f" {seeds} seeds"
            )
            yield Row(
                claim, f"{share:.3f}", f"{ALLOWED[0]} to {ALLOWED[1]}", ALLOWED[0] <= share <= ALLOWED[1]
            )
