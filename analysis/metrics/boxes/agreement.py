"""Whether annotators who found an attribute drew boxes in the same place, and the same number of them."""

from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from scipy.sparse import csr_array

from analysis.metrics.agreement.krippendorff_alpha import NO_VARIATION
from analysis.metrics.agreement.scopes import interval_method
from analysis.metrics.boxes.geometry import Boxes, boxes_of, distances
from analysis.metrics.boxes.leave_one_out import Across, Pairs, box_intervals, drawn_by_people
from analysis.metrics.data.arrays import Array, pairs_within, ratio
from analysis.metrics.data.results import Result, counts, labels, numbers, words
from analysis.metrics.data.validation import require_choice, require_whole
from analysis.metrics.resampling.bootstrap import DEFAULT_RESAMPLES, multinomial_weights
from analysis.metrics.resampling.intervals import Intervals, no_intervals, percentile_intervals

THRESHOLDS = (0.25, 0.5, 0.75)
BINS = np.linspace(0, 1, 11)
NO_PAIRS = "no_unit_boxed_twice"
ONE_IMAGE = "one_image"
EXPECTED_PAIRS = 50_000  # per attribute; beyond it the expected distance is that of a seeded sample of pairs
SAMPLED_PAIRS = "sampled_pairs"  # note on measures based on such a sample
SAMPLED_MEASURES = ("box_expected_distance", "box_alpha")
MEASURES = (
    "box_mean_iou",
    *(f"box_iou_above_{limit}" for limit in THRESHOLDS),
    "box_same_number",
    "box_number_difference",
    "box_observed_distance",
    *SAMPLED_MEASURES,
)
_BOUNDS = np.array([(0, np.inf if name == "box_number_difference" else 1) for name in MEASURES])
_BOUNDS[-1, 0] = -np.inf  # α
_IMAGES, _PAIRS = 3, 4  # streams of the seed


@dataclass(frozen=True, eq=False, kw_only=True)
class BoxAgreement(Result):
    """`table`: measures. `distribution`: IoU in ten bins. `attributes`: observed and expected distance of each one."""

    distribution: pd.DataFrame
    attributes: pd.DataFrame


