"""Coverage of the 95 % intervals of agreement, for a population of annotators and images.

    python -m benchmarks coverage        (make bench ARGS=coverage)

An image shows an attribute more or less clearly: z, normal with mean −1 and sd 2 on the logit scale. An annotator
has a threshold t, normal with the sd of the cell, and marks the attribute with probability 1/(1 + exp(t − z)). Each
study draws new images and new annotators. The truth is the measure for infinitely many images, each judged by
infinitely many annotators: an integral over z and t (Gauss–Hermite). Everybody judges every image, or `per_image`
annotators are drawn for each. Ratings of five grades come from four cuts of the same scale. For boxes, annotators
differ by a personal offset and at random; the truth is that of a million pairs of drawings.

The measures are those of `analysis.metrics`, called as `analyze` calls them. Two processes; 400 studies per cell.
"""

import multiprocessing
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import cache, partial

import numpy as np
import pandas as pd

from analysis.metrics import (
    Judgements,
    box_agreement,
    fleiss_kappa,
    gwet_ac,
    krippendorff_alpha,
    observed_agreement,
)
from analysis.metrics.agreement.gwet_ac import weight_matrix
from analysis.metrics.boxes.geometry import iou
from analysis.metrics.data.arrays import Array
from analysis.metrics.data.results import Result
from benchmarks.table import Row

SEEDS = 400
ALLOWED = (0.93, 0.995)
WIDE = (0.90, 1.0)  # of the other measures, and with few answers per image: see docs/use/reference/metrics.md
CLEARNESS = (-1.0, 2.0)  # mean and sd of z
CUTS = (-3.0, -1.0, 1.0, 3.0)  # of the five grades
GRADES = (1, 2, 3, 4, 5)
PROCESSES = 2

Measured = Callable[..., Result]


@dataclass(frozen=True)
class Study:
    """A type of study: sd of annotators' thresholds, numbers of annotators and images, and answers per image."""

    sd: float
    annotators: int
    images: int
    per_image: int | None = None

    @property
    def words(self) -> str:
        answers = f", {self.per_image} an image" if self.per_image else ""
        return f"sd {self.sd}, {self.annotators} annotators × {self.images} images{answers}"


CROSSED = tuple(
    Study(sd, annotators, images)
    for sd in (0.4, 0.8, 1.2)
    for annotators in (6, 8, 12, 40)
    for images in (30, 160, 600)
)
THREE_EACH = tuple(Study(sd, people, 160, 3) for sd in (0.4, 1.2) for people in (8, 40))
OTHERS = tuple(
    Study(sd, annotators, images) for sd in (0.4, 1.2) for annotators in (6, 12, 40) for images in (30, 600)
)
RATED = tuple(Study(0.8, annotators, 160) for annotators in (6, 12, 40))
BOXED = tuple(Study(0.03, annotators, 40, 4) for annotators in (6, 12, 40))


def marks(study: Study, generator: np.random.Generator) -> pd.DataFrame:
    """Return the judgements of one study."""
    image, annotator, latent = _answers(study, generator)
    present = generator.random(len(latent)) < _logistic(latent)
    return pd.DataFrame(
        {
            "image": image,
            "identity_group": 0,
            "attribute": 0,
            "annotator": annotator,
            "present": present.astype(int),
        }
    )


def ratings(study: Study, generator: np.random.Generator) -> pd.DataFrame:
    """Return the ratings of one study, with as many attributes as images."""
    image, annotator, latent = _answers(study, generator)
    noisy = latent + generator.logistic(size=len(latent))
    return pd.DataFrame(
        {"attribute": image, "annotator": annotator, "rating": 1 + np.searchsorted(CUTS, noisy)}
    )


