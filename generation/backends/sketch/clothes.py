"""Clothes of a figure; each function draws one attribute."""

from generation.backends.sketch.canvas import Canvas, oval
from generation.backends.sketch.figure import Figure, body_outline
from generation.backends.sketch.palette import INK, WHITE, Rgb, darker, lighter, mix, rgb

_RED, _GREEN, _BLUE, _GOLD, _BRASS = map(rgb, ("#cf3f3a", "#3f9a5d", "#2f6fcb", "#f0bc3e", "#d9a436"))
COAT = rgb("#efe6d4")


def tall_hat(canvas: Canvas, figure: Figure) -> None:
    _, ry = figure.head
    y = figure.face[1] - ry + 12  # the brim
    felt, band = rgb("#413a56"), rgb("#d8894f")
    canvas.polygon([(214, y), (208, y - 96), (304, y - 96), (298, y)], felt)
    canvas.polygon([(276, y), (279, y - 96), (304, y - 96), (298, y)], (*INK, 60))
    canvas.ellipse(256, y - 96, 48, 9, lighter(felt, 0.18))
    canvas.polygon([(213.4, y - 8), (212, y - 30), (300, y - 30), (298.6, y - 8)], band)
    canvas.ellipse(256, y, 70, 13, darker(felt, 0.25))
    canvas.ellipse(256, y - 3, 68, 11, felt)
    canvas.polygon([*oval(256, y - 8, 42.6, 7, start=0, end=180)], felt)


def round_glasses(canvas: Canvas, figure: Figure) -> None:
    x, y = figure.face
    wire = rgb("#4a3327")
    for side in (-1, 1):
        canvas.ellipse(x + side * 26, y - 1, 23.5, 23.5, (*WHITE, 70))
        canvas.stroke(oval(x + side * 26, y - 1, 22.5, 22.5), 4.6, wire)
        canvas.stroke([(x + side * 48, y - 4), (x + side * (figure.head[0] - 2), y - 9)], 4.4, wire)
        canvas.stroke(oval(x + side * 26, y - 1, 15, 15, start=205, end=250), 3, (*WHITE, 190))
    canvas.stroke(oval(x, y - 1, 5.5, 5, start=190, end=350), 4.6, wire)


def blue_scarf(canvas: Canvas, _figure: Figure) -> None:
    canvas.blob([(222, 258), (238, 262), (240, 300), (238, 324), (214, 320), (216, 288)], darker(_BLUE, 0.2))
    for x in (217, 223, 229, 235):
        canvas.stroke([(x, 319), (x - 1, 331)], 4, darker(_BLUE, 0.2))
    canvas.blob(
        [
            (206, 240),
            (232, 248),
            (256, 250),
            (280, 248),
            (306, 240),
            (310, 258),
            (282, 272),
            (256, 275),
            (230, 272),
            (202, 258),
        ],
        _BLUE,
    )
    canvas.stroke(
        [(212, 257), (236, 264), (256, 266), (276, 264), (300, 257)], 4, (*lighter(_BLUE, 0.4), 150)
    )
    canvas.ellipse(230, 264, 15, 13, darker(_BLUE, 0.1))


def red_boots(canvas: Canvas, _figure: Figure) -> None:
    for side in (-1, 1):
        x = 256 + side * 33
        canvas.blob(
            [
                (x - 17, 401),
                (x + 17, 401),
                (x + 17, 424),
                (x + side * 10 + 22, 430),
                (x + side * 12 + 22, 444),
                (x + side * 12 - 22, 444),
                (x + side * 10 - 24, 430),
                (x - 17, 424),
            ],
            _RED,
        )
        canvas.stroke([(x - 15, 404), (x + 15, 404)], 8, lighter(_RED, 0.28))
        canvas.stroke([(x + side * 12 - 25, 443), (x + side * 12 + 25, 443)], 6, darker(_RED, 0.45))
        canvas.stroke([(x - 7, 416), (x - 7, 428)], 4, (*WHITE, 90))


def striped_coat(canvas: Canvas, figure: Figure) -> None:
    stripe: Rgb = rgb("#7d4a86")
    outline = body_outline(figure)
    canvas.blob(outline, COAT)
    g = figure.girth
    for share in (-0.86, -0.62, -0.38, 0.38, 0.62, 0.86):
        foot, waist, neck = (74 + g) * share, (60 + g) * share, (44 + g / 3) * share
        canvas.stroke([(256 + neck, 256), (256 + waist, 320), (256 + foot, 396)], 8.5, stripe)
    canvas.polygon([(247, 250), (265, 250), (269, 413), (243, 413)], darker(figure.garment, 0.1))
    for side in (-1, 1):
        canvas.polygon(
            [(256 + side * 4, 296), (256 + side * 13, 248), (256 + side * 34, 246), (256 + side * 31, 274)],
            mix(COAT, stripe, 0.22),
        )
        canvas.stroke([(256 + side * 11, 300), (256 + side * 14, 410)], 3, darker(COAT, 0.3))
    for y in (316, 342, 368):
        canvas.ellipse(274, y, 4.6, 4.6, stripe)


