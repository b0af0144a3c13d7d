"""The numbers of MCAS for one model: components, effect sizes, permutation p, intervals."""

import zlib
from dataclasses import dataclass
from itertools import combinations
from math import comb

import numpy as np

from analysis.metrics.data.arrays import Array
from analysis.metrics.embeddings.mcas_vectors import ModelAssociations, PhraseVectors
from analysis.metrics.resampling.bootstrap import multinomial_weights
from analysis.metrics.resampling.intervals import percentile_intervals
from analysis.metrics.resampling.multiplicity import permutation_p

COMPONENTS = ("ii", "itp", "ita", "tt")
HELD_AT_ONCE = 2_000_000  # numbers of one array over partitions or resamples
ROUNDING = 1e-12
_PARTITIONS, _PHRASES, _TARGETS = 6, 7, 8  # streams of the seed


@dataclass(frozen=True, eq=False)
class Scores:
    """Per target (rows): the four components; effect sizes, p and interval ends of these four and of their sum. NaN
    where undefined."""

    components: Array
    effects: Array
    p: Array
    low: Array
    high: Array
    interval_reason: Array
    image_partitions: int
    text_partitions: int
    permutations: int
    joint_exact: bool


def score(data: ModelAssociations, permutations: int, resamples: int, seed: int) -> Scores:
    images, prompts = _means(data.target_images), _means(data.target_texts)
    toward_image, toward_text = (_difference(sets) for sets in (data.image_sets, data.text_sets))
    components = np.stack(
        [images @ toward_image, prompts @ toward_image, images @ toward_text, prompts @ toward_text], axis=1
    )
    drawn = _Partitions.of(data, permutations, seed)
    low, high, reason = _intervals(data, toward_text, prompts, components, resamples, seed)
    return Scores(
        components,
        _effects(data, images, prompts, components),
        _p_values(data, images, prompts, components, drawn),
        low,
        high,
        reason,
        drawn.image_number,
        drawn.text_number,
        permutations,
        drawn.joint_exact,
    )


def _means(part: PhraseVectors) -> Array:
    """Mean vector of each phrase (or target); NaN if it has no vectors."""
    means = np.full((part.phrases, part.vectors.shape[1]), np.nan)
    filled = part.sizes > 0
    if filled.any():
        starts = (np.cumsum(part.sizes) - part.sizes)[filled]
        means[filled] = np.add.reduceat(part.vectors, starts, axis=0) / part.sizes[filled, None]
    return means


def _difference(sets: tuple[PhraseVectors, PhraseVectors]) -> Array:
    """mean(A) − mean(B) over rows, for any number of phrases; NaN if a set is empty."""
    mean_a, mean_b = (
        part.vectors.mean(axis=0) if part.rows else np.full(part.vectors.shape[1], np.nan) for part in sets
    )
    return np.asarray(mean_a - mean_b)


def _effects(data: ModelAssociations, images: Array, prompts: Array, components: Array) -> Array:
    set_images, set_texts = (
        np.concatenate([part.vectors for part in sets]) for sets in (data.image_sets, data.text_sets)
    )
    spread = [
        _spread(set_images, images),
        _spread(set_images, prompts),
        _spread(set_texts, images),
        _spread(set_texts, prompts),
    ]
    targets = images + prompts
    spread.append(np.sqrt(_spread(set_images, targets) ** 2 + _spread(set_texts, targets) ** 2))
    deviation = np.stack(spread, axis=1)
    values = np.column_stack([components, components.sum(axis=1)])
    effects: Array = np.divide(
        values, deviation, out=np.full(values.shape, np.nan), where=np.nan_to_num(deviation) > ROUNDING
    )
    return effects


def _spread(attributes: Array, targets: Array) -> Array:
    """Standard deviation (ddof 1) over A ∪ B of the cosine to each target."""
    if len(attributes) < 2:
        return np.full(len(targets), np.nan)
    return np.asarray((attributes @ targets.T).std(axis=0, ddof=1))


@dataclass(frozen=True, eq=False)
class _Partitions:
    """Which phrases belong to A: partitions × phrases. If all partitions are listed, the true one is left out.

    `joint_images[i]` and `joint_texts[i]` belong together, for the sum.
    """

    images: Array
    texts: Array
    joint_images: Array
    joint_texts: Array
    image_number: int
    text_number: int
    joint_exact: bool

    @classmethod
    def of(cls, data: ModelAssociations, permutations: int, seed: int) -> "_Partitions":
        generator = _generator(data, seed, _PARTITIONS)
        sizes = [(sets[0].phrases, sets[1].phrases) for sets in (data.image_sets, data.text_sets)]
        number = [comb(a + b, a) if a and b else 0 for a, b in sizes]
        exact_masks = [
            _all(*size) if 0 < n <= permutations else None for size, n in zip(sizes, number, strict=True)
        ]
        alone = [
            _drawn(*size, permutations, generator) if masks is None else masks[1:]
            for size, masks in zip(sizes, exact_masks, strict=True)
        ]
        exact = (
            exact_masks[0] is not None
            and exact_masks[1] is not None
            and number[0] * number[1] <= permutations
        )
        if exact and exact_masks[0] is not None and exact_masks[1] is not None:
            joint_images = np.repeat(exact_masks[0], number[1], axis=0)[1:]
            joint_texts = np.tile(exact_masks[1], (number[0], 1))[1:]
        else:
            joint_images, joint_texts = (_drawn(*size, permutations, generator) for size in sizes)
        return cls(alone[0], alone[1], joint_images, joint_texts, number[0], number[1], exact)


def _all(size_a: int, size_b: int) -> Array:
    """Every choice of `size_a` phrases out of all; the true choice comes first."""
    chosen = np.array(list(combinations(range(size_a + size_b), size_a)))
    masks = np.zeros((len(chosen), size_a + size_b))
    np.put_along_axis(masks, chosen, 1.0, axis=1)
    return masks