def _answers(study: Study, generator: np.random.Generator) -> tuple[Array, Array, Array]:
    """Return image, annotator and z − t of every answer."""
    mean, sd = CLEARNESS
    clear = mean + sd * generator.standard_normal(study.images)
    threshold = study.sd * generator.standard_normal(study.annotators)
    each = study.per_image or study.annotators
    order = np.argsort(generator.random((study.images, study.annotators)), axis=1)[:, :each]
    image, annotator = np.repeat(np.arange(study.images), each), order.ravel()
    return image, annotator, clear[image] - threshold[annotator]


def boxes(study: Study, generator: np.random.Generator) -> pd.DataFrame:
    """Return one box for each answer; `sd` is that of annotators' offsets, as a share of the image."""
    image, annotator, _ = _answers(study, generator)
    centre = generator.uniform(0.35, 0.65, (study.images, 2))
    offset = study.sd * generator.standard_normal((study.annotators, 2))
    drawn = _box(centre[image] + offset[annotator], generator)
    frame = pd.DataFrame(drawn, columns=["x0", "y0", "x1", "y1"])
    return frame.assign(image=image, attribute=0, annotator=annotator, judgement=np.arange(len(image)))


def _box(centre: Array, generator: np.random.Generator) -> Array:
    centre = centre + 0.02 * generator.standard_normal(centre.shape)
    side = 0.15 * np.exp(0.1 * generator.standard_normal(centre.shape))
    return np.clip(np.concatenate([centre - side, centre + side], axis=1), 0, 1)


@cache
def truth_of_marks(sd: float) -> dict[str, float]:
    nodes, weights = _normal()
    given = _logistic(CLEARNESS[0] + CLEARNESS[1] * nodes[:, None] - sd * nodes) @ weights
    return _coefficients(np.stack([1 - given, given], axis=1), (0, 1))


@cache
def truth_of_ratings(sd: float) -> dict[str, float]:
    nodes, weights = _normal()
    latent = CLEARNESS[0] + CLEARNESS[1] * nodes[:, None] - sd * nodes
    above = [np.ones(len(nodes)), *(_logistic(latent - cut) @ weights for cut in CUTS), np.zeros(len(nodes))]
    return _coefficients(-np.diff(np.stack(above, axis=1), axis=1), GRADES)


def _coefficients(given: Array, categories: tuple[int, ...]) -> dict[str, float]:
    """Return population values from the share of each category at each node of z (nodes × categories)."""
    _, weights = _normal()
    share = weights @ given
    together = (given * weights[:, None]).T @ given  # both of two annotators' answers about an image
    q = len(categories)
    below = np.cumsum(share) - share / 2
    same = np.eye(q)

    def alpha(distance: Array) -> float:
        return float(1 - (together * distance).sum() / (np.outer(share, share) * distance).sum())

    def corrected(agreeing: Array, expected: float) -> float:
        return float(((together * agreeing).sum() - expected) / (1 - expected))

    quadratic = weight_matrix(categories, "quadratic")
    return {
        "nominal": alpha(1 - same),
        "ordinal": alpha((below[:, None] - below) ** 2),
        "kappa": corrected(same, (share**2).sum()),
        "ac1": corrected(same, (share * (1 - share)).sum() / (q - 1)),
        "ac2": corrected(quadratic, quadratic.sum() * (share * (1 - share)).sum() / (q * (q - 1))),
        "observed": float(np.trace(together)),
    }


@cache
def truth_of_boxes(sd: float) -> dict[str, float]:
    generator = np.random.default_rng(0)
    centre, other = generator.uniform(0.35, 0.65, (2, 1_000_000, 2))
    people = sd * generator.standard_normal((3, 1_000_000, 2))
    first, second, elsewhere = (
        _box(at + offset, generator) for at, offset in zip((centre, centre, other), people, strict=True)
    )
    same = iou(first, second)
    return {
        "box_mean_iou": float(same.mean()),
        "box_iou_above_0.5": float((same > 0.5).mean()),
        "box_alpha": float(1 - (1 - same).mean() / (1 - iou(first, elsewhere)).mean()),
    }


