"""Intervals cover a planted truth; the many-seed run is `make bench`."""

import pytest

from benchmarks.analysis.coverage.marks import LEAST_MARKS, Cell, coverage

CELL = Cell("of the test", 4, 15, 6, 12, 3, (0.45, 0.25), 0.10, 0.02, 0.5)


def test_cells_expect_enough_marks() -> None:
    from benchmarks.analysis.coverage.marks import CELLS

    assert all(cell.marks >= LEAST_MARKS for cell in (*CELLS, CELL))


@pytest.fixture(scope="module")
def shares() -> dict[str, float]:
    return coverage(CELL, range(40), 400)


# 40 seeds: L rests on 1,920 intervals, θ on 160, the pooled θ on 40. An interval that covers 85 % would put
# the latter below its limit in half of all worlds, L and θ nearly always; the seeds are fixed, so the outcome
# is too.
@pytest.mark.parametrize(
    ("name", "least", "most"), [("L", 0.95, 0.995), ("theta", 0.93, 0.999), ("pooled theta", 0.87, 1)]
)
def test_intervals_cover_the_planted_truth(
    shares: dict[str, float], name: str, least: float, most: float
) -> None:
    assert least <= shares[name] <= most