def box_agreement(
    boxes: Any, *, resamples: int = DEFAULT_RESAMPLES, seed: int = 0, annotators: str = "auto"
) -> BoxAgreement:
    """Agreement of boxes: their place and their number. (Agreement on `present` covers whether the attribute was
    found.)

    For each pair of judgements with boxes for an attribute in an image, boxes are matched (Hungarian); an unmatched box
    is at distance 1; the pair's distance is the sum divided by max(n₁, n₂), and its IoU is 1 minus the distance. Units
    weigh equally: a unit's value is the mean over its pairs.

    `boxes`: image, attribute, annotator, judgement (the answer to which the box belongs), x0, y0, x1, y1 as shares of
    the image[, model]. Corners are sorted and clipped; `notes["clipped_share"]` is the share of clipped boxes; boxes
    without area are left out. Measures: box_mean_iou, box_iou_above_0.25/0.5/0.75 (share of pairs), box_same_number
    (share of pairs with the same number of boxes), box_number_difference (mean |n₁ − n₂|), box_observed_distance,
    box_expected_distance, box_alpha = 1 − ΣD_o/ΣD_e pooled over attributes (Krippendorff's scheme; D_o weighs a unit by
    its judgements). D_e comes from drawings of the same attribute on *other* images. With large centred boxes D_e is
    small, and then α is small even for good boxes: compare it with the mean IoU. Attributes with boxes on only one
    image are excluded from α (`dropped`). Null: `one_image` if this applies to all attributes, `no_unit_boxed_twice`
    without pairs.

    Interval: as in `krippendorff_alpha`, the two-way jackknife of annotators and images if ids identify people
    (`annotators="auto"`), otherwise (and with "ignore") the bootstrap of images. Without resamples there is no
    interval.

    If an attribute has more than 50,000 pairs of drawings, its D_e is the mean over 50,000 of them drawn with the seed.
    `note` is then `sampled_pairs` for box_expected_distance and box_alpha, and `notes["sampled"]` lists these measures,
    the attributes of each model, the number of pairs and the seed.
    """
    resamples = require_whole(resamples, "resamples", 0)
    seed = require_whole(seed, "seed", 0)
    require_choice(annotators, "annotators", ("auto", "ignore"))
    data = boxes_of(boxes)
    within = _pairs(data)
    pairs = np.bincount(within.unit, minlength=len(data.unit_image))
    crossed = annotators == "auto" and drawn_by_people(data)
    resampled = ["annotators", "images"] if crossed else ["images"]
    weights = None
    if resamples and not crossed:
        weights = multinomial_weights([len(data.image_names)], resamples, (seed, _IMAGES))
    tables, distributions, attributes = [], [], []
    sampled: dict[str, list[Any]] = {}
    for code, name in enumerate(data.model_names):
        in_model = (data.unit_model == code) & (pairs > 0)
        expected = _Expected.of(data, in_model, pairs, within.unit, within.distance, seed)
        value, reason = _values(data, in_model, within, expected)
        interval = no_intervals(len(value))
        if weights is not None:
            interval = _bootstrap(data, in_model, within, expected, weights)
        elif resamples and in_model.any():
            interval = box_intervals(data, in_model, within, expected.across, value, _BOUNDS)
        tables.append(_table(data, str(name), in_model, value, reason, interval, expected))
        distributions.append(_distribution(str(name), in_model, within.unit, pairs, within.distance))
        attributes.append(expected.to_frame(data, str(name)))
        if expected.sampled.any():
            sampled[str(name)] = list(data.attribute_names[expected.attribute[expected.sampled]])
    lonely = int((np.bincount(data.drawing_unit, minlength=len(pairs)) == 1).sum())
    table = pd.concat(tables, ignore_index=True)
    return BoxAgreement(
        table=table.assign(resampled=words([" and ".join(resampled) if resamples else ""] * len(table))),
        distribution=pd.concat(distributions, ignore_index=True),
        attributes=pd.concat(attributes, ignore_index=True),
        used=len(data.corners),
        dropped={
            "box_without_area": data.without_area,
            "boxed_by_one": lonely,
            "attribute_on_one_image": sum(int(frame["reason"].notna().sum()) for frame in attributes),
        },
        method="Hungarian matching on IoU" + (f"; {interval_method(resampled)}" if resamples else ""),
        seed=seed,
        resamples=resamples,
        notes={
            "clipped_share": data.clipped_share,
            "resampled": resampled if resamples else [],
            **_sampling(sampled, seed),
        },
    )


def _sampling(attributes: dict[str, list[Any]], seed: int) -> dict[str, Any]:
    """The note about expected distances based on a sample of pairs, by model."""
    if not attributes:
        return {}
    measures = list(SAMPLED_MEASURES)
    return {
        "sampled": {"measures": measures, "attributes": attributes, "pairs": EXPECTED_PAIRS, "seed": seed}
    }


