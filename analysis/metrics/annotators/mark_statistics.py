"""How each annotator answers, to find problems; never to decide labels or exclude anyone.

The quality rules of the campaign decide who is flagged (`annotation.quality.flags`), not these statistics.
"""

from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd

from analysis.metrics.annotators.skill import Skills, skills_of
from analysis.metrics.data.annotator_ids import UNUSABLE, annotator_ids_usable
from analysis.metrics.data.arrays import Array, ratio
from analysis.metrics.data.judgements import Judgements
from analysis.metrics.data.results import Result, counts, labels, numbers, words
from analysis.metrics.data.validation import binary, finite, require_columns, require_filled, require_whole


def annotator_statistics(
    judgements: Any,
    *,
    seconds: pd.DataFrame | None = None,
    gold: pd.DataFrame | None = None,
    repeats: pd.DataFrame | None = None,
    skills: bool = True,
    seed: int = 0,
    iterated: Callable[[], None] | None = None,
) -> Result:
    """Statistics of each annotator over all models, for information only: nothing is excluded by them.

    judgements: their number. median_seconds: median active time (`seconds`: annotator, seconds, one row per
    annotation). agreement_with_others: mean over shared units of the share of the others who gave the same
    answer; no majority is needed. dawid_skene: mean over the answers of P(answer | answer is true) (Dawid &
    Skene 1979); mace: P(not guessing) (Hovy et al. 2013); both by crowd-kit, nominal, assuming one truth per
    unit; null `crowd_kit_not_installed` without it. gold_accuracy: share correct of the gold tasks (`gold`:
    annotator, present, expected). self_consistency: share of repeated units answered as before (`repeats`:
    image, identity_group, attribute, annotator, present[, model]; or, with both answers at hand, annotator,
    first, again).

    If ids do not identify people, everything except `judgements` is null, `annotator_ids_unusable`. `iterated` is
    called at each iteration of the two models.
    """
    seed = require_whole(seed, "seed", 0)
    data = Judgements.of(judgements)
    usable = annotator_ids_usable(data).usable
    people = len(data.annotator_names)
    rows = ~data.cell_is_none[data.unit_cell[data.row_unit]]
    number = np.bincount(data.row_annotator[rows], minlength=people)
    agreement = _against_others(data, rows)
    time = _median_seconds(data, seconds)
    correct = _gold(data, gold)
    consistent = _repeats(data, repeats)
    skill = Skills.none(people, "not_asked")
    if skills and usable:
        skill = skills_of(data, rows, seed, iterated=iterated)
    columns = {
        "median_seconds": time,
        "agreement_with_others": agreement,
        "dawid_skene": skill.dawid_skene,
        "mace": skill.mace,
        "gold_accuracy": correct,
        "self_consistency": consistent,
    }
    present = number > 0
    table = pd.DataFrame(
        {
            "annotator": labels(data.annotator_names),
            "judgements": counts(number),
            **{
                name: numbers(value if usable else np.full(people, np.nan)) for name, value in columns.items()
            },
            "reason": words(
                [skill.reason if skill.reason != "not_asked" else ""] * people
                if usable
                else [UNUSABLE] * people
            ),
        }
    )[present].reset_index(drop=True)
    return Result(
        table=table,
        used=int(rows.sum()),
        method="agreement with the others; Dawid–Skene and MACE by crowd-kit",
        seed=seed,
        notes={"dawid_skene_converged": skill.converged, "annotator_ids": None if usable else UNUSABLE},
    )


def _against_others(data: Judgements, rows: Array) -> Array:
    """Mean agreement with the others over shared units (NaN if there are none)."""
    unit, who, answer = data.row_unit[rows], data.row_annotator[rows], data.row_present[rows]
    people = len(data.annotator_names)
    n_others = data.unit_shown[unit] - 1
    others_marked = data.unit_marked[unit] - answer
    shared = n_others > 0
    share_marked = np.divide(others_marked, n_others, out=np.zeros(len(unit)), where=shared)
    agreeing = np.where(answer, share_marked, 1 - share_marked)

    def total(weights: Array) -> Array:
        return np.bincount(who[shared], weights=weights[shared], minlength=people)

    number = total(np.ones(len(unit)))
    return ratio(total(agreeing), number)


def _median_seconds(data: Judgements, seconds: pd.DataFrame | None) -> Array:
    if seconds is None:
        return np.full(len(data.annotator_names), np.nan)
    seconds = require_columns(seconds, "seconds", ("annotator", "seconds"))
    timed = seconds["seconds"].notna().to_numpy()  # imported annotations may lack a time
    time = pd.Series(finite(seconds["seconds"][timed], "seconds"))
    medians = time.groupby(seconds["annotator"][timed].to_numpy()).median()
    return medians.reindex(data.annotator_names).to_numpy(dtype=float)


def _gold(data: Judgements, gold: pd.DataFrame | None) -> Array:
    if gold is None:
        return np.full(len(data.annotator_names), np.nan)
    gold = require_columns(gold, "gold", ("annotator", "present", "expected"))
    require_filled(gold, "gold", ("annotator", "present", "expected"))
    correct = binary(gold["present"], "gold") == binary(gold["expected"], "gold")
    means = pd.Series(correct.astype(float)).groupby(gold["annotator"].to_numpy()).mean()
    return means.reindex(data.annotator_names).to_numpy(dtype=float)


def _repeats(data: Judgements, repeats: pd.DataFrame | None) -> Array:
    """Share of repeated units with the same answer; a repeat without a first answer does not count."""
    if repeats is None:
        return np.full(len(data.annotator_names), np.nan)
    if isinstance(repeats, pd.DataFrame) and {"annotator", "first", "again"} <= set(repeats.columns):
        require_filled(repeats, "repeats", ("annotator", "first", "again"))
        agrees = (repeats["first"] == repeats["again"]).astype(float).groupby(repeats["annotator"].to_numpy())
        return agrees.mean().reindex(data.annotator_names).to_numpy(dtype=float)
    names = ["model", "identity_group", "image", "attribute", "annotator"]
    repeats = require_columns(repeats, "repeats", (*names[1:], "present"))
    require_filled(repeats, "repeats", (*names[1:], "present"))
    cell, image = data.unit_cell[data.row_unit], data.unit_image[data.row_unit]
    original = pd.DataFrame(
        {
            "model": data.model_names[data.cell_model[cell]],
            "identity_group": data.group_names[data.cell_group[cell]],
            "image": data.image_names[image],
            "attribute": data.cell_attribute_names()[cell],
            "annotator": data.annotator_names[data.row_annotator],
            "first": data.row_present,
        }
    )
    again = repeats[names[1:]].astype(object)
    again.insert(0, "model", repeats["model"].astype(object) if "model" in repeats else "")
    again["again"] = binary(repeats["present"], "repeats")
    pairs = again.merge(original, on=names)
    means = (pairs["again"] == pairs["first"]).astype(float).groupby(pairs["annotator"].to_numpy()).mean()
    return means.reindex(data.annotator_names).to_numpy(dtype=float)
