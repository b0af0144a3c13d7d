"""The figure and its background; `clothes` and `props` draw its attributes."""

import random
from dataclasses import dataclass

from generation.backends.sketch.canvas import Canvas, Point, oval
from generation.backends.sketch.palette import (
    GARMENTS,
    INK,
    SCENES,
    SKINS,
    WHITE,
    Rgb,
    Scene,
    darker,
    lighter,
    mix,
)


@dataclass(frozen=True)
class Figure:
    """The properties in which figures differ."""

    scene: Scene
    skin: Rgb
    garment: Rgb
    ears: str
    mouth: str
    girth: float
    head: tuple[float, float]  # half width, half height
    left_hand: Point
    right_hand: Point
    hills: tuple[float, float, float]
    clouds: tuple[tuple[float, float, float], ...]
    disc: Point

    @property
    def face(self) -> Point:
        return 256.0, 188.0


def invent(generator: random.Random, *, holds: frozenset[str]) -> Figure:
    """Return a random figure. Choices are drawn in a fixed order, so `holds` changes only the hands."""
    scene, skin, garment = generator.choice(SCENES), generator.choice(SKINS), generator.choice(GARMENTS)
    ears = generator.choice(("round", "leaf", "feelers"))
    mouth = generator.choice(("smile", "open", "small"))
    girth = generator.uniform(-8, 10)
    head = generator.uniform(62, 72), generator.uniform(56, 64)
    left_hand = generator.choice(((170.0, 352.0), (176.0, 348.0), (150.0, 246.0)))
    right = generator.choice(((342.0, 352.0), (336.0, 346.0), (366.0, 250.0)))
    hills = generator.uniform(-30, 30), generator.uniform(-14, 10), generator.uniform(-60, 60)
    clouds = tuple(
        (generator.uniform(40, 472), generator.uniform(36, 120), generator.uniform(0.7, 1.2))
        for _ in range(2)
    )
    disc = generator.choice((96.0, 416.0)) + generator.uniform(-30, 30), generator.uniform(84, 150)
    return Figure(
        scene,
        skin,
        garment,
        ears,
        mouth,
        girth,
        head,
        (158.0, 300.0) if "lantern" in holds else left_hand,
        (366.0, 272.0) if "umbrella" in holds else right,
        hills,
        clouds,
        disc,
    )


def draw_place(canvas: Canvas, figure: Figure) -> None:
    """Draw sky, hills and ground."""
    scene = figure.scene
    canvas.gradient(scene.sky, scene.horizon)
    x, y = figure.disc
    canvas.ellipse(x, y, 54, 54, (*scene.disc, 110))
    canvas.ellipse(x, y, 42, 42, scene.disc)
    for cx, cy, size in figure.clouds:
        for dx, dy, rx, ry in ((-26, 4, 26, 12), (4, -5, 30, 17), (32, 5, 22, 10)):
            canvas.ellipse(cx + dx * size, cy + dy * size, rx * size, ry * size, (*WHITE, 120))
    tilt, lift, shift = figure.hills
    canvas.ellipse(120 + shift, 470 + lift, 300, 130 - tilt / 2, mix(scene.far, scene.horizon, 0.35))
    canvas.ellipse(410 + shift, 480 + lift, 270, 112 + tilt / 2, scene.far)
    canvas.ellipse(256, 640, 560, 240, scene.near)
    for step in range(9):
        gx = 30 + step * 58 + (step * 37 % 23)
        gy = 446 + (step * 53 % 41)
        for lean in (-4, 0, 4):
            canvas.stroke([(gx, gy), (gx + lean, gy - 8)], 1.8, darker(scene.near, 0.14))


def draw_shadow(canvas: Canvas) -> None:
    canvas.ellipse(256, 441, 104, 13, (*INK, 34))


def body_outline(figure: Figure) -> list[Point]:
    """Return the outline of the tunic, from the neck around the hem."""
    g = figure.girth
    half = [(28.0, 232.0), (47 + g / 3, 262), (60 + g, 320), (74 + g, 392), (60 + g, 410), (0, 414)]
    return [(256 + x, y) for x, y in half] + [(256 - x, y) for x, y in half[-2::-1]]


def draw_legs(canvas: Canvas, figure: Figure) -> None:
    for side in (-1, 1):
        x = 256 + side * 32
        canvas.stroke([(x, 398), (x + side * 2, 430)], 25, darker(figure.skin, 0.12))
        canvas.ellipse(x + side * 9, 434, 24, 12, darker(figure.skin, 0.2))


