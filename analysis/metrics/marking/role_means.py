"""Per group, the mean likelihood over its stereotypes and over its random attributes."""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from scipy.sparse import csr_array

from analysis.metrics.data.arrays import Array, ratio
from analysis.metrics.data.judgements import Judgements
from analysis.metrics.resampling.bootstrap import Resampling


@dataclass(frozen=True, eq=False)
class RoleMeans:
    """L(stereo, g) and L(random, g) of each (model, group); NaN if the role was not shown.

    `block` is the code of the (model, group), in the order of `Judgements.cell_block`.
    """

    block: Array
    stereotypes: Array
    randoms: Array
    stereo: Array
    random: Array


@dataclass(frozen=True, eq=False)
class ResampledRoleMeans:
    """The same in each resample, for some consecutive groups (groups × resamples).

    `dropped` marks the resamples in which a cell of the group lost all weight. `marked_score` is given if cells have a
    score: the mean score over the stereotypes marked in the resample, NaN if no stereotype with a score was marked.
    """

    groups: slice
    stereo: Array
    random: Array
    dropped: Array
    marked_score: Array | None


def role_means(
    data: Judgements,
    stereotype: Array,
    counted: Array,
    *,
    n_shown: Array | None = None,
    n_marked: Array | None = None,
) -> RoleMeans:
    """`stereotype` and `counted` are masks over cells: which cells are stereotypes, and which cells count.

    `shown` and `marked` are numbers per cell, needed if only some judgements count; a cell that was not shown is left
    out.
    """
    blocks, group = np.unique(data.cell_block, return_inverse=True)
    n_shown = data.cell_shown if n_shown is None else n_shown
    n_marked = data.cell_marked if n_marked is None else n_marked
    enters = counted & (n_shown > 0)
    share = np.divide(n_marked, n_shown, out=np.zeros(len(n_shown)), where=n_shown > 0)
    sizes, means = [], []
    for mask in (stereotype & enters, ~stereotype & enters):
        size = np.bincount(group[mask], minlength=len(blocks))
        total = np.bincount(group[mask], weights=share[mask], minlength=len(blocks))
        sizes.append(size)
        means.append(ratio(total, size))
    return RoleMeans(blocks, *sizes, *means)


def resampled_role_means(
    resampling: Resampling, stereotype: Array, counted: Array, *, score: Array | None = None
) -> Iterator[ResampledRoleMeans]:
    """`score`: one number per cell (NaN = none), averaged over the marked stereotypes of each resample."""
    data = resampling.judgements
    start = 0
    for block in resampling.blocks():
        codes, group = np.unique(data.cell_block[block.cells], return_inverse=True)
        groups = len(codes)
        weighted = block.n_shown > 0
        share = np.divide(block.n_marked, block.n_shown, out=np.zeros(block.n_shown.shape), where=weighted)
        is_stereotype, enters = stereotype[block.cells], counted[block.cells]
        means = []
        for mask in (is_stereotype & enters, ~is_stereotype & enters):
            gather = _gather(group, mask.astype(float), groups)
            size = gather @ weighted.astype(np.float32)
            total = gather @ share
            means.append(ratio(total, size))
        dropped = _gather(group, enters.astype(float), groups) @ (~weighted).astype(np.float32) > 0
        marked_score = None
        if score is not None:
            rated = is_stereotype & enters & ~np.isnan(score[block.cells])
            marks = (block.n_marked > 0).astype(np.float32)
            size = _gather(group, rated.astype(float), groups) @ marks
            total = _gather(group, np.where(rated, score[block.cells], 0.0), groups) @ marks
            marked_score = ratio(total, size)
        yield ResampledRoleMeans(slice(start, start + groups), means[0], means[1], dropped, marked_score)
        start += groups


def _gather(group: Array, values: Array, groups: int) -> csr_array:
    """A sparse groups × cells matrix that sums `values`-weighted cells into their group."""
    return csr_array((values, (group, np.arange(len(group)))), shape=(groups, len(group)))
