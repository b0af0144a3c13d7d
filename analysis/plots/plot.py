"""What every plot has: the question it answers, units, how many it rests on, two widths, and its numbers."""

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path
from typing import Any

from django.contrib.staticfiles import finders

WIDE, NARROW = 600.0, 340.0


@dataclass(frozen=True)
class Plot:
    """`wide` and `narrow` are one plot for a desk and for a phone; `columns` and `rows` are what it shows."""

    name: str
    title: str
    units: str
    n: int
    wide: str
    narrow: str
    columns: Sequence[str]
    rows: Sequence[Sequence[Any]]
    legend: Sequence[tuple[str, str]] = field(default_factory=tuple)

    def standalone(self) -> str:
        """The wide plot as a file of its own: title, units and colours inside."""
        head = (
            f'<style>{_light_style()}</style><rect class="paper" width="100%" height="100%"/>'
            f'<text class="plot-heading" x="12" y="22">{_escaped(self.title)}</text>'
            f'<text x="12" y="40">{_escaped(f"{self.units} · n = {self.n:,}")}</text>'
        )
        size = re.search(r'viewBox="0 0 ([\d.]+) ([\d.]+)"', self.wide)
        if size is None:
            raise ValueError("a plot's SVG needs a viewBox")
        width, height = float(size[1]) + 24, float(size[2]) + 64
        inner = re.sub(
            r"<svg[^>]*>", f'<svg x="12" y="52" width="{size[1]}" height="{size[2]}">', self.wide, count=1
        )
        return (
            f'<svg xmlns="http://www.w3.org/2000/svg" width="{width:g}" height="{height:g}" '
            f'viewBox="0 0 {width:g} {height:g}">{head}{inner}</svg>'
        )


def _escaped(text: str) -> str:
    return text.replace("&", "&amp;").replace("<", "&lt;")


def stylesheet(name: str) -> str:
    """The text of a stylesheet among the static files."""
    path = finders.find(name)
    if not isinstance(path, str):
        raise FileNotFoundError(name)
    return Path(path).read_text(encoding="utf-8")


@lru_cache(maxsize=1)
def _light_style() -> str:
    """The stylesheet of plots with the light colours written out: not only browsers read such a file."""
    light = stylesheet("web/tokens.css").partition("@media")[0]
    colours = dict(re.findall(r"(--[\w-]+):\s*([^;]+);", light))
    style = re.sub(r"var\((--[\w-]+)\)", lambda found: colours[found[1]], stylesheet("analysis/plots.css"))
    style = re.sub(r"/\*.*?\*/", "", style, flags=re.S)
    style = style.partition("@media")[0].replace(".drawing ", "")
    return (
        " ".join(style.split())
        + " .paper { fill: #ffffff; } .plot-heading { font-weight: 600; font-size: 15px; }"
    )
