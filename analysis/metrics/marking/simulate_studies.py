"""Studies simulated from assumed rates: annotators' marks, and the bootstrap results of each study."""

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

import numpy as np
from scipy.special import betaincinv, ndtri

from analysis.metrics.data.arrays import Array, ratio

_QUANTILES = 1 << 16  # of the distribution from which images' rates are drawn
_HELD_AT_ONCE = 250_000  # numbers in one working array: few enough for the processor's cache
_GROUPS_READ = 4  # groups whose θ is computed in each study
_THREADS = 2
_CHUNK = 50  # studies made from one stream of random numbers
_STREAM = 6
# Measured: processor time of one study and of each number in it, and the limit for a design.
_SECONDS_A_STUDY, _SECONDS_A_NUMBER, _SECONDS = 0.25e-3, 4.5e-9, 6
_MOST_LATENT = -float(ndtri(1e-9))


@dataclass(frozen=True)
class Assumptions:
    """The expected results of a study."""

    stereotype: float
    random: float
    agreement: float
    annotator_sd: float


@dataclass(frozen=True)
class Design:
    """The size of a study."""

    images: int
    annotators: int
    annotators_per_task: int
    stereotypes: int
    random_attributes: int
    groups: int

    @property
    def judgements_per_attribute(self) -> int:
        """Judgements of one attribute in the images of one group."""
        return self.images * self.annotators_per_task


@dataclass(frozen=True, eq=False)
class SimulatedStudies:
    """Resampled statistics of each simulated study.

    `likelihood` (2 × studies × resamples): of one stereotype and one random attribute of a group; `share` (2 ×
    studies): the marked share of each. `theta`: studies × computed groups × resamples. `pooled` (studies × resamples):
    θ over all groups.
    """

    likelihood: Array
    share: Array
    theta: Array
    pooled: Array


def simulate_studies(
    design: Design, assumed: Assumptions, *, simulations: int, resamples: int, key: tuple[int, int]
) -> SimulatedStudies:
    """Simulate a design. `key`, its seed and number, gives the same studies whatever the number of threads."""
    latent = [latent_rates(mean, assumed) for mean in (assumed.stereotype, assumed.random)]
    sequence = np.random.SeedSequence(key[0], spawn_key=(_STREAM, key[1]))
    sizes = [min(_CHUNK, simulations - start) for start in range(0, simulations, _CHUNK)]

    def chunk(size: int, stream: np.random.SeedSequence) -> list[tuple[Array, ...]]:
        generator = np.random.default_rng(stream)
        return [_study(design, assumed, latent, resamples, generator) for _ in range(size)]

    with ThreadPoolExecutor(_THREADS) as threads:
        chunks = threads.map(chunk, sizes, sequence.spawn(len(sizes)))
        studies = [study for made in chunks for study in made]
    likelihood, share, theta, pooled = (np.stack(parts) for parts in zip(*studies, strict=True))
    return SimulatedStudies(likelihood.transpose(1, 0, 2), share.T, theta, pooled)