def green_cape(canvas: Canvas, _figure: Figure) -> None:
    canvas.blob(
        [
            (222, 246),
            (290, 246),
            (326, 300),
            (352, 362),
            (366, 420),
            (312, 428),
            (256, 420),
            (200, 428),
            (146, 420),
            (160, 362),
            (186, 300),
        ],
        _GREEN,
    )
    for side in (-1, 1):
        canvas.blob(
            [
                (256 + side * 62, 300),
                (256 + side * 92, 370),
                (256 + side * 96, 420),
                (256 + side * 76, 424),
                (256 + side * 70, 360),
            ],
            darker(_GREEN, 0.24),
        )
    canvas.stroke([(148, 416), (200, 424), (256, 417), (312, 424), (364, 416)], 5, lighter(_GREEN, 0.3))


def cape_collar(canvas: Canvas, _figure: Figure) -> None:
    """Draw the part of the cape that lies over the shoulders."""
    for side in (-1, 1):
        canvas.blob(
            [
                (256 + side * 12, 250),
                (256 + side * 34, 242),
                (256 + side * 52, 258),
                (256 + side * 54, 282),
                (256 + side * 34, 272),
            ],
            lighter(_GREEN, 0.08),
        )
    canvas.ellipse(256, 258, 8, 8, _GOLD)


def star_badge(canvas: Canvas, _figure: Figure) -> None:
    x, y = 288.0, 300.0
    points = []
    for corner in range(10):
        radius = 20 if corner % 2 == 0 else 9
        points.append(oval(x, y, radius, radius, start=-90 + corner * 36, end=-90 + corner * 36 + 1)[0])
    outer = [((px - x) * 1.2 + x, (py - y) * 1.2 + y) for px, py in points]
    canvas.polygon(outer, darker(_GOLD, 0.5))
    canvas.polygon(points, _GOLD)
    canvas.ellipse(x, y, 6, 6, lighter(_GOLD, 0.55))


def flower(canvas: Canvas, figure: Figure) -> None:
    x, y = figure.face[0] - figure.head[0] * 0.8, figure.face[1] - figure.head[1] * 0.62
    petal, heart = rgb("#ee8fb0"), rgb("#f4c550")
    canvas.ellipse(x - 20, y + 14, 13, 7, rgb("#6aa06a"), turn=-40)
    for corner in range(5):
        px, py = oval(x, y, 14, 14, start=-90 + corner * 72, end=-89 + corner * 72)[0]
        canvas.ellipse(px, py, 11.5, 11.5, darker(petal, 0.12) if corner % 2 else petal)
    canvas.ellipse(x, y, 8, 8, heart)


def bell(canvas: Canvas, _figure: Figure) -> None:
    x, y = 306.0, 338.0
    canvas.stroke([(x - 14, y - 10), (x, y)], 4, rgb("#6b4a33"))
    canvas.ellipse(x, y + 38, 6, 6, darker(_BRASS, 0.45))
    canvas.blob(
        [
            (x - 5, y),
            (x + 5, y),
            (x + 13, y + 12),
            (x + 15, y + 28),
            (x + 23, y + 37),
            (x, y + 41),
            (x - 23, y + 37),
            (x - 15, y + 28),
            (x - 13, y + 12),
        ],
        _BRASS,
    )
    canvas.stroke([(x - 20, y + 35), (x, y + 39), (x + 20, y + 35)], 5, darker(_BRASS, 0.3))
    canvas.stroke([(x - 7, y + 10), (x - 9, y + 26)], 4, (*WHITE, 150))
    canvas.ellipse(x, y, 5, 5, darker(_BRASS, 0.3))


def flute(canvas: Canvas, _figure: Figure) -> None:
    wood = rgb("#b07b46")
    start, end = (190.0, 296.0), (262.0, 376.0)
    canvas.stroke([start, end], 14, darker(wood, 0.35))
    canvas.stroke([start, end], 11, wood)
    for share in (0.3, 0.44, 0.58, 0.72, 0.86):
        canvas.ellipse(
            start[0] + (end[0] - start[0]) * share, start[1] + (end[1] - start[1]) * share, 2.9, 2.9, INK
        )
    for share in (0.0, 0.14, 1.0):
        x, y = start[0] + (end[0] - start[0]) * share, start[1] + (end[1] - start[1]) * share
        canvas.stroke([(x - 5, y + 4.5), (x + 5, y - 4.5)], 4, lighter(wood, 0.5))
