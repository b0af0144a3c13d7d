"""Counts of ratings per unit, from judgements, a Likert table, coded answers, sets of labels or value counts."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from analysis.metrics.agreement.leave_one_out import Answers
from analysis.metrics.data.annotator_ids import MOST_REPEATED, IdSigns, ids_stand_for_people
from analysis.metrics.data.arrays import Array
from analysis.metrics.data.judgements import Judgements, dense
from analysis.metrics.data.validation import (
    finite,
    first_value,
    require_choice,
    require_columns,
    require_filled,
)
from analysis.metrics.resampling.bootstrap import Resampling, resampling_of

ALL = "all"
UNSURE = 3
LIKERT = (1, 2, 3, 4, 5)
UNSURE_MODES = ("missing", "middle", "category")

LabelSet = tuple[str, ...]


@dataclass(frozen=True, eq=False)
class Units:
    """`counts[u, v]`: the number of ratings of unit u in the v-th category.

    `cluster` is the resampling unit: the image of a presence judgement, the attribute of a Likert rating. Clusters of
    one `stratum` are drawn together. `annotators(scope, width)` counts the people who rated units of each scope, and
    `answers()` lists each person's ratings; both give None if ids do not identify people.
    """

    counts: Array
    categories: tuple[Any, ...]
    cluster: Array
    clusters: int
    stratum: Array
    cluster_name: str
    model: Array
    model_names: Array
    scopes: dict[str, tuple[Array, Array]]
    annotators: Callable[[Array, int], Array | None]
    answers: Callable[[], Answers | None]


def units_of(ratings: Any, *, unsure: str = "category") -> Units:
    """Count ratings per unit.

    `ratings` is a table of presence judgements (column `present`; unit = image × attribute), a Likert table
    (attribute, annotator, rating 1..5; unit = attribute), a table of coded answers (image, annotator, code;
    unit = image), a `Judgements`, or an array of value counts (units × categories).
    """
    if isinstance(ratings, np.ndarray):
        return _from_counts(ratings)
    if isinstance(ratings, Judgements):
        return _from_judgements(ratings)
    if isinstance(ratings, pd.DataFrame) and "rating" in ratings and "present" not in ratings:
        return _from_likert(ratings, unsure)
    if isinstance(ratings, pd.DataFrame) and "code" in ratings and "present" not in ratings:
        return _from_codes(ratings)
    return _from_judgements(Judgements.of(ratings))


def _distinct(scope: Array, annotator: Array, width: int) -> Array:
    """The number of annotators in each scope."""
    people = int(annotator.max(initial=0)) + 1
    _, pairs = dense(scope.astype(np.int64) * people + annotator, width * people)
    return np.bincount(pairs // people, minlength=width)


def _from_judgements(data: Judgements) -> Units:
    unit_cell, unit_image = data.unit_cell, data.unit_image
    n_shown, n_marked = data.unit_shown, data.unit_marked
    real = ~data.cell_is_none[unit_cell]
    if not real.all():
        unit_cell, unit_image, n_shown, n_marked = (
            unit_cell[real],
            unit_image[real],
            n_shown[real],
            n_marked[real],
        )

    def annotators(scope: Array, width: int) -> Array | None:
        if not ids_stand_for_people(data):
            return None
        if width == 1 and real.all():
            return np.array([len(data.annotator_names)])
        rows = real[data.row_unit]
        unit = (np.cumsum(real) - 1)[data.row_unit[rows]]
        return _distinct(scope[unit], data.row_annotator[rows], width)

    def answers() -> Answers | None:
        if not ids_stand_for_people(data):
            return None
        unit, annotator, present = data.row_unit, data.row_annotator, data.row_present
        if not real.all():
            rows = real[unit]
            unit, annotator, present = (np.cumsum(real) - 1)[unit[rows]], annotator[rows], present[rows]
        return Answers.of(unit, annotator, len(data.annotator_names), present.astype(np.int8), 2)

    return Units(
        counts=np.stack([n_shown - n_marked, n_marked]).T,
        categories=(0, 1),
        cluster=unit_image,
        clusters=len(data.image_group),
        stratum=data.image_stratum,
        cluster_name="image",
        model=data.cell_model[unit_cell],
        model_names=data.model_names,
        scopes={
            ALL: (np.zeros(len(unit_cell), dtype=np.int8), np.array([""], dtype=object)),
            "identity_group": (data.cell_group[unit_cell], data.group_names),
            "attribute": (data.cell_attribute[unit_cell], data.attribute_names),
        },
        annotators=annotators,
        answers=answers,
    )


def likert_codes(ratings: Any) -> tuple[Array, Array, Array, Array, Array]:
    """Attribute codes, attribute names, annotator codes, annotator names and whole ratings of a Likert
    table."""
    ratings = require_columns(ratings, "ratings", ("attribute", "annotator", "rating"))
    require_filled(ratings, "ratings", ("attribute", "annotator", "rating"))
    number = finite(ratings["rating"], "ratings")
    wrong = ~np.isin(number, LIKERT)
    if wrong.any():
        raise ValueError(
            f"ratings: rating must be a whole number from 1 to 5, got {first_value(ratings['rating'], wrong)!r}"
        )
    attribute, names = pd.factorize(ratings["attribute"], sort=True)
    annotator, people = pd.factorize(ratings["annotator"], sort=True)
    return (
        attribute,
        np.asarray(names, dtype=object),
        annotator,
        np.asarray(people, dtype=object),
        number.astype(int),
    )


def _from_likert(ratings: pd.DataFrame, unsure: str) -> Units:
    require_choice(unsure, "unsure", UNSURE_MODES)
    attribute, names, annotator, people, rating = likert_codes(ratings)
    categories = tuple(value for value in LIKERT if value != UNSURE or unsure != "missing")
    counted = np.isin(rating, categories)
    value = np.searchsorted(categories, rating[counted])
    table = np.bincount(attribute[counted] * len(categories) + value, minlength=len(names) * len(categories))
    unit = np.arange(len(names))
    stand_for_people = rated_once_each(ratings, attribute, annotator)

    def raters(scope: Array, width: int) -> Array | None:
        return _distinct(scope[attribute[counted]], annotator[counted], width) if stand_for_people else None

    def answers() -> Answers | None:
        if not stand_for_people:
            return None
        order = np.lexsort((value, annotator[counted], attribute[counted]))
        return Answers.of(
            attribute[counted][order], annotator[counted][order], len(people), value[order], len(categories)
        )

    return Units(
        counts=table.reshape(len(names), len(categories)),
        categories=categories,
        cluster=unit,
        clusters=len(names),
        stratum=np.zeros(len(names), dtype=int),
        cluster_name="attribute",
        model=np.zeros(len(names), dtype=int),
        model_names=np.array([""], dtype=object),
        scopes={
            ALL: (np.zeros(len(names), dtype=int), np.array([""], dtype=object)),
            "attribute": (unit, names),
        },
        annotators=raters,
        answers=answers,
    )


def units_of_sets(choices: Any) -> Units:
    """Count answers per image (and model). Each answer is a set of labels; the categories are the distinct sets.

    `choices`: image, annotator, labels (a collection of names)[, model].
    """
    names = ("image", "annotator", "labels")
    require_filled(require_columns(choices, "choices", names), "choices", names)
    answers = [_label_set(labels) for labels in choices["labels"]]
    sets: list[LabelSet] = sorted(set(answers)) or [()]
    code = {labels: place for place, labels in enumerate(sets)}
    category = np.array([code[labels] for labels in answers], dtype=np.int64)
    return _of_images(choices, category, tuple(sets))


def _from_codes(answers: pd.DataFrame) -> Units:
    """Units of a table image, annotator, code[, model]: the categories are the distinct codes, in order."""
    names = ("image", "annotator", "code")
    require_filled(require_columns(answers, "ratings", names), "ratings", names)
    category, codes = pd.factorize(answers["code"], sort=True)
    return _of_images(answers, category, tuple(np.asarray(codes).tolist()) or (0,))


def _of_images(answers: pd.DataFrame, category: Array, categories: tuple[Any, ...]) -> Units:
    """Units of answers about images (and models). Each answer has one category."""
    image, image_names = pd.factorize(answers["image"].astype(str), sort=True)
    annotator, people = pd.factorize(answers["annotator"].astype(str), sort=True)
    named = answers["model"].astype(str) if "model" in answers else pd.Series("", index=answers.index)
    model, model_names = pd.factorize(named, sort=True)
    keys, unit = np.unique(model * max(len(image_names), 1) + image, return_inverse=True)
    order = np.lexsort((category, annotator, unit))
    unit, annotator, category, image = (column[order] for column in (unit, annotator, category, image))
    stand_for_people = len(unit) > 0 and IdSigns.of(annotator, unit, image).usable

    def raters(scope: Array, width: int) -> Array | None:
        return _distinct(scope[unit], annotator, width) if stand_for_people else None

    def given_answers() -> Answers | None:
        if not stand_for_people:
            return None
        return Answers.of(unit, annotator, len(people), category, len(categories))

    return Units(
        counts=np.bincount(unit * len(categories) + category, minlength=len(keys) * len(categories)).reshape(
            len(keys), len(categories)
        ),
        categories=categories,
        cluster=keys % max(len(image_names), 1),
        clusters=len(image_names),
        stratum=np.zeros(len(image_names), dtype=int),
        cluster_name="image",
        model=keys // max(len(image_names), 1),
        model_names=np.asarray(model_names, dtype=object),
        scopes={ALL: (np.zeros(len(keys), dtype=int), np.array([""], dtype=object))},
        annotators=raters,
        answers=given_answers,
    )


def _label_set(labels: Any) -> LabelSet:
    """The distinct labels, in order."""
    if isinstance(labels, str) or not isinstance(labels, Iterable):
        raise ValueError(f"choices: column 'labels' must contain collections of names, got {labels!r}")
    return tuple(sorted({str(label) for label in labels}))


def rated_once_each(ratings: pd.DataFrame, attribute: Array, annotator: Array) -> bool:
    """Whether at most 5 % of the ratings repeat an attribute that the same id had already rated in the campaign: a sign
    that ids identify people."""
    campaign = pd.factorize(ratings["campaign"])[0] if "campaign" in ratings else np.zeros(len(ratings), int)
    answers = np.stack([attribute, annotator, campaign], axis=1)
    repeated = len(answers) - len(np.unique(answers, axis=0))
    return repeated <= MOST_REPEATED * len(answers)


def _unknown(*_: Any) -> None:
    """Counts do not identify annotators."""


def _from_counts(table: Array) -> Units:
    if (
        table.ndim != 2
        or table.shape[1] < 2
        or (table < 0).any()
        or not np.equal(table, np.floor(table)).all()
    ):
        raise ValueError(
            f"ratings: value counts must be whole numbers, units × (2 or more) categories, got {table.shape}"
        )
    unit = np.arange(len(table))
    return Units(
        counts=table.astype(np.int64),
        categories=tuple(range(table.shape[1])),
        cluster=unit,
        clusters=len(table),
        stratum=np.zeros(len(table), dtype=int),
        cluster_name="unit",
        model=np.zeros(len(table), dtype=int),
        model_names=np.array([""], dtype=object),
        scopes={ALL: (np.zeros(len(table), dtype=int), np.array([""], dtype=object))},
        annotators=_unknown,
        answers=_unknown,
    )


def coded(ratings: Any, resampling: Resampling | None) -> tuple[Any, Resampling | None]:
    """If a resampling is given, use its coded judgements instead of coding them again."""
    if resampling is None:
        return ratings, None
    resampling_of(ratings, resampling, None, resampling.resamples, resampling.seed)
    return resampling.judgements, resampling
