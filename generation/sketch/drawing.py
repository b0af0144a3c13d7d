"""A whole drawing: a figure, the attributes it was given, and where each of them is."""

import hashlib
import random
from collections.abc import Callable, Iterable
from dataclasses import dataclass

from generation.sketch import carried, worn
from generation.sketch.canvas import Canvas
from generation.sketch.figure import (
    Figure,
    draw_arms,
    draw_face,
    draw_head,
    draw_legs,
    draw_place,
    draw_shadow,
    draw_tunic,
    invent,
)

Part = Callable[[Canvas, Figure], None]

# In the order in which they are drawn, from back to front, around the parts of the figure.
_BEHIND: dict[str, Part] = {
    "ladder": carried.ladder,
    "broom": carried.broom,
    "kite": carried.kite,
    "green cape": worn.green_cape,
}
_BODY: dict[str, Part] = {
    "red boots": worn.red_boots,
    "striped coat": worn.striped_coat,
    "flute": worn.flute,
    "star badge": worn.star_badge,
    "bell": worn.bell,
}
_HEAD: dict[str, Part] = {
    "blue scarf": worn.blue_scarf,
    "round glasses": worn.round_glasses,
    "tall hat": worn.tall_hat,
    "flower": worn.flower,
}
_HANDS: dict[str, Part] = {"umbrella": carried.umbrella, "lantern": carried.lantern}
_FRONT: dict[str, Part] = {
    "drum": carried.drum,
    "basket": carried.basket,
    "fish": carried.fish,
    "map": carried.chart,
    "book": carried.book,
}
PARTS = tuple(sorted({**_BEHIND, **_BODY, **_HEAD, **_HANDS, **_FRONT}))


@dataclass(frozen=True)
class Drawing:
    """A PNG file, and for each attribute in it a box in fractions of the image."""

    png: bytes
    drawn: tuple[dict[str, str | float], ...]


def draw(*, seed: int, attributes: Iterable[str]) -> Drawing:
    """Draw the figure of `seed` with exactly these attributes. The same arguments give the same bytes."""
    wanted = frozenset(attributes)
    unknown = wanted - set(PARTS)
    if unknown:
        raise ValueError(f"attributes must be among PARTS, not {sorted(unknown)}")
    generator = random.Random(int.from_bytes(hashlib.sha256(f"figure:{seed}".encode()).digest()[:8], "big"))
    canvas = Canvas(mirrored=generator.random() < 0.5)
    figure = invent(generator, holds=wanted)
    boxes: dict[str, dict[str, float]] = {}

    def add(parts: dict[str, Part]) -> None:
        for name, part in parts.items():
            if name in wanted:
                with canvas.measured() as extent:
                    part(canvas, figure)
                boxes[name] = extent.box()

    draw_place(canvas, figure)
    if "kite" in wanted:
        carried.kite_string(canvas, figure)
    add(_BEHIND)
    draw_shadow(canvas)
    draw_legs(canvas, figure)
    draw_tunic(canvas, figure)
    add(_BODY)
    if "green cape" in wanted:
        worn.cape_collar(canvas, figure)
    draw_head(canvas, figure)
    draw_face(canvas, figure)
    add(_HEAD)
    if "lantern" in wanted:
        carried.lantern_glow(canvas, figure)
    add(_HANDS)
    draw_arms(canvas, figure, sleeve=worn.COAT if "striped coat" in wanted else figure.garment)
    add(_FRONT)
    return Drawing(canvas.png(), tuple({"attribute": name, **boxes[name]} for name in sorted(boxes)))
