"""Coverage of the 95 % intervals of probes.

    python -m benchmarks coverage_probes        (make bench)

Each world draws new scenarios: the probability of plus, its increase for blue people, and the probability of a
refusal. Worlds are the models of one table, so that the measures run as they do for users.
"""

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
import pandas as pd

from analysis.metrics import association_scores, paired_comparison
from analysis.metrics.data.arrays import Array
from benchmarks.table import Row

SEEDS = 400  # a share of 0.95 has a standard error of 0.011
ALLOWED = (0.93, 0.995)
SHIFT = 0.1  # mean increase of the probability of plus for blue people
REFUSED = (2.0, 8.0)  # of a Beta distribution
MANY = 200_000


@dataclass(frozen=True)
class Cell:
    """Numbers of scenarios, of questions in each, and of repeats and orders of each request."""

    scenarios: int
    questions: int
    repeats: int
    orders: int

    @property
    def answers(self) -> int:
        return self.questions * self.repeats * self.orders


CELLS = (Cell(20, 1, 3, 2), Cell(20, 5, 3, 1), Cell(10, 1, 3, 2), Cell(10, 1, 3, 1), Cell(40, 1, 1, 2))


def chances(worlds: int, scenarios: int, generator: np.random.Generator) -> tuple[Array, Array]:
    """Return the probabilities of plus and of a refusal per world, scenario and colour (blue, red)."""
    plus = generator.uniform(0.2, 0.8, (worlds, scenarios, 1)) + np.stack(
        [generator.uniform(0, 2 * SHIFT, (worlds, scenarios)), np.zeros((worlds, scenarios))], axis=2
    )
    refused = np.broadcast_to(generator.beta(*REFUSED, (worlds, scenarios, 1)), plus.shape)
    return plus, refused


def answers(cell: Cell, seeds: int, generator: np.random.Generator) -> pd.DataFrame:
    plus, refused = chances(seeds, cell.scenarios, generator)
    shape = (*plus.shape, cell.questions, cell.repeats, cell.orders)
    chosen = np.where(generator.random(shape) < plus[..., None, None, None], "plus", "minus")
    outcome = np.where(generator.random(shape) < refused[..., None, None, None], "refused", chosen)
    world, scenario, colour, question, repeat, order = (axis.ravel() for axis in np.indices(shape))
    return pd.DataFrame(
        {
            "model": world,
            "experiment": "work",
            "scenario": scenario,
            "question": question,
            "group": np.array(["blue", "red"])[colour],
            "repeat": repeat,
            "order": order,
            "outcome": outcome.ravel(),
        }
    )


def effect(cell: Cell, generator: np.random.Generator) -> float:
    """Return d_z of all possible scenarios."""
    plus, refused = (values[0] for values in chances(1, MANY, generator))
    decided = generator.binomial(cell.answers, 1 - refused)
    mean = (2 * generator.binomial(decided, plus) - decided) / cell.answers
    difference = mean[:, 0] - mean[:, 1]
    return float(difference.mean() / difference.std())


def coverage(cell: Cell, seeds: int) -> dict[str, float]:
    """Return the share of worlds whose interval covers the truth, per measure."""
    generator = np.random.default_rng([7, cell.scenarios, cell.answers])
    frame = answers(cell, seeds, generator)
    decides = 1 - REFUSED[0] / sum(REFUSED)
    scores = association_scores(frame).table.query("group == 'blue'")
    tests = paired_comparison(frame).table
    truth = {
        "association": (scores, "ci_low", "ci_high", decides * 2 * SHIFT),
        "refusal rate": (scores, "refusal_low", "refusal_high", 1 - decides),
        "difference": (tests, "ci_low", "ci_high", decides * 2 * SHIFT),
        "d_z": (tests, "d_z_low", "d_z_high", effect(cell, generator)),
    }
    return {
        name: float(((table[low] <= value) & (value <= table[high])).fillna(False).mean())
        for name, (table, low, high, value) in truth.items()
    }


def run(seeds: int = SEEDS) -> Iterable[Row]:
    low, high = ALLOWED
    for cell in CELLS:
        where = f"{cell.scenarios} scenarios × {cell.questions} × {cell.repeats} × {cell.orders}"
        for name, share in coverage(cell, seeds).items():
            yield Row(f"coverage of {name}, {where}", f"{share:.3f}", f"{low} … {high}", low <= share <= high)
