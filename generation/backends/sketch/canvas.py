"""A canvas of 512 × 512 units, drawn at four times the size and averaged, so that edges are smooth."""

import io
import math
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field

from PIL import Image, ImageDraw

SIZE = 512
_SCALE = 4

Point = tuple[float, float]
Colour = tuple[int, int, int] | tuple[int, int, int, int]


@dataclass
class Extent:
    """The extent of a drawn shape, in units of the canvas."""

    xs: list[float] = field(default_factory=list)
    ys: list[float] = field(default_factory=list)

    def box(self) -> dict[str, float]:
        """Return the bounding box as fractions of the image, clipped to the image."""
        left, right = (min(max(edge, 0.0), SIZE) / SIZE for edge in (min(self.xs), max(self.xs)))
        top, bottom = (min(max(edge, 0.0), SIZE) / SIZE for edge in (min(self.ys), max(self.ys)))
        return {
            "x": round(left, 4),
            "y": round(top, 4),
            "width": round(right - left, 4),
            "height": round(bottom - top, 4),
        }


class Canvas:
    """Filled shapes with smooth edges. `mirrored` flips everything left to right."""

    def __init__(self, *, mirrored: bool) -> None:
        self._mirrored = mirrored
        self._image = Image.new("RGB", (SIZE * _SCALE, SIZE * _SCALE))
        self._draw = ImageDraw.Draw(self._image, "RGBA")
        self._extents: list[Extent] = []

    @contextmanager
    def measured(self) -> Iterator[Extent]:
        """Collect the extent of everything drawn inside the `with` block."""
        extent = Extent()
        self._extents.append(extent)
        yield extent
        self._extents.pop()

    def polygon(self, points: Iterable[Point], fill: Colour) -> None:
        self._draw.polygon(self._place(points), fill=fill)

    def blob(self, points: Sequence[Point], fill: Colour) -> None:
        """Fill the smooth closed curve through the points."""
        self.polygon(smooth(points, closed=True), fill)

    def ellipse(self, x: float, y: float, rx: float, ry: float, fill: Colour, *, turn: float = 0) -> None:
        """Fill an ellipse around (x, y), turned by `turn` degrees clockwise."""
        self.polygon(oval(x, y, rx, ry, turn=turn), fill)

    def stroke(self, points: Sequence[Point], width: float, fill: Colour, *, curved: bool = True) -> None:
        """Draw a line with round ends: a smooth curve through the points, or straight between them."""
        path = smooth(points, closed=False) if curved and len(points) > 2 else list(points)
        self.polygon(_ribbon(path, width), fill)
        if not curved:
            for x, y in path[1:-1]:
                self.ellipse(x, y, width / 2, width / 2, fill)
        for x, y in (path[0], path[-1]):
            self.ellipse(x, y, width / 2, width / 2, fill)

    def gradient(self, top: Colour, bottom: Colour) -> None:
        """Fill the canvas from one colour to another."""
        for row in range(SIZE * _SCALE):
            share = row / (SIZE * _SCALE - 1)
            shade = tuple(round(a + (b - a) * share) for a, b in zip(top, bottom, strict=True))
            self._draw.line([(0, row), (SIZE * _SCALE, row)], fill=shade)

    def png(self) -> bytes:
        """Return the finished picture."""
        file = io.BytesIO()
        # Box averaging uses integers, so every machine gets the same pixels.
        self._image.reduce(_SCALE).save(file, "PNG", optimize=False, compress_level=6)
        return file.getvalue()

    def _place(self, points: Iterable[Point]) -> list[tuple[int, int]]:
        placed = []
        for unflipped, y in points:
            x = SIZE - unflipped if self._mirrored else unflipped
            for extent in self._extents:
                extent.xs.append(x)
                extent.ys.append(y)
            placed.append((round(x * _SCALE), round(y * _SCALE)))
        return placed


def oval(
    x: float, y: float, rx: float, ry: float, *, turn: float = 0, start: float = 0, end: float = 360
) -> list[Point]:
    """Return points along an ellipse from `start` to `end` degrees (0 is right, 90 is down)."""
    count = max(8, round(abs(end - start) / 5))
    cos, sin = math.cos(math.radians(turn)), math.sin(math.radians(turn))
    points = []
    for step in range(count + 1):
        angle = math.radians(start + (end - start) * step / count)
        dx, dy = rx * math.cos(angle), ry * math.sin(angle)
        points.append((x + dx * cos - dy * sin, y + dx * sin + dy * cos))
    return points


def smooth(points: Sequence[Point], *, closed: bool) -> list[Point]:
    """Return a Catmull-Rom curve through the points."""
    count = len(points)
    segments = count if closed else count - 1
    curve: list[Point] = []
    for index in range(segments):
        corners = [
            points[(index + offset) % count if closed else min(max(index + offset, 0), count - 1)]
            for offset in (-1, 0, 1, 2)
        ]
        curve.extend(_between(corners, step / 10) for step in range(10))
    curve.append(points[0] if closed else points[-1])
    return curve


def _between(corners: Sequence[Point], t: float) -> Point:
    before, start, end, after = corners
    x, y = (
        0.5
        * (2 * b + (c - a) * t + (2 * a - 5 * b + 4 * c - d) * t * t + (3 * b - a - 3 * c + d) * t * t * t)
        for a, b, c, d in zip(before, start, end, after, strict=True)
    )
    return x, y


def _ribbon(path: Sequence[Point], width: float) -> list[Point]:
    """Return the outline of a line with a width."""
    left: list[Point] = []
    right: list[Point] = []
    for index, (x, y) in enumerate(path):
        ax, ay = path[max(index - 1, 0)]
        bx, by = path[min(index + 1, len(path) - 1)]
        length = math.hypot(bx - ax, by - ay) or 1.0
        nx, ny = (ay - by) / length * width / 2, (bx - ax) / length * width / 2
        left.append((x + nx, y + ny))
        right.append((x - nx, y - ny))
    return left + right[::-1]
