"""Heat maps of shares: grids of coloured cells, one below the other, on one scale."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

from analysis.plots.maps.choropleth import Scale
from analysis.plots.plot import NARROW, WIDE
from analysis.plots.svg import Svg, shortened
from foundation.formats import DASH, format_number

CELL_HEIGHT, HEAD, GAP = 24.0, 24.0, 16.0
LETTER = 6.6  # approximate width of a letter in a label
UPRIGHT = 7.6  # the same in a rotated label
# One scale for all studies and measures, so that maps can be compared: below 5 %, … , 40 % or more.
SHARES = Scale("Share", (0.05, 0.1, 0.2, 0.4), tuple(f"map-s{n}" for n in range(1, 6)))
UNDEFINED = "map-undefined"


@dataclass(frozen=True)
class HeatCell:
    """The share in one cell of a grid; None if undefined. `says` has the numbers or the reason."""

    grid: str
    row: str
    column: str
    value: float | None
    says: str

    @property
    def text(self) -> str:
        """The share in per cent, without the sign."""
        return DASH if self.value is None else format_number(self.value * 100, 0)

    @property
    def colour(self) -> str:
        return UNDEFINED if self.value is None else SHARES.colour(self.value)


def share_legend() -> list[tuple[str, str]]:
    """Return (colour, words) of each class and of cells without a share."""
    ends = [f"{threshold:.0%}".replace("%", "\u202f%") for threshold in SHARES.thresholds]
    between = [f"{low} to {high}" for low, high in pairwise(ends)]
    words = [f"below {ends[0]}", *between, f"{ends[-1]} or more"]
    return [*zip(SHARES.colours, words, strict=True), (UNDEFINED, "nothing scored")]


def heat_map(cells: Sequence[HeatCell], *, title: str) -> tuple[str, str]:
    """Return the wide and the narrow drawing. Rows, columns and grids keep the order of the cells."""
    return _drawing(cells, title, WIDE), _drawing(cells, title, NARROW)


def _drawing(cells: Sequence[HeatCell], title: str, width: float) -> str:
    grids, columns = _distinct(cells, "grid"), _distinct(cells, "column")
    svg = Svg(width, title=title)
    longest = max(len(cell.row) for cell in cells)
    left = min(width * 0.36, 10 + LETTER * longest)
    across = (width - left) / len(columns)
    upright = LETTER * max(map(len, columns)) > across - 4
    head = min(120.0, UPRIGHT * max(map(len, columns)) + 8) if upright else HEAD
    top = 0.0
    for grid in grids:
        of_grid = [cell for cell in cells if cell.grid == grid]
        if len(grids) > 1:
            svg.words(0, top + 14, shortened(grid, int(width / LETTER)), "plot-label")
            top += HEAD
        for place, column in enumerate(columns):
            x = left + across * (place + 0.5)
            if upright:
                turned = f"rotate(-90 {x + 4:.1f} {top + head - 6:.1f})"
                words = shortened(column, int(head / UPRIGHT) + 1)
                svg.add("text", words, x=x + 4, y=top + head - 6, class_="plot-tick", transform=turned)
            else:
                svg.words(x, top + head - 8, column, "plot-tick", "middle")
        top += head
        rows = _distinct(of_grid, "row")
        for place, row in enumerate(rows):
            y = top + CELL_HEIGHT * place
            svg.words(left - 8, y + 16, shortened(row, int((left - 8) / LETTER)), "plot-label", "end")
            for cell in of_grid:
                if cell.row == row:
                    _cell(svg, cell, left + across * columns.index(cell.column), y, across)
        top += CELL_HEIGHT * len(rows) + GAP
    svg.height = top - GAP
    return svg.text()


def _cell(svg: Svg, cell: HeatCell, x: float, y: float, width: float) -> None:
    svg.add("rect", x=x, y=y, width=width, height=CELL_HEIGHT, class_=f"{cell.colour} heat")
    svg.words(x + width / 2, y + 16, cell.text, f"heat-value on-{cell.colour}", "middle")


def _distinct(cells: Sequence[HeatCell], name: str) -> list[str]:
    return list(dict.fromkeys(getattr(cell, name) for cell in cells))
