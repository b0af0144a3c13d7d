"""Design effects: judgements carry less information because they share images and annotators."""

from dataclasses import dataclass

import numpy as np

from analysis.metrics.data.arrays import Array
from analysis.metrics.data.judgements import Judgements, dense


def design_effects(data: Judgements, *, annotators: bool) -> Array:
    """Per cell, deff = 1 + (m_image − 1)·ρ_image + (m_annotator − 1)·ρ_annotator (Kish 1965, for two crossed
    clusterings).

    m is the mean cluster size over judgements, Σm²/Σm. ρ is estimated per model over all cells that vary, as 1 minus
    the ratio of the disagreement of pairs within a cluster to that of pairs in different clusters of the same cell. It
    is between 0 and 1, and 1 if no cell varies (each cluster then counts as one judgement, which is conservative).
    """
    cells = Cells(len(data.cell_group), data.cell_model, len(data.model_names))
    effect = 1 + cells.excess(data.unit_cell, data.unit_shown, data.unit_marked)
    if annotators:
        people = len(data.annotator_names)
        key = data.unit_cell[data.row_unit].astype(np.int64) * people + data.row_annotator
        inverse, cluster = dense(key, cells.number * people)
        effect += cells.excess(
            cluster // people, np.bincount(inverse), np.bincount(inverse, weights=data.row_present)
        )
    return effect


def crossed_design_effects(value: Array, *, cell: Array, cells: int, unit: Array, annotator: Array) -> Array:
    """The same for answers that are 0 or 1: per cell, from codes of the cell, unit and annotator of each answer.

    ρ is estimated over all cells together.
    """
    together = Cells(cells, np.zeros(cells, dtype=int), 1)
    effect = np.ones(cells)
    for codes in (unit, annotator):
        width = int(codes.max(initial=0)) + 1
        cluster, inverse = np.unique(cell.astype(np.int64) * width + codes, return_inverse=True)
        number = np.bincount(inverse, minlength=len(cluster))
        effect += together.excess(
            cluster // width, number, np.bincount(inverse, weights=value, minlength=len(cluster))
        )
    return effect


@dataclass(frozen=True, eq=False)
class Cells:
    """The number of cells, and the model of each: ρ is estimated per model."""

    number: int
    model: Array
    models: int

    def excess(self, cell: Array, n_shown: Array, n_marked: Array) -> Array:
        """(m − 1)·ρ per cell, from the cell, the number of answers and the number of ones of each cluster."""

        def total(values: Array) -> Array:
            return np.bincount(cell, weights=values, minlength=self.number)

        n, k = total(n_shown), total(n_marked)
        pairs_within = total(n_shown * (n_shown - 1.0)) / 2
        pairs_across = n * (n - 1) / 2 - pairs_within
        torn_within = total(n_marked * (n_shown - 1.0 * n_marked))
        torn_across = k * (n - k) - torn_within
        able = (pairs_within > 0) & (pairs_across > 0)
        with np.errstate(invalid="ignore", divide="ignore"):
            expected = np.where(able, torn_across / pairs_across * pairs_within, 0.0)
        observed = np.where(able, torn_within, 0.0)
        expected, observed = (
            np.bincount(self.model, weights=x, minlength=self.models) for x in (expected, observed)
        )
        with np.errstate(invalid="ignore", divide="ignore"):
            correlation = np.where(expected > 0, np.clip(1 - observed / expected, 0, 1), 1.0)
        return np.asarray((total(n_shown * 1.0 * n_shown) / n - 1) * correlation[self.model])