def draw_tunic(canvas: Canvas, figure: Figure) -> None:
    outline = body_outline(figure)
    canvas.blob(outline, figure.garment)
    g = figure.girth
    # A light fold on one side, a shaded fold on the other, and the hem.
    canvas.blob(
        [(282, 262), (304 + g / 2, 320), (326 + g, 398), (300 + g, 408), (296, 330)],
        (*darker(figure.garment), 70),
    )
    canvas.blob([(226, 262), (206 - g / 2, 330), (200 - g, 396), (214, 400), (222, 330)], (*WHITE, 46))
    canvas.stroke(
        [(186 - g, 398), (220, 407), (256, 409), (292, 407), (326 + g, 398)],
        5,
        (*darker(figure.garment), 120),
    )


def draw_arms(canvas: Canvas, figure: Figure, *, sleeve: Rgb) -> None:
    g = figure.girth / 2
    for shoulder, hand, side in (
        ((214 - g, 268.0), figure.left_hand, -1),
        ((298 + g, 268.0), figure.right_hand, 1),
    ):
        raised = hand[1] < 290
        elbow = ((shoulder[0] + hand[0]) / 2 + side * 14, (shoulder[1] + hand[1]) / 2 + (20 if raised else 4))
        wrist = (hand[0] * 0.82 + elbow[0] * 0.18, hand[1] * 0.82 + elbow[1] * 0.18)
        canvas.stroke([shoulder, elbow, wrist], 29, darker(sleeve, 0.2))
        canvas.stroke([shoulder, elbow, wrist], 26, darker(sleeve, 0.08))
        canvas.ellipse(*hand, 14.5, 14.5, figure.skin)


def draw_head(canvas: Canvas, figure: Figure) -> None:
    x, y = figure.face
    rx, ry = figure.head
    skin, shade = figure.skin, darker(figure.skin, 0.16)
    _draw_ears(canvas, figure, x, y, rx, ry)
    canvas.blob([(x - 20, 236), (x + 20, 236), (x + 22, 258), (x, 264), (x - 22, 258)], shade)
    canvas.ellipse(x, y, rx, ry, skin)
    canvas.polygon(oval(x, y, rx, ry, start=20, end=160), (*darker(skin, 0.3), 40))
    canvas.ellipse(x - rx * 0.34, y - ry * 0.5, rx * 0.34, ry * 0.22, (*WHITE, 46), turn=-24)


def _draw_ears(canvas: Canvas, figure: Figure, x: float, y: float, rx: float, ry: float) -> None:
    skin, inner = figure.skin, lighter(figure.skin, 0.4)
    for side in (-1, 1):
        if figure.ears == "round":
            canvas.ellipse(x + side * rx * 0.93, y - ry * 0.42, 19, 20, darker(skin, 0.1))
            canvas.ellipse(x + side * rx * 0.95, y - ry * 0.40, 10, 11, inner)
        elif figure.ears == "leaf":
            tip = (x + side * (rx + 34), y - ry * 0.62)
            base, low = (x + side * rx * 0.8, y - ry * 0.45), (x + side * rx * 0.86, y + 6)
            canvas.blob(
                [base, (tip[0] - side * 14, tip[1] - 3), tip, (tip[0] - side * 8, tip[1] + 24), low],
                darker(skin, 0.1),
            )
            canvas.stroke([(x + side * rx * 0.95, y - 10), (tip[0] - side * 8, tip[1] + 8)], 4, inner)
        else:
            knob = (x + side * 62, y - ry - 26)
            canvas.stroke(
                [(x + side * 34, y - ry * 0.8), (x + side * 44, y - ry - 12), knob], 6, darker(skin, 0.12)
            )
            canvas.ellipse(*knob, 9.5, 9.5, lighter(skin, 0.3))


def draw_face(canvas: Canvas, figure: Figure) -> None:
    x, y = figure.face
    for side in (-1, 1):
        canvas.ellipse(x + side * 25, y - 1, 8.5, 11, INK)
        canvas.ellipse(x + side * 25 - 2.5, y - 5, 3, 3.6, WHITE)
        canvas.ellipse(x + side * 43, y + 19, 12, 7.5, (230, 112, 130, 92))
    if figure.mouth == "open":
        canvas.polygon(oval(x, y + 20, 14, 15, start=0, end=180), darker(figure.skin, 0.72))
        canvas.ellipse(x, y + 30, 7, 4, (226, 120, 130))
    else:
        width = 15 if figure.mouth == "smile" else 9
        canvas.stroke(oval(x, y + 17, width, 10, start=20, end=160), 4.4, darker(figure.skin, 0.7))
