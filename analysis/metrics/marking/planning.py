"""Planning: the expected width of intervals, and the power to distinguish θ from 1."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import product
from typing import Any

import numpy as np
import pandas as pd

from analysis.metrics.agreement.krippendorff_alpha import krippendorff_alpha
from analysis.metrics.data.arrays import Array
from analysis.metrics.data.judgements import Judgements
from analysis.metrics.data.results import Result, counts, labels, numbers, words
from analysis.metrics.data.roles import stereotype_cells
from analysis.metrics.data.validation import require_share, require_whole
from analysis.metrics.marking.role_means import role_means
from analysis.metrics.marking.simulate_studies import (
    Assumptions,
    Design,
    SimulatedStudies,
    affordable_simulations,
    simulate_studies,
)
from analysis.metrics.resampling.intervals import ZERO_WIDTH, percentile_intervals, wilson

DEFAULT_AGREEMENT = 0.35  # α of presence in the released ViSAGe annotations
DEFAULT_RESAMPLES = 300  # with 1,000, the power changes by less than 0.01
DEFAULT_ANNOTATOR_SD = 0.25
NEVER_BOUNDED = "never_bounded"


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
    annotator_sd: float = DEFAULT_ANNOTATOR_SD,
    pilot: Any = None,
    roles: pd.DataFrame | None = None,
    simulations: int | None = None,
    resamples: int = DEFAULT_RESAMPLES,
    seed: int = 0,
) -> Result:
    """Expected half-width of L and θ, and power to distinguish θ from 1, by simulating studies and bootstrapping each.

    Designs: every combination of `images` per group, `annotators` in the pool, `annotators_per_task`, `stereotypes` and
    `random_attributes` per group, `groups`. The assumed results come from `pilot` (judgements, with `roles`) or from
    `likelihood_stereotype`, `likelihood_random` and `agreement` (Krippendorff's α of presence), which override it. A
    unit is marked with probability p_u ~ Beta of mean L and intraclass correlation `agreement`; annotator r marks with
    Φ(√(1 + τ²)·Φ⁻¹(p_u) + τ·v_r), τ = `annotator_sd`, v_r standard normal, so that the mean stays L.

    Each design is simulated `simulations` times; if None, up to 4,000 times, or fewer if that would take longer than a
    few seconds.

    Table: the design, judgements, simulations, measure ("likelihood_stereotype", "likelihood_random": one attribute of
    one group; "theta": one group; "theta_pooled": all groups), assumed value, half_width (median over simulated studies
    of half the 95 % interval), without_interval (share of studies without a bounded interval), power (share of studies
    whose interval excludes 1; θ only), power_se (its standard error due to the number of simulations), reason.
    half_width is null if under half of the studies have an interval: `never_bounded`.
    """
    if simulations is not None:
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
                f"annotators_per_task: must be at most the number of annotators, {design.annotators}, "
                f"got {design.annotators_per_task}"
            )
        studies = simulations or affordable_simulations(design, resamples)
        frames.append(_rows_of(design, assumed, studies, resamples, (seed, number)))
    return Result(
        table=pd.concat(frames, ignore_index=True),
        used=0,
        method="simulated studies, pigeonhole bootstrap of each",
        seed=seed,
        resamples=resamples,
        notes={"assumed": assumed},
    )


def pilot_assumptions(pilot: Any, roles: pd.DataFrame) -> Assumptions:
    """Return the results of a pilot: mean likelihoods over groups with both roles, and α of presence.

    If the pilot has no α, the α of the released ViSAGe annotations is used; a negative α becomes 0. Raises ValueError
    if no group was shown with both stereotypes and random attributes.
    """
    data = Judgements.of(pilot)
    means = role_means(data, stereotype_cells(data, roles), ~data.cell_is_none)
    defined = ~np.isnan(means.stereo) & ~np.isnan(means.random)
    if not defined.any():
        raise ValueError("pilot: no group was shown with both stereotypes and random attributes")
    alpha = krippendorff_alpha(data, resamples=0).rows()[0]["value"]
    return Assumptions(
        stereotype=float(means.stereo[defined].mean()),
        random=float(means.random[defined].mean()),
        agreement=DEFAULT_AGREEMENT if alpha is None else max(float(alpha), 0.0),
        annotator_sd=DEFAULT_ANNOTATOR_SD,
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
            raise ValueError("roles: a pilot needs roles, got None")
        found = pilot_assumptions(pilot, roles)
        stereotype = found.stereotype if stereotype is None else stereotype
        random = found.random if random is None else random
        agreement = found.agreement if agreement is None else agreement
    for value, name in ((stereotype, "likelihood_stereotype"), (random, "likelihood_random")):
        if value is None:
            raise ValueError(f"{name}: pass a value or a pilot, got None")
        if not 0 < require_share(value, name) < 1:
            raise ValueError(f"{name}: expected a number above 0 and below 1, got {value!r}")
    agreement = require_share(DEFAULT_AGREEMENT if agreement is None else agreement, "agreement")
    if not isinstance(annotator_sd, (int, float)) or not 0 <= annotator_sd < np.inf:
        raise ValueError(f"annotator_sd: expected a number of at least 0, got {annotator_sd!r}")
    assert stereotype is not None
    assert random is not None
    return Assumptions(stereotype, random, min(agreement, 0.999), float(annotator_sd))


def _axis(value: int | Sequence[int], name: str, least: int) -> list[int]:
    values = list(value) if isinstance(value, (list, tuple, range)) else [value]
    return [require_whole(level, name, least) for level in values]


def _rows_of(
    design: Design, assumed: Assumptions, simulations: int, resamples: int, key: tuple[int, int]
) -> pd.DataFrame:
    studies = simulate_studies(design, assumed, simulations=simulations, resamples=resamples, key=key)
    theta = assumed.stereotype / assumed.random
    rows = [_likelihood_row(design, assumed, number, studies) for number in range(2)]
    rows.append(_theta_row("theta", theta, studies.theta))
    if design.groups > 1:
        rows.append(_theta_row("theta_pooled", theta, studies.pooled[:, None]))
    judgements = (
        design.judgements_per_attribute * (design.stereotypes + design.random_attributes) * design.groups
    )
    return pd.DataFrame(
        {
            **{name: counts([getattr(design, name)] * len(rows)) for name in Design.__dataclass_fields__},
            "judgements": counts([judgements] * len(rows)),
            "simulations": counts([simulations] * len(rows)),
            "measure": labels([row.measure for row in rows]),
            "assumed": numbers([row.assumed for row in rows]),
            "half_width": numbers([row.half_width for row in rows]),
            "without_interval": numbers([row.without_interval for row in rows]),
            "power": numbers([row.power for row in rows]),
            "power_se": numbers([row.power_se for row in rows]),
            "reason": words(["" if np.isfinite(row.half_width) else NEVER_BOUNDED for row in rows]),
        }
    )


@dataclass(frozen=True)
class _MeasureRow:
    measure: str
    assumed: float
    half_width: float
    without_interval: float
    power: float = np.nan
    power_se: float = np.nan


def _likelihood_row(
    design: Design, assumed: Assumptions, number: int, studies: SimulatedStudies
) -> _MeasureRow:
    """Return the row of one attribute; if resampling saw no variation, its interval is Wilson's."""
    samples = studies.likelihood[number]
    interval = percentile_intervals(samples, sparse=np.isnan(samples).mean(axis=1))
    low, high = interval.low, interval.high
    flat = interval.reason == ZERO_WIDTH
    inflation = 1 + (design.annotators_per_task - 1) * assumed.agreement
    low[flat], high[flat] = wilson(
        studies.share[number, flat], np.full(flat.sum(), design.judgements_per_attribute / inflation)
    )
    measure, value = (
        ("likelihood_stereotype", assumed.stereotype),
        ("likelihood_random", assumed.random),
    )[number]
    return _MeasureRow(measure, value, *_widths(low, high))


def _theta_row(measure: str, value: float, samples: Array) -> _MeasureRow:
    """Return the row of θ from studies × groups × resamples."""
    studies, groups, resamples = samples.shape
    flat = samples.reshape(-1, resamples)
    interval = percentile_intervals(flat, sparse=np.isnan(flat).mean(axis=1))
    excludes = ((interval.low > 1) | (interval.high < 1)).reshape(studies, groups).mean(axis=1)
    return _MeasureRow(
        measure,
        value,
        *_widths(interval.low, interval.high),
        power=float(excludes.mean()),
        power_se=float(excludes.std() / np.sqrt(studies)),
    )


def _widths(low: Array, high: Array) -> tuple[float, float]:
    """Return the median half-width (null if under half of the intervals are bounded) and the share without a bounded
    interval."""
    half = (high - low) / 2
    bounded = ~np.isnan(half)
    width = float(np.median(half[bounded])) if bounded.mean() >= 0.5 else np.nan
    return width, float(1 - bounded.mean())