def _drawn(size_a: int, size_b: int, number: int, generator: np.random.Generator) -> Array:
    order = np.argsort(generator.random((number, size_a + size_b)), axis=1)
    masks = np.zeros(order.shape)
    np.put_along_axis(masks, order[:, :size_a], 1.0, axis=1)
    return masks


def _generator(data: ModelAssociations, seed: int, stream: int) -> np.random.Generator:
    """The random generator of a model, seeded by its name: its numbers must not depend on other models."""
    return np.random.default_rng(
        np.random.SeedSequence(seed, spawn_key=(stream, zlib.crc32(data.model.encode())))
    )


def _p_values(
    data: ModelAssociations,
    images: Array,
    prompts: Array,
    components: Array,
    drawn: _Partitions,
) -> Array:
    observed = np.column_stack([components, components.sum(axis=1)])
    p = np.full(observed.shape, np.nan)
    image_phrases, text_phrases = _Phrases.of(data.image_sets), _Phrases.of(data.text_sets)
    at_once = max(HELD_AT_ONCE // max(len(drawn.joint_images), 1), 1)
    for start in range(0, len(observed), at_once):
        rows = slice(start, start + at_once)
        image, prompt, truth = images[rows], prompts[rows], observed[rows]
        alone = [
            (image_phrases, image, drawn.images),
            (image_phrases, prompt, drawn.images),
            (text_phrases, image, drawn.texts),
            (text_phrases, prompt, drawn.texts),
        ]
        for component, (phrases, targets, masks) in enumerate(alone):
            if phrases.can_move:
                p[rows, component] = permutation_p(truth[:, component], phrases.differences(masks, targets))
        if (
            (image_phrases.can_move or text_phrases.can_move)
            and image_phrases.in_both_sets
            and text_phrases.in_both_sets
        ):
            joint = image + prompt
            permuted = image_phrases.differences(drawn.joint_images, joint) + text_phrases.differences(
                drawn.joint_texts, joint
            )
            p[rows, -1] = permutation_p(truth[:, -1], permuted)
    return p


@dataclass(frozen=True, eq=False)
class _Phrases:
    """Summed vectors and number of rows of each phrase, the phrases of A first."""

    sums: Array
    rows: Array
    in_both_sets: bool
    can_move: bool

    @classmethod
    def of(cls, sets: tuple[PhraseVectors, PhraseVectors]) -> "_Phrases":
        sums = np.concatenate([_means(part) * part.sizes[:, None] for part in sets])
        rows = np.concatenate([part.sizes for part in sets]).astype(float)
        phrases = [part.phrases for part in sets]
        return cls(sums, rows, min(phrases) > 0, min(phrases) > 0 and max(phrases) > 1)

    def differences(self, masks: Array, targets: Array) -> Array:
        """mean over A − mean over B of the cosine to each target, for each partition (targets × partitions)."""
        near = self.sums @ targets.T
        sum_a, number = masks @ near, masks @ self.rows
        sum_b = near.sum(axis=0) - sum_a
        return np.asarray((sum_a / number[:, None] - sum_b / (self.rows.sum() - number)[:, None]).T)


def _intervals(
    data: ModelAssociations,
    toward_text: Array,
    prompts: Array,
    components: Array,
    resamples: int,
    seed: int,
) -> tuple[Array, Array, Array]:
    """Interval ends of the components and their sum; `tt` has none, because it is constant in all resamples."""
    targets = len(components)
    low, high = np.full((2, targets, len(COMPONENTS) + 1), np.nan)
    reason = np.full(targets, "", dtype=object)
    width = max(resamples, 1)
    moved = _resampled_difference(data, resamples, seed)
    weights = multinomial_weights(data.target_images.sizes, resamples, (seed, _TARGETS))
    starts = np.cumsum(data.target_images.sizes) - data.target_images.sizes
    for row, (begin, size) in enumerate(zip(starts, data.target_images.sizes, strict=True)):
        sample = np.full((len(COMPONENTS) + 1, width), np.nan)
        if resamples:
            rows = slice(begin, begin + size)
            vectors, drawn = data.target_images.vectors[rows], weights[rows].astype(float)
            if size > 1:
                sample[0] = np.einsum("ib,ib->b", vectors @ moved, drawn) / size
                sample[2] = (vectors @ toward_text) @ drawn / size
            sample[1] = prompts[row] @ moved
            sample[4] = sample[:3].sum(axis=0) + components[row, 3]
        ends = percentile_intervals(sample)
        low[row], high[row], reason[row] = ends.low, ends.high, ends.reason[-1]
    return low, high, reason


def _resampled_difference(data: ModelAssociations, resamples: int, seed: int) -> Array:
    """mean(A) − mean(B) of the images of the sets in each resample (dim × resamples): phrases are drawn, and each time
    a phrase is drawn, its images are resampled. NaN if a set has fewer than two phrases."""
    dim = data.target_images.vectors.shape[1]
    if min(part.phrases for part in data.image_sets) < 2 or not resamples:
        return np.full((dim, resamples), np.nan)
    generator = _generator(data, seed, _PHRASES)
    means = []
    for part in data.image_sets:
        times = generator.multinomial(part.phrases, np.full(part.phrases, 1 / part.phrases), size=resamples)
        drawn = np.concatenate(
            [
                generator.multinomial(times[:, phrase] * size, np.full(size, 1 / size))
                for phrase, size in enumerate(part.sizes)
            ],
            axis=1,
        ).T
        means.append(part.vectors.T @ drawn / drawn.sum(axis=0))
    return np.asarray(means[0] - means[1])
