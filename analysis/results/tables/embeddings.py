"""Measures of image vectors: stereotypical pull of groups, composite association of targets."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from analysis.metrics.data.arrays import Array
from analysis.metrics.data.results import Result
from analysis.metrics.embeddings.mcas import mcas
from analysis.metrics.embeddings.mcas_categories import mcas_categories
from analysis.metrics.embeddings.pull import pull
from analysis.results.data.image_vectors import MCAS, PULL, EncodedImages
from analysis.results.data.machine_scores import MachineScores
from analysis.results.parameters import Parameters

if TYPE_CHECKING:
    from analysis.results.tables.automated_measures import Automated

NO_IMAGES = "no_images_of_these_conditions"
NO_VECTORS = "no_vectors"
NO_SETS = "no_attribute_sets"
NO_TEXTS = "texts_without_vectors"
NO_PHRASES = "images_without_phrase"
WITHOUT_VECTOR = "images_without_vector"
UNREAD = "prompts_of_targets_not_read"
_MCAS = ("mcas", "mcas_categories")


def pull_table(automated: "Automated", scores: MachineScores, parameters: Parameters) -> None:
    """Pull of every group, by every encoder that was to look for it and saw images of all conditions."""
    if not scores.conditions & set(PULL[1:]):
        automated.reasons["pull"] = NO_IMAGES
        return
    tables, notes = [], {}
    for encoded in _looked(scores, "pull"):
        compared_rows = _compared(encoded, PULL, "identity_group")
        if not _saw_every_condition(encoded, compared_rows, scores, "pull"):
            continue
        columns = ["model", "identity_group", "condition", "attribute"]
        result = pull(
            encoded.images.loc[compared_rows, columns],
            encoded.vectors[compared_rows],
            resamples=parameters.resamples,
            seed=parameters.seed,
        )
        tables.append(result.to_frame().assign(encoder=encoded.encoder))
        notes[encoded.encoder] = _note(
            automated, "pull", encoded, result, _unseen(scores, "pull", compared_rows)
        )
    if not tables:
        automated.reasons["pull"] = NO_VECTORS
        return
    automated.tables["pull"] = pd.concat(tables, ignore_index=True)
    automated.notes["pull"] = notes


def _looked(scores: MachineScores, measure: str) -> Sequence[EncodedImages]:
    return [encoded for encoded in scores.encoded if measure in encoded.measures]


def _compared(encoded: EncodedImages, conditions: Sequence[str], id_column: str) -> Array:
    """Which of its images have these conditions and a known group (or phrase)."""
    rows = encoded.images["condition"].isin(conditions) & encoded.images[id_column].notna()
    return np.asarray(rows, dtype=bool)


def _saw_every_condition(
    encoded: EncodedImages, compared_rows: Array, scores: MachineScores, measure: str
) -> bool:
    conditions = {condition for condition, number in scores.compared.get(measure, {}).items() if number}
    return bool(conditions) and conditions <= set(encoded.images["condition"][compared_rows])


def _unseen(scores: MachineScores, measure: str, compared_rows: Array) -> int:
    """How many images the encoder has no vector of."""
    return max(sum(scores.compared[measure].values()) - int(compared_rows.sum()), 0)


def _note(
    automated: "Automated", measure: str, encoded: EncodedImages, result: Result, unseen: int
) -> dict[str, Any]:
    """The inputs of the measure from this encoder; other images are left out, by reason and encoder."""
    dropped = {**result.dropped, WITHOUT_VECTOR: unseen, UNREAD: encoded.unread}
    of_encoder = {f"{reason} ({encoded.encoder})": number for reason, number in dropped.items() if number}
    automated.left_out.setdefault(measure, {}).update(of_encoder)
    note = {"method": result.method, "used": result.used, **result.notes}
    return note | {WITHOUT_VECTOR: unseen, UNREAD: encoded.unread}


def mcas_tables(automated: "Automated", scores: MachineScores, parameters: Parameters) -> None:
    """Component scores and their sum for every target, and statistics of categories of targets."""
    reason = _why_no_mcas(scores)
    if reason:
        automated.reasons |= dict.fromkeys(_MCAS, reason)
        return
    targets, categories, notes = [], [], {}
    for encoded in _looked(scores, "mcas"):
        compared_rows = _compared(encoded, MCAS, "phrase")
        if encoded.texts is None or not _saw_every_condition(encoded, compared_rows, scores, "mcas"):
            continue
        result = _mcas(encoded, compared_rows, scores, parameters)
        targets.append(result.to_frame().assign(encoder=encoded.encoder))
        categories.append(mcas_categories(result.to_frame()).to_frame().assign(encoder=encoded.encoder))
        note = _note(automated, "mcas", encoded, result, _unseen(scores, "mcas", compared_rows))
        notes[encoded.encoder] = note | {"sets": list(scores.sets)}
    if not targets:
        automated.reasons |= dict.fromkeys(_MCAS, NO_VECTORS)
        return
    if scores.without_phrase:
        automated.left_out["mcas"][NO_PHRASES] = scores.without_phrase
    automated.tables["mcas"] = pd.concat(targets, ignore_index=True)
    automated.tables["mcas_categories"] = pd.concat(categories, ignore_index=True)
    automated.notes["mcas"] = notes


def _why_no_mcas(scores: MachineScores) -> str:
    looked = _looked(scores, "mcas")
    why = {
        NO_IMAGES: not scores.conditions & set(MCAS),
        NO_PHRASES: not scores.compared.get("mcas"),
        NO_SETS: len(scores.sets) != 2,
        NO_VECTORS: not looked,
        NO_TEXTS: all(encoded.texts is None for encoded in looked),
    }
    return next((reason for reason, holds in why.items() if holds), "")


def _mcas(
    encoded: EncodedImages, compared_rows: Array, scores: MachineScores, parameters: Parameters
) -> Result:
    assert encoded.texts is not None
    set_a, set_b = scores.sets
    return mcas(
        encoded.images.loc[compared_rows, ["model", "condition", "attribute_set", "category", "phrase"]],
        encoded.vectors[compared_rows],
        encoded.texts,
        encoded.text_vectors,
        sets=(set_a, set_b),
        resamples=parameters.resamples,
        seed=parameters.seed,
    )