def affordable_simulations(design: Design, resamples: int) -> int:
    """Return how many studies of a design can be simulated in a few seconds: at most 4,000."""
    numbers = design.groups * design.judgements_per_attribute * resamples
    seconds = _SECONDS_A_STUDY + numbers * _SECONDS_A_NUMBER
    return int(min(max(_SECONDS // seconds, 200), 4_000))


def latent_rates(mean: float, assumed: Assumptions) -> Array:
    """Quantiles of √(1 + τ²)·Φ⁻¹(p), where p ~ Beta of this mean and intraclass correlation `agreement`."""
    if assumed.agreement > 0:
        size = 1 / assumed.agreement - 1
        middles = (np.arange(_QUANTILES) + 0.5) / _QUANTILES
        rates = betaincinv(mean * size, (1 - mean) * size, middles)
    else:
        rates = np.full(1, mean)
    latent = np.clip(ndtri(rates), -_MOST_LATENT, _MOST_LATENT)
    return np.asarray(latent * np.sqrt(1 + assumed.annotator_sd**2), dtype=np.float32)


def _study(
    design: Design,
    assumed: Assumptions,
    latent: list[Array],
    resamples: int,
    generator: np.random.Generator,
) -> tuple[Array, ...]:
    everybody = draw_annotators(design, generator)
    # Annotators without judgements are not in the data, so the bootstrap cannot draw them.
    present, everybody = np.unique(everybody, return_inverse=True)
    people_weights = _draws(1, len(present), resamples, generator)[0]
    skew = (assumed.annotator_sd * generator.standard_normal(len(present))).astype(np.float32)
    theta: list[Array] = []
    sums = np.zeros((2, resamples))
    first: tuple[Array, Array] | None = None
    for groups in _group_chunks(design, resamples):
        who = everybody[groups]
        marks = draw_marks(design, latent, skew[who], generator)
        weights = _task_weights(people_weights, who, generator)
        means = _role_means(design, marks, weights)  # 2 × groups × resamples
        sums += np.nan_to_num(means).sum(axis=1)
        first = first or _one_attribute_each(marks[0], weights[0])
        read = means[:, : _GROUPS_READ - len(theta), :]
        with np.errstate(invalid="ignore", divide="ignore"):
            theta += list(read[0] / read[1])
    assert first is not None
    with np.errstate(invalid="ignore", divide="ignore"):
        pooled = sums[0] / sums[1]
    return first[0], first[1], np.stack(theta), pooled


def _group_chunks(design: Design, resamples: int) -> Iterator[slice]:
    """Yield the groups that are simulated together."""
    at_once = max(1, _HELD_AT_ONCE // (design.judgements_per_attribute * resamples))
    for start in range(0, design.groups, at_once):
        yield slice(start, start + at_once)


def draw_annotators(design: Design, generator: np.random.Generator) -> Array:
    """Return the annotators of each task (groups × images × per task): different people, all equally likely."""
    shape = (design.groups, design.images)
    if design.annotators_per_task == 1:
        return generator.integers(design.annotators, size=(*shape, 1))
    order = generator.random((*shape, design.annotators), dtype=np.float32)
    return np.argpartition(order, design.annotators_per_task - 1, axis=2)[:, :, : design.annotators_per_task]


def draw_marks(design: Design, latent: list[Array], skew: Array, generator: np.random.Generator) -> Array:
    """Return the marks (groups × images × per task × attributes, stereotypes first), as 0 and 1.

    Annotator r marks where a standard normal number is below √(1 + τ²)·Φ⁻¹(p_u) + τ·v_r; `skew` is τ·v_r (groups ×
    images × per task).
    """
    rates = np.concatenate(
        [
            quantiles[generator.integers(len(quantiles), size=(*skew.shape[:2], number))]
            for quantiles, number in zip(latent, (design.stereotypes, design.random_attributes), strict=True)
        ],
        axis=2,
    )
    threshold = rates[:, :, None, :] + skew[:, :, :, None]
    return (generator.standard_normal(threshold.shape, dtype=np.float32) < threshold).astype(np.float32)


def _task_weights(people_weights: Array, who: Array, generator: np.random.Generator) -> Array:
    """Return how often each judgement is drawn, from images' and annotators' draws (groups × judgements ×
    resamples)."""
    groups, images, per_task = who.shape
    image_weights = _draws(groups, images, people_weights.shape[1], generator)
    weights = people_weights[who] * image_weights[:, :, None, :]
    return weights.reshape(groups, images * per_task, -1)


def _draws(strata: int, size: int, resamples: int, generator: np.random.Generator) -> Array:
    """Draw each stratum with replacement, keeping its size; return how often each member is drawn."""
    drawn = generator.integers(size, size=(strata, size, resamples), dtype=np.int32)
    places = (np.arange(strata)[:, None, None] * size + drawn) * resamples + np.arange(resamples)
    times = np.bincount(places.ravel(), minlength=strata * size * resamples)
    return times.astype(np.float32).reshape(strata, size, resamples)


def _role_means(design: Design, marks: Array, weights: Array) -> Array:
    """Return L(stereotype) and L(random) (2 × groups × resamples); NaN if all judgements have weight 0."""
    judgements = marks.reshape(len(marks), -1, marks.shape[-1])
    per_judgement = np.stack(
        [
            judgements[:, :, : design.stereotypes].mean(axis=2),
            judgements[:, :, design.stereotypes :].mean(axis=2),
            np.ones(judgements.shape[:2], dtype=np.float32),
        ],
        axis=1,
    )
    sums = (per_judgement @ weights).astype(float)
    return np.stack([ratio(sums[:, 0], sums[:, 2]), ratio(sums[:, 1], sums[:, 2])])


def _one_attribute_each(marks: Array, weights: Array) -> tuple[Array, Array]:
    """Return L of one stereotype and one random attribute of a group (2 × resamples), and the marked share of each."""
    both = marks.reshape(-1, marks.shape[-1])[:, [0, -1]]
    return ratio(both.T @ weights, weights.sum(axis=0)[None]), both.mean(axis=0)
