"""How often the 95 % intervals of pull and of an attribute's precision cover a planted truth.

    python -m benchmarks coverage_automated        (make bench)

Pull: the images of a set scatter around a direction of the set. What the interval should cover is the pull of
the mean directions, which is known: the mean of unit vectors around a direction is that direction, shortened by
how much they scatter, and is taken from a hundred thousand drawn images.

Precision: an attribute is there with some probability, its score is drawn around 1 where it is and around 0 where it is
not, and people always see what is there. Whatever threshold is chosen, the precision above it is then known.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache
from statistics import NormalDist

import numpy as np
import pandas as pd

from analysis.metrics import concordance, pull
from benchmarks.table import Row

SEEDS, RESAMPLES = 400, 1_000
ALLOWED = (0.93, 0.995)


@dataclass(frozen=True)
class PullCell:
    """`images` per set, `attributes` per condition, `groups`; `spread`: how far images scatter."""

    name: str
    groups: int
    images: int
    attributes: int
    spread: float = 0.6
    dim: int = 16
    allowed: tuple[float, float] = ALLOWED


PULL = (
    PullCell("15 images a set", 4, 15, 5),
    PullCell("40 images a set", 4, 40, 5),
)


def around(centres: np.ndarray, images: int, spread: float, generator: np.random.Generator) -> np.ndarray:
    """Unit vectors around each centre: centres × images × dim."""
    shape = (len(centres), images, centres.shape[1])
    drawn = centres[:, None] + spread * generator.normal(size=shape)
    unit: np.ndarray = drawn / np.linalg.norm(drawn, axis=2, keepdims=True)
    return unit


@cache
def centres_and_truth(cell: PullCell) -> tuple[np.ndarray, float]:
    """Directions of the default set, the stereotypical and the other ones; the pull between their means."""
    generator = np.random.default_rng(17)
    centres = generator.normal(0.5, 1, (1 + 2 * cell.attributes, cell.dim))
    centres /= np.linalg.norm(centres, axis=1)[:, None]
    means = sum(around(centres, 2_000, cell.spread, generator).mean(axis=1) for _ in range(50)) / 50
    s, ns = means[1 : 1 + cell.attributes].mean(axis=0), means[1 + cell.attributes :].mean(axis=0)
    return centres, float(means[0] @ (s - ns))


def pull_covered(cell: PullCell, seed: int, resamples: int) -> np.ndarray:
    """Per group of one study, whether the interval covers the truth. A null interval covers nothing."""
    centres, truth = centres_and_truth(cell)
    generator = np.random.default_rng(np.random.SeedSequence([seed, len(cell.name)]))
    kinds = [("default", "")]
    kinds += [(c, str(a)) for c in ("stereotypical", "non_stereotypical") for a in range(cell.attributes)]
    rows = [(str(g), c, a) for g in range(cell.groups) for c, a in kinds for _ in range(cell.images)]
    vectors = [
        around(centres, cell.images, cell.spread, generator).reshape(-1, cell.dim) for _ in range(cell.groups)
    ]
    frame = pd.DataFrame(rows, columns=["identity_group", "condition", "attribute"])
    table = pull(frame, np.concatenate(vectors), resamples=resamples, seed=seed).table
    low, high = (table[end].to_numpy(dtype=float, na_value=np.nan) for end in ("ci_low", "ci_high"))
    return (low <= truth) & (truth <= high)


@dataclass(frozen=True)
class PrecisionCell:
    """`images`, half of which precision is reported on; `p`: share that shows the attribute; `noise` of scores."""

    name: str
    images: int
    p: float
    noise: float
    allowed: tuple[float, float] = ALLOWED


PRECISION = (PrecisionCell("200 images", 200, 0.4, 0.5), PrecisionCell("600 images", 600, 0.25, 0.4))


def precision_covered(cell: PrecisionCell, seed: int, resamples: int) -> bool:
    """Whether the interval covers the precision of the threshold that was chosen."""
    generator = np.random.default_rng(np.random.SeedSequence([seed, cell.images]))
    there = generator.random(cell.images) < cell.p
    score = there + generator.normal(0, cell.noise, cell.images)
    names = [f"{seed} {i}" for i in range(cell.images)]
    units = pd.DataFrame({"image": names, "attribute": "hat", "score": score, "present": there})
    row = concordance(units, units, target_precision=0.8, resamples=resamples, seed=seed).rows()[1]
    if row["precision_low"] is None:
        return False
    above = [1 - NormalDist(there, cell.noise).cdf(row["threshold"]) for there in (0, 1)]
    truth = cell.p * above[1] / (cell.p * above[1] + (1 - cell.p) * above[0])
    return bool(row["precision_low"] <= truth <= row["precision_high"])


def run(seeds: int = SEEDS) -> Iterable[Row]:
    for cell in PULL:
        share = float(np.mean([pull_covered(cell, seed, RESAMPLES) for seed in range(seeds)]))
        claim = f"coverage of pull, {cell.name} ({cell.groups} groups, {seeds} seeds)"
        least, most = cell.allowed
        yield Row(claim, f"{share:.3f}", f"{least} to {most}", least <= share <= most)
    for kind in PRECISION:
        share = float(np.mean([precision_covered(kind, seed, RESAMPLES) for seed in range(seeds)]))
        claim = f"coverage of an attribute's precision, {kind.name} ({seeds} seeds)"
        least, most = kind.allowed
        yield Row(claim, f"{share:.3f}", f"{least} to {most}", least <= share <= most)
