"""Coverage of the 95 % intervals of L, θ, pooled θ and agreement.

    python -m benchmarks coverage        (make bench)

Each study is simulated: an attribute is truly in an image with probability p (drawn per image), and an annotator who
misses with rate fn and imagines with rate fp marks it with probability p(1 − fn) + (1 − p)fp on average: the truth
that intervals should cover. Annotators differ in fn and fp, and each judges many images. Every stated cell has at
least 10 expected marks per role. Coverage must lie between 0.93 and 0.995. Percentile intervals of few clusters are
too narrow: of images alone (ids that are screens) with 15 to 20 images per group, and of three annotators who differ
and see everything. Those cells are also measured, say so in their names, and must stay above 0.85. Agreement has its
own studies: `agreement`. Some minutes on two cores.
"""

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
import pandas as pd

from analysis.metrics import likelihood, pigeonhole_bootstrap, tendency
from analysis.metrics.data.arrays import Array
from benchmarks.analysis.coverage import agreement
from benchmarks.table import Row

SEEDS, RESAMPLES = 400, 1_000
ALLOWED = (0.93, 0.995)
SHORT = (0.85, 0.995)
LEAST_MARKS = 10


@dataclass(frozen=True)
class Cell:
    """A type of study. `p` are the shares of images that truly show a stereotype and a random attribute."""

    name: str
    groups: int
    images: int
    attributes: int  # per role
    annotators: int
    per_task: int
    p: tuple[float, float]
    fn: float
    fp: float
    spread: float  # annotators' error rates lie within ± this share of fn and fp
    nested: bool = False  # every image has different annotators: ids are unusable, only images are resampled
    allowed: tuple[float, float] = ALLOWED

    @property
    def truth(self) -> Array:
        p = np.array(self.p)
        return p * (1 - self.fn) + (1 - p) * self.fp

    @property
    def marks(self) -> float:
        """Return the expected marks of one attribute of the rarer role in one group."""
        return float(self.images * self.per_task * self.truth.min())


CELLS = (
    Cell("ViSAGe-like", 6, 15, 8, 12, 3, (0.45, 0.25), 0.10, 0.02, 0.5),
    Cell("many images", 4, 40, 6, 20, 3, (0.30, 0.12), 0.10, 0.02, 0.5),
    Cell("noisy annotators", 4, 30, 6, 15, 3, (0.50, 0.20), 0.25, 0.08, 0.8),
    Cell("five per task", 4, 20, 5, 10, 5, (0.40, 0.20), 0.10, 0.03, 0.5),
    Cell("ids are screens", 4, 60, 6, 40, 3, (0.40, 0.25), 0.10, 0.02, 0.5, nested=True),
    Cell("screens, 15 images", 6, 15, 8, 40, 3, (0.45, 0.30), 0.10, 0.02, 0.5, nested=True, allowed=SHORT),
    Cell("screens, 20 images", 4, 20, 6, 40, 3, (0.40, 0.25), 0.10, 0.02, 0.5, nested=True, allowed=SHORT),
    Cell("three who differ", 4, 60, 6, 3, 3, (0.50, 0.20), 0.25, 0.08, 0.9, allowed=SHORT),
)


def study(cell: Cell, generator: np.random.Generator) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Return one simulated study: judgements and roles."""
    per_group = 2 * cell.attributes
    shape = (cell.groups, cell.images, per_group)
    presence = np.repeat(cell.p, cell.attributes)
    truly = generator.random(shape) < presence
    rates = 1 + cell.spread * generator.uniform(-1, 1, (2, cell.annotators))
    fn, fp = cell.fn * rates[0], cell.fp * rates[1]
    order = np.argsort(generator.random((cell.groups, cell.images, cell.annotators)), axis=2)
    who = order[:, :, : cell.per_task]
    chance = np.where(truly[..., None, :], 1 - fn[who][..., None], fp[who][..., None])
    present = generator.random(chance.shape) < chance
    group, image, task, attribute = np.indices(present.shape).reshape(4, -1)
    frame = pd.DataFrame(
        {
            "image": group * cell.images + image,
            "identity_group": group,
            "attribute": attribute,
            "annotator": (group * cell.images + image) * cell.per_task + task
            if cell.nested
            else who[group, image, task],
            "present": present.ravel(),
        }
    )
    roles = pd.DataFrame(
        [(g, a, "stereotype") for g in range(cell.groups) for a in range(cell.attributes)],
        columns=["identity_group", "attribute", "role"],
    )
    return frame, roles


def covered(cell: Cell, seed: int, resamples: int) -> dict[str, Array]:
    """Return whether each interval of one study covers the truth. A null interval covers nothing."""
    frame, roles = study(cell, np.random.default_rng(np.random.SeedSequence([seed, len(cell.name)])))
    shared = pigeonhole_bootstrap(frame, resamples=resamples, seed=seed)
    cells = likelihood(frame, roles, resampling=shared).table
    table = tendency(frame, roles, resampling=shared)
    stereo, random = cell.truth
    truth = np.where(cells["role"] == "stereotype", stereo, random)
    pooled = table.overall[table.overall["statistic"] == "pooled"]
    return {
        "L": _covers(cells["ci_low"], cells["ci_high"], truth),
        "theta": _covers(table.table["theta_low"], table.table["theta_high"], stereo / random),
        "pooled theta": _covers(pooled["theta_low"], pooled["theta_high"], stereo / random),
    }


def _covers(low: pd.Series, high: pd.Series, truth: float | Array) -> Array:
    ends = (end.to_numpy(dtype=float, na_value=np.nan) for end in (low, high))
    below, above = ends
    return (below <= truth) & (truth <= above)


def coverage(cell: Cell, seeds: range, resamples: int) -> dict[str, float]:
    runs = [covered(cell, seed, resamples) for seed in seeds]
    return {name: float(np.concatenate([run[name] for run in runs]).mean()) for name in runs[0]}


def run(cells: Iterable[Cell] = CELLS, seeds: int = SEEDS) -> Iterable[Row]:
    for cell in cells:
        for name, share in coverage(cell, range(seeds), RESAMPLES).items():
            claim = f"coverage of {name}, {cell.name} ({cell.marks:.0f} marks expected, {seeds} seeds)"
            least, most = cell.allowed
            yield Row(claim, f"{share:.3f}", f"{least} to {most}", least <= share <= most)
    yield from agreement.run()
