"""Picture files: of one size, small, and unchanged if a new picture looks the same."""

import io
from pathlib import Path

from PIL import Image, ImageChops

FOLDER = Path(__file__).resolve().parents[4] / "docs" / "images"
SIZE = (1280, 800)
COLOURS = 128
# Two pictures look the same if at most this share of their pixels differs by more than this in a channel. Random codes
# of annotators and links change less; a changed sentence changes more.
SAME_SHARE, SAME_VALUE = 0.004, 48


def save(name: str, data: bytes) -> bool:
    """Write docs/images/<name>.png with few colours, unless the file looks the same; return whether it was written."""
    picture = Image.open(io.BytesIO(data)).convert("RGB")
    if picture.size != SIZE:
        raise ValueError(f"{name} has {picture.size} pixels, not {SIZE}.")
    path = FOLDER / f"{name}.png"
    small = picture.quantize(COLOURS, method=Image.Quantize.MEDIANCUT, dither=Image.Dither.NONE)
    if path.exists():
        with Image.open(path) as before:
            if look_the_same(before.convert("RGB"), small.convert("RGB")):
                return False
    small.save(path, optimize=True)
    return True


def look_the_same(first: Image.Image, second: Image.Image) -> bool:
    """Return whether hardly any pixel of two pictures differs visibly."""
    if first.size != second.size:
        return False
    difference = (
        ImageChops.difference(first, second).convert("L").point(lambda value: value > SAME_VALUE and 255)
    )
    return difference.histogram()[255] <= SAME_SHARE * first.width * first.height
