"""Coverage of the 95 % intervals of pull, of MCAS and of an attribute's precision.

    python -m benchmarks coverage_automated        (make bench)

Pull: the images of a set scatter around a direction of the set. The truth is the pull of the mean directions, which
is known: the mean of unit vectors around a direction is that direction, shortened by their scatter, which is
estimated from a hundred thousand drawn images.

MCAS: the phrases of a set scatter around a direction, images around their phrase; the truth is that of the mean over
all possible phrases. Four phrases per set, as published, are few clusters: that cell has a lower coverage, says so in
its name, and must stay above 0.85.

Precision: an attribute is present with some probability, its score is drawn around 1 if it is present and around 0 if
not, and people always recognise it. The precision above any chosen threshold is then known.
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import cache, partial
from statistics import NormalDist

import numpy as np
import pandas as pd

from analysis.metrics import concordance, mcas, pull
from analysis.metrics.data.arrays import Array
from benchmarks.table import Row

SEEDS, RESAMPLES = 400, 1_000
ALLOWED = (0.93, 0.995)
SHORT = (0.85, 0.995)


@dataclass(frozen=True)
class PullCell:
    """`images` per set, `attributes` per condition, `groups`; `spread`: scatter of images."""

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


def around(centres: Array, images: int, spread: float, generator: np.random.Generator) -> Array:
    """Return unit vectors around each centre: centres × images × dim."""
    shape = (len(centres), images, centres.shape[1])
    drawn = centres[:, None] + spread * generator.normal(size=shape)
    unit: Array = drawn / np.linalg.norm(drawn, axis=2, keepdims=True)
    return unit


@cache
def centres_and_truth(cell: PullCell) -> tuple[Array, float]:
    """Return directions of the default, stereotypical and other sets, and the pull between their means."""
    generator = np.random.default_rng(17)
    centres = generator.normal(0.5, 1, (1 + 2 * cell.attributes, cell.dim))
    centres /= np.linalg.norm(centres, axis=1)[:, None]
    means = sum(around(centres, 2_000, cell.spread, generator).mean(axis=1) for _ in range(50)) / 50
    s, ns = means[1 : 1 + cell.attributes].mean(axis=0), means[1 + cell.attributes :].mean(axis=0)
    return centres, float(means[0] @ (s - ns))


def pull_covered(cell: PullCell, seed: int, resamples: int) -> Array:
    """Return whether the interval covers the truth, per group of one study. A null interval covers nothing."""
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
class McasCell:
    """`phrases` per set, each with 16 images; 20 images of the target.

    `phrase_spread`: scatter of phrases around the direction of their set. `spread`: of images around their phrase.
    """

    name: str
    phrases: int
    phrase_spread: float = 0.25
    spread: float = 0.5
    dim: int = 16
    allowed: tuple[float, float] = ALLOWED


MCAS = (McasCell("4 phrases a set", 4, allowed=SHORT), McasCell("20 phrases a set", 20))
SETS = ("drums", "kites")


def phrase_images(
    centre: Array, cell: McasCell, phrases: int, images: int, generator: np.random.Generator
) -> Array:
    """Return unit vectors, phrases × images × dim."""
    directions = centre + cell.phrase_spread * generator.normal(size=(phrases, cell.dim))
    return around(directions, images, cell.spread, generator)


@cache
def mcas_truth(cell: McasCell) -> tuple[Array, Array, float]:
    """Return directions of sets and target, vectors of the prompt and one text per set, and the MCAS of the means."""
    generator = np.random.default_rng(23)
    centres = generator.normal(0.5, 1, (3, cell.dim))
    centres /= np.linalg.norm(centres, axis=1)[:, None]
    texts = around(centres, 1, cell.spread, generator)[:, 0]
    first, second = (
        phrase_images(centre, cell, 20_000, 4, generator).mean(axis=(0, 1)) for centre in centres[:2]
    )
    target = around(centres[2:], 100_000, cell.spread, generator)[0].mean(axis=0) + texts[2]
    return centres, texts, float(target @ (first - second) + target @ (texts[0] - texts[1]))


def mcas_covered(cell: McasCell, seed: int, resamples: int) -> bool:
    """Return whether the interval of the only target covers the truth."""
    centres, texts, truth = mcas_truth(cell)
    generator = np.random.default_rng(np.random.SeedSequence([seed, cell.phrases]))
    rows = [("attribute", name, "", str(p)) for name in SETS for p in range(cell.phrases) for _ in range(16)]
    rows += [("target", "", "jobs", "potter")] * 20
    columns = ["condition", "attribute_set", "category", "phrase"]
    vectors = [phrase_images(centre, cell, cell.phrases, 16, generator) for centre in centres[:2]]
    vectors.append(around(centres[2:], 20, cell.spread, generator))
    terms = [("attribute", SETS[0], "", ""), ("attribute", SETS[1], "", ""), ("target", "", "jobs", "potter")]
    frame = pd.DataFrame(terms, columns=["kind", *columns[1:]]).assign(text=["drum", "kite", "a potter"])
    row = mcas(
        pd.DataFrame(rows, columns=columns),
        np.concatenate([part.reshape(-1, cell.dim) for part in vectors]),
        frame,
        texts,
        sets=SETS,
        permutations=1,
        resamples=resamples,
        seed=seed,
    ).rows()[0]
    return bool(row["ci_low"] <= truth <= row["ci_high"])


@dataclass(frozen=True)
class PrecisionCell:
    """`images`, of which half are for reporting precision; `p`: share that shows the attribute; `noise` of scores."""

    name: str
    images: int
    p: float
    noise: float
    allowed: tuple[float, float] = ALLOWED


PRECISION = (PrecisionCell("200 images", 200, 0.4, 0.5), PrecisionCell("600 images", 600, 0.25, 0.4))


def precision_covered(cell: PrecisionCell, seed: int, resamples: int) -> bool:
    """Return whether the interval covers the precision of the chosen threshold."""
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
    simulated: list[tuple[Callable[[int, int], Array | bool], tuple[float, float], str]] = [
        *(
            (partial(pull_covered, cell), cell.allowed, f"pull, {cell.name} ({cell.groups} groups")
            for cell in PULL
        ),
        *(
            (partial(mcas_covered, cell), cell.allowed, f"MCAS, {cell.name} (20 images of the target")
            for cell in MCAS
        ),
        *(
            (
                partial(precision_covered, cell),
                cell.allowed,
                f"an attribute's precision, {cell.name} (half reported",
            )
            for cell in PRECISION
        ),
    ]
    for covered, (least, most), what in simulated:
        share = float(np.mean([covered(seed, RESAMPLES) for seed in range(seeds)]))
        claim = f"coverage of {what}, {seeds} seeds)"
        yield Row(claim, f"{share:.3f}", f"{least} to {most}", least <= share <= most)
