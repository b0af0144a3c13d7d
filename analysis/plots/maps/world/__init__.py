"""The shapes of countries, as SVG paths for pages and as topology for Vega-Lite; see README.md."""

import json
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent
# Equal Earth, rotated so that the map's edge runs through the Bering Strait; Antarctica is left out.
WIDTH, HEIGHT = 960, 424
PROJECTION = {"type": "equalEarth", "rotate": [-11, 0, 0], "scale": 176.0, "translate": [480, 241]}
ANTARCTICA = "010"


@dataclass(frozen=True)
class Country:
    """A country on the map: a path, or a point if it is too small. `id` is its id in the topology."""

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
    """Return all countries; those with a path come first."""
    return tuple(
        Country(**fields) for fields in json.loads((HERE / "world.json").read_text(encoding="utf-8"))
    )


def topology() -> dict[str, Any]:
    """Return the vendored topology of the shapes."""
    shapes: dict[str, Any] = json.loads((HERE / "countries-110m.json").read_text(encoding="utf-8"))
    return shapes
