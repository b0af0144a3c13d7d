"""Stereotypical pull: whether a group's default images look more like its stereotypes than like other images."""

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
import pandas as pd

from analysis.metrics.data.arrays import Array
from analysis.metrics.data.results import Result, counts, labels, numbers, words
from analysis.metrics.data.validation import require_whole
from analysis.metrics.data.vector_sets import named_rows, unit_vectors
from analysis.metrics.resampling.bootstrap import DEFAULT_RESAMPLES, multinomial_weights
from analysis.metrics.resampling.intervals import SPARSE_SHARE, percentile_intervals

DEFAULT, STEREOTYPICAL, NON_STEREOTYPICAL = CONDITIONS = ("default", "stereotypical", "non_stereotypical")
NO_IMAGES_OF = {condition: f"no_{condition}_images" for condition in CONDITIONS}
ONE_IMAGE = "one_image"
ESTIMATES = ("s_d_s", "s_d_ns", "s_s_ns", "mean_similarity", "pull", "s_d_d")
HELD_AT_ONCE = 800_000  # numbers of one array over default images and resamples
_SETS = 5  # stream of the seed


def pull(images: pd.DataFrame, vectors: Any, *, resamples: int = DEFAULT_RESAMPLES, seed: int = 0) -> Result:
    """Stereotypical pull = S(d, s) − S(d, ns) per model and identity group (Jha et al. 2024).

    S(X, Y) is the mean cosine over pairs of images of two sets: d, the default images; s, the stereotypical images, one
    set for each attribute; ns, the non-stereotypical images, also one set each. S(d, s) and S(d, ns) are the mean over
    the sets of attributes, S(s, ns) over all pairs of such sets, so every attribute has the same weight, whatever its
    number of images. All are cosines, in −1 … 1. As S(X, Y) = mean(X)·mean(Y), it takes O(n·dim), never n².

    `images`: identity_group, condition (default | stereotypical | non_stereotypical), attribute (null for default)[,
    model]; `vectors`: their embeddings, rows × dim, in the same order, of any length. Rows without a group or with
    another condition are dropped and counted. `mean_similarity` is the mean of the three S; `s_d_d` is S within the
    default images over pairs of different images, as a baseline.

    Values that need a condition without images are null: `no_default_images`, `no_stereotypical_images`,
    `no_non_stereotypical_images`. Interval of pull: images are resampled within each set, percentile 95 %; null,
    `one_image`, if the default images or over 5 % of the sets of a condition are a single image, because resampling
    then sees no variation. All groups are resampled with the same draws: each interval is valid, but intervals must not
    be combined. The order of rows does not matter. `notes["models"]`: per model, the number of groups, of groups with a
    pull, and of groups with a positive pull.

    ValueError: a column is missing, the number of vectors differs from the number of rows, or a vector is zero or not a
    number.
    """
    resamples = require_whole(resamples, "resamples", 0)
    seed = require_whole(seed, "seed", 0)
    rows = named_rows(images, "images", ("identity_group", "condition", "attribute"))
    matrix, length = unit_vectors(vectors, len(rows), "vectors")
    no_group = rows["identity_group"] == ""
    other_condition = ~rows["condition"].isin(CONDITIONS) & ~no_group
    valid = np.flatnonzero(~(no_group | other_condition))
    groups = _Groups.of(rows.iloc[valid], valid, matrix)
    resampled = _Resampled(len(groups.names), resamples, seed)
    measured = [
        _measure(number, matrix, length, *sets, resampled=resampled)
        for number, sets in enumerate(groups.sets())
    ]
    table = _table(groups, measured, resampled.sample())
    return Result(
        table=table,
        used=len(valid),
        dropped={"no_identity_group": int(no_group.sum()), "other_condition": int(other_condition.sum())},
        method="bootstrap of images within each set",
        seed=seed,
        resamples=resamples,
        notes={"models": _per_model(table)},
    )


