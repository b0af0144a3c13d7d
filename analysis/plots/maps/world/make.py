"""Make world.json: `python -m analysis.plots.maps.world.make countries-50m.json codes.json` (README.md)."""

import json
import re
import sys
from pathlib import Path
from typing import Any

from vl_convert import vegalite_to_svg

from analysis.plots.maps.world import ANTARCTICA, HEIGHT, HERE, PROJECTION, WIDTH, topology

UNCODED = {"Kosovo": "XKX"}
SCHEMA = "https://vega.github.io/schema/vega-lite/v6.json"


def draw_countries(finer: dict[str, Any], alpha_3: dict[str, str]) -> list[dict[str, Any]]:
    """Return the countries of world.json; `finer` is a topology that includes very small countries."""

    def code(geometry: dict[str, Any]) -> str:
        return alpha_3.get(geometry.get("id", ""), UNCODED.get(geometry["properties"]["name"], ""))

    shapes = [
        shape for shape in topology()["objects"]["countries"]["geometries"] if shape.get("id") != ANTARCTICA
    ]
    paths = _paths(topology(), [shape["properties"]["name"] for shape in shapes])
    countries = [
        {"code": code(shape), "name": shape["properties"]["name"], "id": shape.get("id", ""), "path": path}
        for shape, path in zip(shapes, paths, strict=True)
    ]
    drawn = {country["code"] for country in countries} | {"ATA"}
    finer_shapes = finer["objects"]["countries"]["geometries"]
    small = [shape for shape in finer_shapes if code(shape) and code(shape) not in drawn]
    places = [_middle(finer, shape) for shape in small]
    for shape, (longitude, latitude), (x, y) in zip(small, places, _placed(places), strict=True):
        place = {"x": x, "y": y, "longitude": longitude, "latitude": latitude}
        countries.append({"code": code(shape), "name": shape["properties"]["name"], **place})
    return countries


def _paths(world: dict[str, Any], names: list[str]) -> list[str]:
    layer = {
        "data": {"values": world, "format": {"type": "topojson", "feature": "countries"}},
        "transform": [{"filter": f"datum.id !== '{ANTARCTICA}'"}],
        "mark": "geoshape",
        "encoding": {"description": {"field": "properties.name", "type": "nominal"}},
    }
    paths: dict[str, str] = {}
    for tag in re.findall(r"<path [^>]*>", _drawn(layer)):
        name, path = re.search(r'aria-label="([^"]*)"', tag), re.search(r' d="([^"]*)"', tag)
        if name and path:
            paths[name[1].replace("&amp;", "&")] = _shorter(path[1])
    return [paths[name] for name in names]


def _placed(places: list[tuple[float, float]]) -> list[tuple[float, float]]:
    values = [{"longitude": longitude, "latitude": latitude} for longitude, latitude in places]
    encoding = {axis: {"field": axis, "type": "quantitative"} for axis in ("longitude", "latitude")}
    drawn = _drawn({"data": {"values": values}, "mark": "circle", "encoding": encoding})
    marks = re.findall(r'<path [^>]*transform="translate\(([-\d.]+),([-\d.]+)\)"[^>]*circle', drawn)
    marks = marks or re.findall(r'<path [^>]*circle[^>]*transform="translate\(([-\d.]+),([-\d.]+)\)"', drawn)
    return [(round(float(x), 1), round(float(y), 1)) for x, y in marks]


def _drawn(layer: dict[str, Any]) -> str:
    size = {"width": WIDTH, "height": HEIGHT, "padding": 0, "projection": PROJECTION}
    return str(vegalite_to_svg({"$schema": SCHEMA, **size, **layer}))


def _shorter(path: str) -> str:
    """Return the path in relative coordinates rounded to a tenth, which halves its length."""
    written, before = "", (0, 0)
    for command, x, y in re.findall(r"([ML])(-?[\d.]+),(-?[\d.]+)|Z", path):
        if not command:
            written += "z"
            continue
        place = round(float(x) * 10), round(float(y) * 10)
        step = place if command == "M" else (place[0] - before[0], place[1] - before[1])
        if command == "M" or step != (0, 0):
            written += ("M" if command == "M" else "l") + " ".join(f"{part / 10:g}" for part in step)
        before = place
    return written.replace(" -", "-")


def _middle(world: dict[str, Any], geometry: dict[str, Any]) -> tuple[float, float]:
    """Return the centre of the box around the largest ring, as longitude and latitude in degrees."""
    (scale_x, scale_y), (from_x, from_y) = world["transform"]["scale"], world["transform"]["translate"]
    polygons = geometry["arcs"] if geometry["type"] == "MultiPolygon" else [geometry["arcs"]]
    boxes = []
    for outer in (rings[0] for rings in polygons):
        xs, ys = [], []
        for arc in outer:
            x = y = 0
            for step_x, step_y in world["arcs"][arc if arc >= 0 else ~arc]:
                x, y = x + step_x, y + step_y
                xs.append(x * scale_x + from_x)
                ys.append(y * scale_y + from_y)
        boxes.append((min(xs), max(xs), min(ys), max(ys)))
    west, east, low, high = max(boxes, key=lambda box: (box[1] - box[0]) * (box[3] - box[2]))
    return round((west + east) / 2, 2), round((low + high) / 2, 2)


if __name__ == "__main__":
    codes = {number: alpha_3 for _, alpha_3, number, *_ in json.loads(Path(sys.argv[2]).read_text())}
    lines = draw_countries(json.loads(Path(sys.argv[1]).read_text()), codes)
    text = ",\n".join(json.dumps(country, ensure_ascii=False) for country in lines)
    (HERE / "world.json").write_text(f"[\n{text}\n]\n", encoding="utf-8")