@dataclass(frozen=True, eq=False)
class _Expected:
    """Per attribute of one model: the inputs of α, from the drawings of units with at least two drawings.

    `between[a]`: for pairs of images (positions in `images[a]`), the summed distance and the number of pairs of
    drawings. `observed[a]` and `drawings[a]`: per image, Σ m_u·d̄_u and the number of drawings. `across[a]`: the pairs
    themselves. `sampled[a]`: whether they are a sample.
    """

    attribute: Array
    images: list[Array]
    between: list[tuple[csr_array, csr_array]]
    observed: list[Array]
    drawings: list[Array]
    across: list[Across]
    sampled: Array

    @classmethod
    def of(
        cls,
        data: Boxes,
        in_model: Array,
        pairs: Array,
        pair_unit: Array,
        distance: Array,
        seed: int,
    ) -> "_Expected":
        generator = np.random.default_rng(np.random.SeedSequence(seed, spawn_key=(_PAIRS,)))
        size = np.bincount(data.drawing_unit, minlength=len(pairs))
        unit_mean = np.bincount(pair_unit, weights=distance, minlength=len(pairs)) / np.maximum(pairs, 1)
        attribute = np.unique(data.unit_attribute[in_model])
        images, between, observed, drawings, across = [], [], [], [], []
        sampled = np.zeros(len(attribute), dtype=bool)
        for position, code in enumerate(attribute):
            units = np.flatnonzero(in_model & (data.unit_attribute == code))
            image = data.unit_image[units]  # one unit per image, in order
            drawing = np.flatnonzero(np.isin(data.drawing_unit, units))
            place = np.searchsorted(units, data.drawing_unit[drawing])
            sampled[position] = _too_many_pairs(len(place))
            i, j = _pairs_across(place, generator)
            apart = distances(data, drawing[i], drawing[j])
            shape = (len(units), len(units))
            total = csr_array((apart, (place[i], place[j])), shape=shape)
            number = csr_array((np.ones(len(apart)), (place[i], place[j])), shape=shape)
            images.append(image)
            across.append(Across(units, drawing[i], drawing[j], apart))
            between.append((total, number))
            observed.append(size[units] * unit_mean[units])
            drawings.append(size[units].astype(float))
        return cls(attribute, images, between, observed, drawings, across, sampled)

    def sums(self, weights: Array) -> tuple[Array, Array, Array]:
        """ΣD_o, ΣD_e and drawings over the attributes, for weights (images × resamples)."""
        observed, expected, drawings = np.zeros((3, weights.shape[1]))
        for image, (total, number), o, d in zip(
            self.images, self.between, self.observed, self.drawings, strict=True
        ):
            drawn = weights[image].astype(np.float64)
            pairs = (drawn * (number @ drawn)).sum(axis=0)
            able = pairs > 0
            mean = np.divide(
                (drawn * (total @ drawn)).sum(axis=0),
                pairs,
                out=np.zeros(len(able)),
                where=able,
            )
            observed += np.where(able, o @ drawn, 0.0)
            expected += np.where(able, d @ drawn, 0.0) * mean
            drawings += np.where(able, d @ drawn, 0.0)
        return observed, expected, drawings

    def to_frame(self, data: Boxes, model: str) -> pd.DataFrame:
        pairs = np.array([number.sum() for _, number in self.between])
        apart = np.array([total.sum() for total, _ in self.between])
        drawings = np.array([d.sum() for d in self.drawings])
        observed = np.array([o.sum() for o in self.observed])
        nothing = np.full(len(pairs), np.nan)
        return pd.DataFrame(
            {
                "model": labels([model] * len(pairs)),
                "attribute": labels(data.attribute_names[self.attribute]),
                "images": counts([len(image) for image in self.images]),
                "drawings": counts(drawings),
                "observed_distance": numbers(observed / np.maximum(drawings, 1)),
                "expected_distance": numbers(np.divide(apart, pairs, out=nothing, where=pairs > 0)),
                "sampled": pd.array(self.sampled, dtype="boolean"),
                "reason": words(np.where(pairs > 0, "", ONE_IMAGE)),
            }
        )


def _too_many_pairs(drawings: int) -> bool:
    return drawings * (drawings - 1) // 2 > EXPECTED_PAIRS


def _pairs_across(place: Array, generator: np.random.Generator) -> tuple[Array, Array]:
    """Pairs of drawings on different images: all of them, or a sample if there are too many."""
    number = len(place)
    if _too_many_pairs(number):
        i, j = generator.integers(0, number, size=(2, EXPECTED_PAIRS))
    else:
        i, j = np.triu_indices(number, 1)
    across = place[i] != place[j]
    return i[across], j[across]


def _pairs(data: Boxes) -> Pairs:
    """Pairs of drawings within a unit, with the values that are averaged over them."""
    i, j = pairs_within(data.drawing_unit)
    distance = distances(data, i, j)
    more = np.abs(data.number[i] - data.number[j])
    columns = {
        "box_mean_iou": 1 - distance,
        **{f"box_iou_above_{limit}": 1 - distance > limit for limit in THRESHOLDS},
        "box_same_number": more == 0,
        "box_number_difference": more,
    }
    return Pairs(i, j, data.drawing_unit[i], distance, columns)


