"""What vectors of images say: stereotypical pull of groups, composite association of targets."""

from typing import TYPE_CHECKING

import pandas as pd

from analysis.automated.loading import MCAS, PULL, EncodedImages, Scores
from analysis.metrics.mcas import mcas
from analysis.metrics.mcas_categories import mcas_categories
from analysis.metrics.pull import pull
from analysis.parameters import Parameters

if TYPE_CHECKING:
    from analysis.automated.tables import Automated

NO_IMAGES = "no_images_of_these_conditions"
NO_VECTORS = "no_vectors"
NO_SETS = "no_attribute_sets"
NO_TEXTS = "texts_without_vectors"
_MCAS = ("mcas", "mcas_categories")


def pull_table(found: "Automated", scores: Scores, parameters: Parameters) -> None:
    """Pull of every group, by every encoder that saw the study's images."""
    if not scores.conditions & set(PULL[1:]):
        found.reasons["pull"] = NO_IMAGES
        return
    tables, notes = [], {}
    dropped: dict[str, int] = {}
    for one in scores.encoded:
        mine = one.images["condition"].isin(PULL) & one.images["identity_group"].notna()
        images = one.images.loc[mine, ["model", "identity_group", "condition", "attribute"]]
        if images.empty:
            continue
        result = pull(
            images, one.vectors[mine.to_numpy()], resamples=parameters.resamples, seed=parameters.seed
        )
        tables.append(result.to_frame().assign(encoder=one.encoder))
        notes[one.encoder] = {"method": result.method, "used": result.used, **result.notes}
        dropped |= {
            f"{reason} ({one.encoder})": number for reason, number in result.dropped.items() if number
        }
    if not tables:
        found.reasons["pull"] = NO_VECTORS
        return
    found.tables["pull"] = pd.concat(tables, ignore_index=True)
    found.notes["pull"], found.left_out["pull"] = notes, dropped


def mcas_tables(found: "Automated", scores: Scores, parameters: Parameters) -> None:
    """Component scores and their sum for every target, and what categories of targets come to."""
    reason = _why_no_mcas(scores)
    if reason:
        found.reasons |= dict.fromkeys(_MCAS, reason)
        return
    targets, categories, notes = [], [], {}
    for one in scores.encoded:
        measured = _mcas(one, scores, parameters)
        if measured is None:
            continue
        table, of_categories, note = measured
        targets.append(table.assign(encoder=one.encoder))
        categories.append(of_categories.assign(encoder=one.encoder))
        notes[one.encoder] = note
    if not targets:
        found.reasons |= dict.fromkeys(_MCAS, NO_VECTORS)
        return
    found.tables["mcas"] = pd.concat(targets, ignore_index=True)
    found.tables["mcas_categories"] = pd.concat(categories, ignore_index=True)
    found.notes["mcas"] = notes


def _why_no_mcas(scores: Scores) -> str:
    if not scores.conditions & set(MCAS):
        return NO_IMAGES
    if len(scores.sets) != 2:
        return NO_SETS
    if not scores.encoded:
        return NO_VECTORS
    return NO_TEXTS if all(one.texts is None for one in scores.encoded) else ""


def _mcas(
    one: EncodedImages, scores: Scores, parameters: Parameters
) -> tuple[pd.DataFrame, pd.DataFrame, dict[str, object]] | None:
    mine = one.images["condition"].isin(MCAS) & one.images["phrase"].notna()
    if one.texts is None or not mine.any():
        return None
    first, second = scores.sets
    result = mcas(
        one.images.loc[mine, ["model", "condition", "attribute_set", "category", "phrase"]],
        one.vectors[mine.to_numpy()],
        one.texts,
        one.text_vectors,
        sets=(first, second),
        resamples=parameters.resamples,
        seed=parameters.seed,
    )
    note = {"method": result.method, "used": result.used, "sets": [first, second], **result.notes}
    return result.to_frame(), mcas_categories(result.to_frame()).to_frame(), note
