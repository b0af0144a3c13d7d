"""The shapes of countries, as drawn paths for pages and as topology for Vega-Lite; see README.md."""

import json
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent
# Equal Earth, turned so that the edge runs through the Bering Strait; Antarctica is cut off below.
WIDTH, HEIGHT = 960, 424
PROJECTION = {"type": "equalEarth", "rotate": [-11, 0, 0], "scale": 176.0, "translate": [480, 241]}
ANTARCTICA = "010"


@dataclass(frozen=True)
class Country:
    """A country on the map: its path, or a place where it is too small for one. `id` names it in the topology."""

    code: str
    name: str
    id: str = ""
    path: str = ""
    x: float = 0.0
    y: float = 0.0
    longitude: float = 0.0
    latitude: float = 0.0


@lru_cache(maxsize=1)
def countries() -> tuple[Country, ...]:
    """Every country, those with a shape first."""
    return tuple(
        Country(**fields) for fields in json.loads((HERE / "world.json").read_text(encoding="utf-8"))
    )


def topology() -> dict[str, Any]:
    """The vendored topology of the shapes."""
    shapes: dict[str, Any] = json.loads((HERE / "countries-110m.json").read_text(encoding="utf-8"))
    return shapes