@dataclass(frozen=True, eq=False)
class _Groups:
    """Rows sorted by model, group, condition and attribute, and within a set by their vectors, so that the order of the
    input does not matter."""

    names: pd.DataFrame
    rows: Array
    starts: Array
    set_starts: list[Array]
    set_conditions: list[Array]

    @classmethod
    def of(cls, rows: pd.DataFrame, place: Array, matrix: Array) -> "_Groups":
        condition = pd.Categorical(rows["condition"], categories=CONDITIONS).codes.astype(int)
        attribute = np.where(condition == 0, "", rows["attribute"])
        model, group, attribute_code = (
            pd.factorize(values, sort=True)[0]
            for values in (rows["model"].to_numpy(), rows["identity_group"].to_numpy(), attribute)
        )
        content = [matrix[place, column] for column in range(min(matrix.shape[1], 2))]
        order = np.lexsort((*content, attribute_code, condition, group, model))
        keys = np.stack([model, group, condition, attribute_code])[:, order]
        begins_set = np.any(np.diff(keys, axis=1, prepend=-1), axis=0)
        begins_group = np.any(np.diff(keys[:2], axis=1, prepend=-1), axis=0)
        starts = np.append(np.flatnonzero(begins_group), len(order))
        set_at = np.flatnonzero(begins_set)
        edges = np.searchsorted(set_at, starts)
        within = [set_at[a:b] for a, b in pairwise(edges)]
        names = rows.iloc[order[starts[:-1]]][["model", "identity_group"]]
        return cls(names, place[order], starts, within, [keys[2, sets] for sets in within])

    def sets(self) -> Iterator[tuple[Array, Array, Array]]:
        """Per group: its rows, the first row of each set among them, and the condition of each set."""
        for number, (start, stop) in enumerate(pairwise(self.starts)):
            yield self.rows[start:stop], self.set_starts[number] - start, self.set_conditions[number]


class _Draws:
    """How often each image of a set is drawn. The draws of a set depend only on its condition, position and size, so
    groups share them: separate draws for each group would take longer than everything else."""

    def __init__(self, resamples: int, seed: int) -> None:
        self.resamples, self.seed = resamples, seed
        self._drawn: dict[tuple[int, int, int], Array] = {}
        self._last: tuple[tuple[tuple[int, int, int], ...], Array] | None = None

    def of(self, sets: tuple[tuple[int, int, int], ...]) -> Array:
        """The weights of all images of the sets (condition, position, size), stacked."""
        if self._last is None or self._last[0] != sets:
            weights = np.concatenate([self._draw(image_set) for image_set in sets]).astype(np.float32)
            self._last = (sets, weights)
        return self._last[1]

    def _draw(self, image_set: tuple[int, int, int]) -> Array:
        if image_set not in self._drawn:
            condition, place, size = image_set
            stream = _SETS + ((place * len(CONDITIONS) + condition) << 24) + (size << 4)
            self._drawn[image_set] = multinomial_weights([size], self.resamples, (self.seed, stream))
        return self._drawn[image_set]


class _Resampled:
    """Pull of every group in each resample: w'Gv, where G has the cosines between default and other images, and w and v
    how often each is drawn. Consecutive groups with sets of the same sizes are processed together, so that the weights
    are read once for all of them."""

    def __init__(self, groups: int, resamples: int, seed: int) -> None:
        self._sample = np.full((groups, max(resamples, 1)), np.nan)
        self._draws = _Draws(resamples, seed)
        self._sets: tuple[tuple[int, int, int], ...] = ()
        self._waiting: dict[int, Array] = {}

    def add(self, group: int, sets: tuple[tuple[int, int, int], ...], cosines: Array) -> None:
        """`cosines`: default × other images, scaled by the weight of each other image in the mean, negative for
        non-stereotypical images. `sets`: condition, position and size of each set, the default set first."""
        if not self._draws.resamples:
            return
        rows = (len(self._waiting) + 1) * len(cosines)
        if sets != self._sets or rows * self._draws.resamples > HELD_AT_ONCE:
            self._take()
        self._sets = sets
        self._waiting[group] = cosines.astype(np.float32, copy=False)

    def sample(self) -> Array:
        """Groups × resamples; NaN for a group that was not added."""
        self._take()
        return self._sample

    def _take(self) -> None:
        if not self._waiting:
            return
        weights, default = self._draws.of(self._sets), self._sets[0][2]
        drawn = np.concatenate(list(self._waiting.values())) @ weights[default:]
        by_group = drawn.reshape(len(self._waiting), default, -1)
        pulled = np.einsum("gib,ib->gb", by_group, weights[:default]) / default
        self._sample[list(self._waiting)] = pulled
        self._waiting = {}