def _drawn(data: Boxes, in_model: Array, within: Pairs, expected: _Expected, weights: Array) -> Array:
    """Each measure under weights of images (images × resamples): measures × resamples."""
    images = len(data.image_names)
    pairs = np.bincount(within.unit, minlength=len(in_model))
    units_on = np.bincount(data.unit_image[in_model], minlength=images)
    values = []
    for column in within.columns.values():
        unit = np.bincount(within.unit, weights=column, minlength=len(in_model)) / np.maximum(pairs, 1)
        on_image = np.bincount(data.unit_image[in_model], weights=unit[in_model], minlength=images)
        values.append(ratio(on_image @ weights, units_on @ weights))
    observed, apart, drawings = expected.sums(weights)
    return np.stack([*values, ratio(observed, drawings), ratio(apart, drawings), 1 - ratio(observed, apart)])


def _values(data: Boxes, in_model: Array, within: Pairs, expected: _Expected) -> tuple[Array, Array]:
    """Each measure, and the reason if it is null ('' otherwise)."""
    value = _drawn(data, in_model, within, expected, np.ones((len(data.image_names), 1)))[:, 0]
    missing = np.full(len(value), ONE_IMAGE if in_model.any() else NO_PAIRS, dtype=object)
    if value[-2] == 0:
        missing[-1] = NO_VARIATION  # every drawing is the same on every image
    return value, np.where(np.isnan(value), missing, "")


def _bootstrap(data: Boxes, in_model: Array, within: Pairs, expected: _Expected, weights: Array) -> Intervals:
    samples = _drawn(data, in_model, within, expected, weights)
    return percentile_intervals(samples, sparse=np.isnan(samples).mean(axis=1))


def _table(
    data: Boxes,
    model: str,
    in_model: Array,
    value: Array,
    reason: Array,
    interval: Intervals,
    expected: _Expected,
) -> pd.DataFrame:
    low, high = (np.where(np.isnan(value), np.nan, end) for end in (interval.low, interval.high))
    drawn_in = in_model[data.drawing_unit]
    is_sampled = [expected.sampled.any() and name in SAMPLED_MEASURES for name in MEASURES]
    return pd.DataFrame(
        {
            "model": labels([model] * len(MEASURES)),
            "scope": labels(["all"] * len(MEASURES)),
            "scope_value": labels([""] * len(MEASURES)),
            "measure": labels(MEASURES),
            "value": numbers(value),
            "ci_low": numbers(low),
            "ci_high": numbers(high),
            "units": counts([in_model.sum()] * len(MEASURES)),
            "annotators": counts([len(np.unique(data.drawing_annotator[drawn_in]))] * len(MEASURES)),
            "judgements": counts([drawn_in.sum()] * len(MEASURES)),
            "reason": words(np.where(reason == "", interval.reason, reason)),
            "note": words([SAMPLED_PAIRS if sampled else "" for sampled in is_sampled]),
        }
    )


def _distribution(
    model: str, in_model: Array, pair_unit: Array, pairs: Array, distance: Array
) -> pd.DataFrame:
    """Share of pairs in each tenth of IoU, units weighing equally; a bin includes its upper end, and the first bin also
    0."""
    used = in_model[pair_unit]
    bin_ = np.clip(np.ceil((1 - distance[used]) * 10 - 1e-9).astype(int) - 1, 0, 9)
    weight = 1 / pairs[pair_unit[used]]
    share = np.bincount(bin_, weights=weight, minlength=10)
    return pd.DataFrame(
        {
            "model": labels([model] * 10),
            "iou_from": numbers(BINS[:-1]),
            "iou_to": numbers(BINS[1:]),
            "pairs": counts(np.bincount(bin_, minlength=10)),
            "share": numbers(share / share.sum() if len(weight) else np.full(10, np.nan)),
        }
    )