def _normal() -> tuple[Array, Array]:
    nodes, weights = np.polynomial.hermite_e.hermegauss(81)
    return nodes, weights / weights.sum()


def _logistic(values: Array) -> Array:
    return 1 / (1 + np.exp(-values))


OF_ALPHA: dict[str, Measured] = {"nominal": krippendorff_alpha}
OF_MARKS: dict[str, Measured] = {
    "kappa": fleiss_kappa,
    "ac1": gwet_ac,
    "observed": observed_agreement,
}
OF_RATINGS: dict[str, Measured] = {
    "ordinal": partial(krippendorff_alpha, level="ordinal", unsure="middle"),
    "ac2": partial(gwet_ac, kind="ac2", unsure="middle"),
}
NAMES = {
    "nominal": "α",
    "kappa": "Fleiss’ κ",
    "ac1": "AC1",
    "observed": "observed agreement",
    "ordinal": "α ordinal",
    "ac2": "AC2",
    "box_mean_iou": "mean IoU",
    "box_iou_above_0.5": "share of IoU above 0.5",
    "box_alpha": "α of boxes",
}


def covered(kind: str, study: Study, seed: int) -> dict[str, bool]:
    """Return whether each interval of one simulated study covers the truth. A null interval covers nothing."""
    generator = np.random.default_rng([seed, study.annotators, study.images, round(study.sd * 100)])
    if kind == "boxes":
        truth = truth_of_boxes(study.sd)
        table = box_agreement(boxes(study, generator), resamples=1).table.set_index("measure")
        return {name: _covers(table.loc[[name]], value) for name, value in truth.items()}
    data: pd.DataFrame | Judgements
    if kind == "ratings":
        data, measures, truth = ratings(study, generator), OF_RATINGS, truth_of_ratings(study.sd)
    else:
        data, truth = Judgements.of(marks(study, generator)), truth_of_marks(study.sd)
        measures = OF_ALPHA if kind == "alpha" else OF_MARKS
    return {
        name: _covers(measure(data, resamples=1).table, truth[name]) for name, measure in measures.items()
    }


def _covers(table: pd.DataFrame, truth: float) -> bool:
    low, high = (table[end].to_numpy(dtype=float, na_value=np.nan)[0] for end in ("ci_low", "ci_high"))
    return bool(low <= truth <= high)


def coverage(kind: str, study: Study, seeds: int = SEEDS) -> dict[str, float]:
    """Return the share of simulated studies whose interval covers the truth, per measure."""
    outcomes = [covered(kind, study, seed) for seed in range(seeds)]
    return {name: sum(outcome[name] for outcome in outcomes) / seeds for name in outcomes[0]}


def run(seeds: int = SEEDS) -> Iterable[Row]:
    started = time.monotonic()
    kinds = [("alpha", study) for study in (*CROSSED, *THREE_EACH)]
    kinds += [("marks", study) for study in (*OTHERS, *THREE_EACH)]
    kinds += [("ratings", study) for study in RATED] + [("boxes", study) for study in BOXED]
    with multiprocessing.get_context("spawn").Pool(PROCESSES) as pool:
        shares = pool.imap(_coverage, [(kind, study, seeds) for kind, study in kinds])
        for (kind, study), coverage in zip(kinds, shares, strict=True):
            least, most = ALLOWED if kind == "alpha" and study.per_image is None else WIDE
            for name, share in coverage.items():
                yield Row(
                    f"coverage of {NAMES[name]}, {study.words}",
                    f"{share:.3f}",
                    f"{least} to {most}",
                    least <= share <= most,
                )
    minutes = (time.monotonic() - started) / 60
    yield Row(
        "coverage of agreement: how long these took", f"{minutes:.1f} min", "minutes on two cores", True
    )


def _coverage(arguments: tuple[str, Study, int]) -> dict[str, float]:
    return coverage(*arguments)
