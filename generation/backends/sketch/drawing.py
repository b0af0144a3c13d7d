"""Complete drawings: a figure, its attributes and their positions."""

import hashlib
import random
from collections.abc import Callable, Iterable
from dataclasses import dataclass

from generation.backends.sketch import clothes, props
from generation.backends.sketch.canvas import Canvas
from generation.backends.sketch.figure import (
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

# From back to front, in the order of drawing, around the parts of the figure.
_BEHIND: dict[str, Part] = {
    "ladder": props.ladder,
    "broom": props.broom,
    "kite": props.kite,
    "green cape": clothes.green_cape,
}
_BODY: dict[str, Part] = {
    "red boots": clothes.red_boots,
    "striped coat": clothes.striped_coat,
    "flute": clothes.flute,
    "star badge": clothes.star_badge,
    "bell": clothes.bell,
}
_HEAD: dict[str, Part] = {
    "blue scarf": clothes.blue_scarf,
    "round glasses": clothes.round_glasses,
    "tall hat": clothes.tall_hat,
    "flower": clothes.flower,
}
_HANDS: dict[str, Part] = {"umbrella": props.umbrella, "lantern": props.lantern}
_FRONT: dict[str, Part] = {
    "drum": props.drum,
    "basket": props.basket,
    "fish": props.fish,
    "map": props.chart,
    "book": props.book,
}
PARTS = tuple(sorted({**_BEHIND, **_BODY, **_HEAD, **_HANDS, **_FRONT}))


@dataclass(frozen=True)
class Drawing:
    """A PNG file, and the box of each attribute in it, in fractions of the image."""

    png: bytes
    drawn: tuple[dict[str, str | float], ...]


def draw(*, seed: int, attributes: Iterable[str]) -> Drawing:
    """Draw the figure of `seed` with exactly these attributes. The same arguments give the same bytes."""
    names = frozenset(attributes)
    unknown = names - set(PARTS)
    if unknown:
        raise ValueError(f"attributes must be among PARTS, not {sorted(unknown)}")
    generator = random.Random(int.from_bytes(hashlib.sha256(f"figure:{seed}".encode()).digest()[:8], "big"))
    canvas = Canvas(mirrored=generator.random() < 0.5)
    figure = invent(generator, holds=names)
    boxes: dict[str, dict[str, float]] = {}

    def add(parts: dict[str, Part]) -> None:
        for name, part in parts.items():
            if name in names:
                with canvas.measured() as extent:
                    part(canvas, figure)
                boxes[name] = extent.box()

    draw_place(canvas, figure)
    if "kite" in names:
        props.kite_string(canvas, figure)
    add(_BEHIND)
    draw_shadow(canvas)
    draw_legs(canvas, figure)
    draw_tunic(canvas, figure)
    add(_BODY)
    if "green cape" in names:
        clothes.cape_collar(canvas, figure)
    draw_head(canvas, figure)
    draw_face(canvas, figure)
    add(_HEAD)
    if "lantern" in names:
        props.lantern_glow(canvas, figure)
    add(_HANDS)
    draw_arms(canvas, figure, sleeve=clothes.COAT if "striped coat" in names else figure.garment)
    add(_FRONT)
    return Drawing(canvas.png(), tuple({"attribute": name, **boxes[name]} for name in sorted(boxes)))
