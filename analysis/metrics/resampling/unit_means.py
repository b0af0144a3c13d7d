"""Means over units, where several annotators' answers determine a unit's value, and their intervals."""

from dataclasses import dataclass

import numpy as np

from analysis.metrics.data.arrays import Array, ratio
from analysis.metrics.resampling.intervals import Intervals
from analysis.metrics.resampling.jackknife import LeftOut, jackknife_intervals

METHOD = "two-way jackknife of annotators and {clusters}, t quantile"


@dataclass(frozen=True, eq=False)
class UnitCells:
    """Units and their cells: a *cell* is one annotator's answers about one unit.

    `cluster` is the code of each unit's image or prompt; `unit` and `annotator` are the codes of each cell.
    """

    cluster: Array
    unit: Array
    annotator: Array

    def intervals(self, value: Array, without: Array, *, bounds: tuple[float, float]) -> Intervals:
        """The interval of the mean of `value` over units; it generalises to other annotators and clusters.

        `value` has one number per unit; `without[c]` is the value of cell c's unit without this cell. If it is NaN
        (undefined), the unit is excluded from the mean.
        """
        total, units = value.sum(), len(value)
        mean = ratio(total, units)
        undefined = np.isnan(without)
        moved = np.where(undefined, 0.0, without) - value[self.unit]
        _, together = np.unique(
            self.annotator * (int(self.cluster.max(initial=0)) + 1) + self.cluster[self.unit],
            return_inverse=True,
        )

        def left_out(owner: Array) -> Array:
            change, lost = (np.bincount(owner, weights=column) for column in (moved, undefined))
            return ratio(total + change, units - lost)

        annotators = left_out(np.unique(self.annotator, return_inverse=True)[1])
        _, cluster, size = np.unique(self.cluster, return_inverse=True, return_counts=True)
        clusters = ratio(total - np.bincount(cluster, weights=value), units - size)
        chance = np.nansum((left_out(together) - mean) ** 2)
        return jackknife_intervals(
            mean.reshape(1),
            annotators=LeftOut(np.zeros(len(annotators), dtype=int), annotators),
            images=LeftOut(np.zeros(len(clusters), dtype=int), clusters),
            chance=np.array([chance]),
            bounds=bounds,
        )
