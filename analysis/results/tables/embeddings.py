"""What vectors of images say: stereotypical pull of groups, composite association of targets."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from analysis.metrics.data.results import Result
from analysis.metrics.embeddings.mcas import mcas
from analysis.metrics.embeddings.mcas_categories import mcas_categories
from analysis.metrics.embeddings.pull import pull
from analysis.results.data.automated import Scores
from analysis.results.data.image_vectors import MCAS, PULL, EncodedImages
from analysis.results.parameters import Parameters

if TYPE_CHECKING:
    from analysis.results.tables.automated import Automated

NO_IMAGES = "no_images_of_these_conditions"
NO_VECTORS = "no_vectors"
NO_SETS = "no_attribute_sets"
NO_TEXTS = "texts_without_vectors"
NO_PHRASES = "images_without_phrase"
WITHOUT_VECTOR = "images_without_vector"
UNREAD = "prompts_of_targets_not_read"
_MCAS = ("mcas", "mcas_categories")


def pull_table(found: "Automated", scores: Scores, parameters: Parameters) -> None:
    """Pull of every group, by every encoder that was to look for it and saw images of all conditions."""
    if not scores.conditions & set(PULL[1:]):
        found.reasons["pull"] = NO_IMAGES
        return
    tables, notes = [], {}
    for one in _looked(scores, "pull"):
        mine = _compared(one, PULL, "identity_group")
        if not _saw_every_condition(one, mine, scores, "pull"):
            continue
        columns = ["model", "identity_group", "condition", "attribute"]
        result = pull(
            one.images.loc[mine, columns],
            one.vectors[mine],
            resamples=parameters.resamples,
            seed=parameters.seed,
        )
        tables.append(result.to_frame().assign(encoder=one.encoder))
        notes[one.encoder] = _note(found, "pull", one, result, _unseen(scores, "pull", mine))
    if not tables:
        found.reasons["pull"] = NO_VECTORS
        return
    found.tables["pull"] = pd.concat(tables, ignore_index=True)
    found.notes["pull"] = notes


def _looked(scores: Scores, measure: str) -> Sequence[EncodedImages]:
    return [one for one in scores.encoded if measure in one.measures]


def _compared(one: EncodedImages, conditions: Sequence[str], named: str) -> np.ndarray:
    """Which of its images are of these conditions and say of which group (or phrase) they are."""
    rows = one.images["condition"].isin(conditions) & one.images[named].notna()
    return np.asarray(rows, dtype=bool)


def _saw_every_condition(one: EncodedImages, mine: np.ndarray, scores: Scores, measure: str) -> bool:
    there = {condition for condition, number in scores.compared.get(measure, {}).items() if number}
    return bool(there) and there <= set(one.images["condition"][mine])


def _unseen(scores: Scores, measure: str, mine: np.ndarray) -> int:
    """How many images the encoder has no vector of."""
    return max(sum(scores.compared[measure].values()) - int(mine.sum()), 0)


def _note(
    found: "Automated", measure: str, one: EncodedImages, result: Result, unseen: int
) -> dict[str, Any]:
    """What the measure rests on by this encoder; what it does not is left out, by reason and encoder."""
    dropped = {**result.dropped, WITHOUT_VECTOR: unseen, UNREAD: one.unread}
    of_encoder = {f"{reason} ({one.encoder})": number for reason, number in dropped.items() if number}
    found.left_out.setdefault(measure, {}).update(of_encoder)
    note = {"method": result.method, "used": result.used, **result.notes}
    return note | {WITHOUT_VECTOR: unseen, UNREAD: one.unread}


def mcas_tables(found: "Automated", scores: Scores, parameters: Parameters) -> None:
    """Component scores and their sum for every target, and what categories of targets come to."""
    reason = _why_no_mcas(scores)
    if reason:
        found.reasons |= dict.fromkeys(_MCAS, reason)
        return
    targets, categories, notes = [], [], {}
    for one in _looked(scores, "mcas"):
        mine = _compared(one, MCAS, "phrase")
        if one.texts is None or not _saw_every_condition(one, mine, scores, "mcas"):
            continue
        result = _mcas(one, mine, scores, parameters)
        targets.append(result.to_frame().assign(encoder=one.encoder))
        categories.append(mcas_categories(result.to_frame()).to_frame().assign(encoder=one.encoder))
        note = _note(found, "mcas", one, result, _unseen(scores, "mcas", mine))
        notes[one.encoder] = note | {"sets": list(scores.sets)}
    if not targets:
        found.reasons |= dict.fromkeys(_MCAS, NO_VECTORS)
        return
    if scores.without_phrase:
        found.left_out["mcas"][NO_PHRASES] = scores.without_phrase
    found.tables["mcas"] = pd.concat(targets, ignore_index=True)
    found.tables["mcas_categories"] = pd.concat(categories, ignore_index=True)
    found.notes["mcas"] = notes


def _why_no_mcas(scores: Scores) -> str:
    looked = _looked(scores, "mcas")
    why = {
        NO_IMAGES: not scores.conditions & set(MCAS),
        NO_PHRASES: not scores.compared.get("mcas"),
        NO_SETS: len(scores.sets) != 2,
        NO_VECTORS: not looked,
        NO_TEXTS: all(one.texts is None for one in looked),
    }
    return next((reason for reason, holds in why.items() if holds), "")


def _mcas(one: EncodedImages, mine: np.ndarray, scores: Scores, parameters: Parameters) -> Result:
    assert one.texts is not None
    first, second = scores.sets
    return mcas(
        one.images.loc[mine, ["model", "condition", "attribute_set", "category", "phrase"]],
        one.vectors[mine],
        one.texts,
        one.text_vectors,
        sets=(first, second),
        resamples=parameters.resamples,
        seed=parameters.seed,
    )
