"""Planning: how wide intervals will be, and the power to tell θ from 1."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import product
from statistics import NormalDist
from typing import Any

import numpy as np
import pandas as pd
from scipy.special import ndtr, ndtri

from analysis.metrics.agreement.krippendorff_alpha import krippendorff_alpha
from analysis.metrics.data.arrays import Array, ratio
from analysis.metrics.data.judgements import Judgements
from analysis.metrics.data.results import Result, counts, labels, numbers, words
from analysis.metrics.data.roles import stereotype_cells
from analysis.metrics.data.validation import require_share, require_whole
from analysis.metrics.marking.role_means import role_means
from analysis.metrics.resampling.bootstrap import multinomial_weights
from analysis.metrics.resampling.intervals import percentile_intervals, wilson

DEFAULT_AGREEMENT = 0.35  # α of presence in the released ViSAGe annotations
NEVER_BOUNDED = "never_bounded"
_LATENT_Z = NormalDist().inv_cdf(1 - 1e-9)


@dataclass(frozen=True)
class Assumptions:
    """What a study is expected to find."""

    stereotype: float
    random: float
    agreement: float
    annotator_sd: float


@dataclass(frozen=True)
class Design:
    images: int
    annotators: int
    annotators_per_task: int
    stereotypes: int
    random_attributes: int
    groups: int


def plan_precision(
    *,
    images: int | Sequence[int] = 15,
    annotators: int | Sequence[int] = 30,
    annotators_per_task: int | Sequence[int] = 3,
    stereotypes: int | Sequence[int] = 8,
    random_attributes: int | Sequence[int] = 8,
    groups: int | Sequence[int] = 1,
    likelihood_stereotype: float | None = None,
    likelihood_random: float | None = None,
    agreement: float | None = None,
    annotator_sd: float = 0.25,
    pilot: Any = None,
    roles: pd.DataFrame | None = None,
    simulations: int = 200,
    resamples: int = 200,
    seed: int = 0,
) -> Result:
    """Expected half-width of L and θ, and power to tell θ from 1, by simulating studies and bootstrapping
    each.

    Designs: every combination of `images` per group, `annotators` in the pool, `annotators_per_task`,
    `stereotypes` and `random_attributes` per group, `groups`. What is found comes from `pilot` (judgements,
    with `roles`) or from `likelihood_stereotype`, `likelihood_random` and `agreement` (Krippendorff's α of
    presence), which override it. A unit is marked with probability p_u ~ Beta of mean L and intraclass
    correlation `agreement`; annotator r marks with Φ(√(1 + τ²)·Φ⁻¹(p_u) + τ·v_r), τ = `annotator_sd`, v_r
    standard normal, so that the mean stays L.

    Table: the design, judgements, measure ("likelihood_stereotype", "likelihood_random": one attribute of one
    group; "theta": one group; "theta_pooled": all groups), assumed value, half_width (median over simulated
    studies of half the 95 % interval), without_interval (share of studies without a bounded interval), power
    (share whose interval excludes 1; θ only), reason. Null half_width where under half of the studies have an
    interval: `never_bounded`.
    """
    simulations = require_whole(simulations, "simulations", 10)
    resamples = require_whole(resamples, "resamples", 50)
    seed = require_whole(seed, "seed", 0)
    assumed = _assumed(pilot, roles, likelihood_stereotype, likelihood_random, agreement, annotator_sd)
    axes = [
        _axis(value, name, least)
        for value, name, least in (
            (images, "images", 2),
            (annotators, "annotators", 1),
            (annotators_per_task, "annotators_per_task", 1),
            (stereotypes, "stereotypes", 1),
            (random_attributes, "random_attributes", 1),
            (groups, "groups", 1),
        )
    ]
    frames = []
    for number, values in enumerate(product(*axes)):
        design = Design(*values)
        if design.annotators_per_task > design.annotators:
            raise ValueError(
                f"annotators_per_task: {design.annotators_per_task} of a pool of only {design.annotators}"
            )
        frames.append(_simulate(design, assumed, simulations, resamples, (seed, number)))
    return Result(
        table=pd.concat(frames, ignore_index=True),
        used=0,
        method=f"{simulations} simulated studies, pigeonhole bootstrap of each",
        seed=seed,
        resamples=resamples,
        notes={"assumed": assumed},
    )


def _assumed(
    pilot: Any,
    roles: pd.DataFrame | None,
    stereotype: float | None,
    random: float | None,
    agreement: float | None,
    annotator_sd: float,
) -> Assumptions:
    if pilot is not None:
        if roles is None:
            raise ValueError("roles: a pilot needs them, got None")
        data = Judgements.of(pilot)
        means = role_means(data, stereotype_cells(data, roles), ~data.cell_is_none)
        defined = ~np.isnan(means.stereo) & ~np.isnan(means.random)
        if not defined.any():
            raise ValueError("pilot: no group in it was shown both stereotypes and random attributes")
        stereotype = float(means.stereo[defined].mean()) if stereotype is None else stereotype
        random = float(means.random[defined].mean()) if random is None else random
        alpha = krippendorff_alpha(data, resamples=0).rows()[0]["value"]
        agreement = agreement if agreement is not None or alpha is None else max(float(alpha), 0.0)
    for value, name in ((stereotype, "likelihood_stereotype"), (random, "likelihood_random")):
        if value is None:
            raise ValueError(f"{name}: give it, or a pilot, got None")
        if not 0 < require_share(value, name) < 1:
            raise ValueError(f"{name}: expected a number between 0 and 1, both excluded, got {value!r}")
    agreement = require_share(DEFAULT_AGREEMENT if agreement is None else agreement, "agreement")
    if not isinstance(annotator_sd, (int, float)) or not 0 <= annotator_sd < np.inf:
        raise ValueError(f"annotator_sd: expected a number of at least 0, got {annotator_sd!r}")
    assert stereotype is not None
    assert random is not None
    return Assumptions(stereotype, random, min(agreement, 0.999), float(annotator_sd))


def _axis(value: int | Sequence[int], name: str, least: int) -> list[int]:
    values = list(value) if isinstance(value, (list, tuple, range)) else [value]
    return [require_whole(level, name, least) for level in values]


def _simulate(
    design: Design, assumed: Assumptions, simulations: int, resamples: int, key: tuple[int, int]
) -> pd.DataFrame:
    generator = np.random.default_rng(np.random.SeedSequence(key[0], spawn_key=(6, key[1])))
    attributes = design.stereotypes + design.random_attributes
    mean = np.repeat([assumed.stereotype, assumed.random], [design.stereotypes, design.random_attributes])
    theta = np.empty((2, simulations, resamples))
    cells = np.empty((2, simulations, resamples))
    shares = np.empty((2, simulations))
    for study in range(simulations):
        people = multinomial_weights([design.annotators], resamples, (int(generator.integers(2**31)), 0))
        skew = generator.standard_normal(design.annotators)
        pictures = multinomial_weights(
            [design.images] * design.groups, resamples, (int(generator.integers(2**31)), 1)
        )
        sums = np.zeros((2, resamples))
        for group in range(design.groups):
            answers, who = _answers(design, assumed, mean, skew, generator)
            image_weights = pictures[group * design.images : (group + 1) * design.images]
            weights = np.repeat(image_weights, design.annotators_per_task, axis=0) * people[
                who.ravel()
            ].astype(float)
            total = weights.sum(axis=0)
            share = ratio(answers.reshape(-1, attributes).T @ weights, total)
            stereo, random = (
                share[: design.stereotypes].mean(axis=0),
                share[design.stereotypes :].mean(axis=0),
            )
            sums += np.nan_to_num(np.stack([stereo, random]))
            if group == 0:
                with np.errstate(invalid="ignore", divide="ignore"):
                    theta[0, study] = stereo / random
                cells[:, study] = share[[0, -1]]
                shares[:, study] = answers.reshape(-1, attributes)[:, [0, -1]].mean(axis=0)
        with np.errstate(invalid="ignore", divide="ignore"):
            theta[1, study] = sums[0] / sums[1]
    trials = design.images * design.annotators_per_task
    effective = trials / (1 + (design.annotators_per_task - 1) * assumed.agreement)
    measures = ("likelihood_stereotype", "likelihood_random", "theta", "theta_pooled")
    theta_value = assumed.stereotype / assumed.random
    rows = []
    for number, (samples, value) in enumerate(
        zip([*cells, *theta], [assumed.stereotype, assumed.random, theta_value, theta_value], strict=True)
    ):
        interval = percentile_intervals(samples, sparse=np.isnan(samples).mean(axis=1))
        low, high = interval.low, interval.high
        power = np.nan
        if number < 2:
            flat = interval.reason == "zero_width"
            low[flat], high[flat] = wilson(shares[number, flat], np.full(flat.sum(), effective))
        else:
            power = float(((low > 1) | (high < 1)).mean())
        half = (high - low) / 2
        bounded = ~np.isnan(half)
        width = float(np.median(half[bounded])) if bounded.mean() >= 0.5 else np.nan
        rows.append((measures[number], value, width, 1 - bounded.mean(), power))
    n_rows = len(rows) if design.groups > 1 else 3
    rows = rows[:n_rows]
    return pd.DataFrame(
        {
            **{name: counts([getattr(design, name)] * n_rows) for name in Design.__dataclass_fields__},
            "judgements": counts([trials * attributes * design.groups] * n_rows),
            "measure": labels([row[0] for row in rows]),
            "assumed": numbers([row[1] for row in rows]),
            "half_width": numbers([row[2] for row in rows]),
            "without_interval": numbers([row[3] for row in rows]),
            "power": numbers([row[4] for row in rows]),
            "reason": words(["" if np.isfinite(row[2]) else NEVER_BOUNDED for row in rows]),
        }
    )


def _answers(
    design: Design, assumed: Assumptions, mean: Array, skew: Array, generator: np.random.Generator
) -> tuple[Array, Array]:
    """Answers of one group (images × annotators per task × attributes) and who gave them (images × per
    task)."""
    shape = (design.images, len(mean))
    if assumed.agreement > 0:
        size = 1 / assumed.agreement - 1
        unit = generator.beta(mean * size, (1 - mean) * size, size=shape)
    else:
        unit = np.broadcast_to(mean, shape)
    who = np.argsort(generator.random((design.images, design.annotators)), axis=1)[
        :, : design.annotators_per_task
    ]
    latent = np.clip(ndtri(unit), -_LATENT_Z, _LATENT_Z) * np.sqrt(1 + assumed.annotator_sd**2)
    marks = ndtr(latent[:, None, :] + assumed.annotator_sd * skew[who][:, :, None])
    return (generator.random(marks.shape) < marks).astype(float), who