@dataclass(frozen=True, eq=False)
class _Measured:
    """One group: its estimates (NaN where undefined), numbers of images and sets."""

    estimates: Array
    images: Array
    attributes: Array
    reason: str
    one_image: bool


def _measure(
    number: int,
    matrix: Array,
    length: Array,
    rows: Array,
    starts: Array,
    conditions: Array,
    resampled: _Resampled,
) -> _Measured:
    unit = matrix[rows] / length[rows, None]
    sizes = np.diff(np.append(starts, len(rows)))
    means = np.add.reduceat(unit, starts, axis=0) / sizes[:, None].astype(unit.dtype)
    sets = np.bincount(conditions, minlength=3)
    d, s, ns = (
        means[conditions == code].mean(axis=0, dtype=float) if sets[code] else np.full(unit.shape[1], np.nan)
        for code in range(3)
    )
    of_images = np.bincount(conditions, weights=sizes, minlength=3).astype(int)
    between = np.array([d @ s, d @ ns, s @ ns])
    alike = (of_images[0] * (d @ d) - 1) / (of_images[0] - 1) if of_images[0] > 1 else np.nan
    missing = [NO_IMAGES_OF[name] for name, number in zip(CONDITIONS, sets, strict=True) if not number]
    single = np.bincount(conditions, weights=sizes == 1, minlength=3)
    one_image = bool((single > SPARSE_SHARE * sets).any())
    if not missing and not one_image:
        resampled.add(number, *_cosines(unit, sizes, conditions, sets))
    return _Measured(
        np.array([*between, between.mean(), between[0] - between[1], alike]),
        of_images,
        sets,
        missing[0] if missing else "",
        one_image,
    )


def _cosines(
    unit: Array, sizes: Array, conditions: Array, sets: Array
) -> tuple[tuple[tuple[int, int, int], ...], Array]:
    """The inputs of resampling for a group: its sets, and the cosines between default and other images, divided by the
    size of the set and the number of sets."""
    place = np.arange(len(sizes)) - np.searchsorted(conditions, conditions)
    default = int(sizes[0])
    per_set = np.array([1.0, 1.0, -1.0])[conditions[1:]] / (sets[conditions[1:]] * sizes[1:])
    cosines = unit[:default] @ unit[default:].T
    cosines *= np.repeat(per_set, sizes[1:]).astype(cosines.dtype)
    return tuple(zip(conditions.tolist(), place.tolist(), sizes.tolist(), strict=True)), cosines


def _table(groups: _Groups, measured: list[_Measured], sample: Array) -> pd.DataFrame:
    estimates = np.array([group.estimates for group in measured]).reshape(-1, len(ESTIMATES))
    images = np.array([group.images for group in measured], dtype=int).reshape(-1, 3)
    attributes = np.array([group.attributes for group in measured], dtype=int).reshape(-1, 3)
    interval = percentile_intervals(sample)
    reason = [
        group.reason or (ONE_IMAGE if group.one_image else why)
        for group, why in zip(measured, interval.reason, strict=True)
    ]
    value = dict(zip(ESTIMATES, estimates.T, strict=True))
    return pd.DataFrame(
        {
            "model": labels(groups.names["model"]),
            "identity_group": labels(groups.names["identity_group"]),
            **{name: numbers(value[name]) for name in ESTIMATES[:5]},
            "ci_low": numbers(interval.low),
            "ci_high": numbers(interval.high),
            **{f"images_{name}": counts(images[:, i]) for i, name in enumerate(CONDITIONS)},
            **{f"attributes_{name}": counts(attributes[:, i]) for i, name in list(enumerate(CONDITIONS))[1:]},
            "s_d_d": numbers(value["s_d_d"]),
            "reason": words(reason),
        }
    )


def _per_model(table: pd.DataFrame) -> list[dict[str, Any]]:
    return [
        {
            "model": str(model),
            "groups": len(rows),
            "defined": int(rows["pull"].notna().sum()),
            "positive": int((rows["pull"] > 0).sum()),
        }
        for model, rows in table.groupby("model", sort=False)
    ]
