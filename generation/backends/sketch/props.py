"""Objects that a figure carries or that surround it; each function draws one attribute."""

from itertools import pairwise

from generation.backends.sketch.canvas import Canvas, oval
from generation.backends.sketch.figure import Figure
from generation.backends.sketch.palette import INK, WHITE, darker, lighter, rgb

_WOOD = rgb("#a9784c")


def lantern(canvas: Canvas, figure: Figure) -> None:
    x, y = figure.left_hand[0] - 6, figure.left_hand[1] + 12
    iron, light = rgb("#4b4358"), rgb("#ffd66b")
    canvas.stroke(oval(x, y + 10, 13, 14, start=180, end=360), 3.6, iron)
    canvas.polygon([(x - 20, y + 18), (x + 20, y + 18), (x + 13, y + 7), (x - 13, y + 7)], iron)
    canvas.polygon([(x - 17, y + 18), (x + 17, y + 18), (x + 20, y + 58), (x - 20, y + 58)], light)
    canvas.ellipse(x, y + 42, 8, 13, (*WHITE, 220))
    canvas.ellipse(x, y + 46, 4.5, 8, rgb("#f5893d"))
    for dx in (-17, 17):
        canvas.stroke([(x + dx, y + 18), (x + dx * 1.18, y + 58)], 3.6, iron)
    canvas.stroke([(x, y + 18), (x, y + 30)], 2.4, iron)
    canvas.polygon([(x - 24, y + 57), (x + 24, y + 57), (x + 21, y + 67), (x - 21, y + 67)], iron)


def lantern_glow(canvas: Canvas, figure: Figure) -> None:
    """Draw the light around the lantern, which is not part of the lantern itself."""
    for radius in (62, 48, 35):
        canvas.ellipse(figure.left_hand[0] - 6, figure.left_hand[1] + 52, radius, radius, (255, 222, 130, 38))


def umbrella(canvas: Canvas, figure: Figure) -> None:
    x, y = figure.right_hand[0] + 14, 122.0
    colours = rgb("#d8694f"), rgb("#eebf62")
    canvas.stroke([(x, 62), (x - 14, 290)], 5.4, rgb("#5a4636"))
    canvas.stroke([(x - 14, 290), (x - 14, 302), (x - 24, 308), (x - 33, 300)], 6.4, rgb("#5a4636"))
    edges = [x - 86, x - 52, x - 18, x + 18, x + 52, x + 86]
    for index in range(5):
        left, right = edges[index], edges[index + 1]
        bow = [
            (left, y),
            *[(px, py) for px, py in oval((left + right) / 2, y, (right - left) / 2, 9, start=180, end=360)],
            (right, y),
        ]
        rim = _dome(x, y, left), _dome(x, y, right)
        canvas.polygon([*rim[0][::-1], *bow, *rim[1]], colours[index % 2])
    canvas.polygon([*_dome(x, y, x + 40), (x + 86, y), *oval(x, y, 86, 66, start=0, end=-90)], (*INK, 24))
    canvas.ellipse(x, 54, 4, 6, rgb("#5a4636"))


def _dome(x: float, y: float, rim: float) -> list[tuple[float, float]]:
    """Return the rib of the canopy from its top to the point `rim` of its rim."""
    return [
        (x + (rim - x) * share, y - 66 * (1 - share**2) ** 0.5) for share in [step / 12 for step in range(13)]
    ]


def kite(canvas: Canvas, _figure: Figure) -> None:
    x, y = 92.0, 92.0
    red, yellow = rgb("#d9555f"), rgb("#f2b84b")
    top, right, bottom, left = (x + 14, y - 56), (x + 44, y + 2), (x - 22, y + 58), (x - 38, y - 16)
    tail = [bottom, (x - 44, y + 72), (x - 26, y + 92), (x - 52, y + 108)]
    canvas.stroke(tail, 3, rgb("#6c5a67"))
    for bx, by in ((x - 40, y + 74), (x - 32, y + 92), (x - 51, y + 107)):
        canvas.polygon([(bx, by), (bx - 10, by - 7), (bx - 10, by + 7)], yellow)
        canvas.polygon([(bx, by), (bx + 10, by - 7), (bx + 10, by + 7)], red)
    middle = (x - 2, y - 4)
    for corners, colour in (
        ((top, right), red),
        ((right, bottom), yellow),
        ((bottom, left), red),
        ((left, top), yellow),
    ):
        canvas.polygon([middle, *corners], colour)
    canvas.polygon([middle, right, bottom], (*INK, 22))
    canvas.stroke([top, bottom], 2.4, darker(red, 0.4))
    canvas.stroke([left, right], 2.4, darker(red, 0.4))


def kite_string(canvas: Canvas, figure: Figure) -> None:
    hand = figure.left_hand
    canvas.stroke([(90, 88), (118, 190), hand], 1.6, (*INK, 130))


def ladder(canvas: Canvas, _figure: Figure) -> None:
    feet, tops = ((446.0, 446.0), (500.0, 446.0)), ((456.0, 190.0), (494.0, 190.0))
    for step in range(7):
        share = 0.1 + step * 0.135
        ends = [
            (foot[0] + (top[0] - foot[0]) * share, foot[1] + (top[1] - foot[1]) * share)
            for foot, top in zip(feet, tops, strict=True)
        ]
        canvas.stroke(ends, 7, darker(_WOOD, 0.12))
    for foot, top in zip(feet, tops, strict=True):
        canvas.stroke([foot, top], 9.5, _WOOD)
        canvas.stroke([(foot[0] - 2, foot[1]), (top[0] - 2, top[1])], 2.4, lighter(_WOOD, 0.35))


def broom(canvas: Canvas, _figure: Figure) -> None:
    straw = rgb("#dcb45c")
    canvas.stroke([(28, 214), (46, 392)], 7.5, _WOOD)
    canvas.blob([(36, 376), (56, 374), (66, 410), (76, 444), (50, 450), (24, 448), (30, 412)], straw)
    for foot, top in ((32, 42), (41, 45), (50, 48), (59, 50), (68, 53)):
        canvas.stroke([(top, 392), (foot, 446)], 2.4, darker(straw, 0.3))
    canvas.stroke([(36, 389), (58, 387)], 6, rgb("#b0503f"))


def drum(canvas: Canvas, _figure: Figure) -> None:
    x, y = 118.0, 416.0
    shell, skin, rope = rgb("#b5493f"), rgb("#f6e7c8"), rgb("#f0d9a6")
    canvas.ellipse(x, y + 52, 46, 8, (*INK, 30))
    canvas.polygon([(x - 40, y), (x + 40, y), *oval(x, y + 42, 40, 12, start=0, end=180)], shell)
    for step in range(4):
        left = x - 38 + step * 19
        canvas.stroke([(left, y + 8), (left + 9.5, y + 48), (left + 19, y + 8)], 2.8, rope, curved=False)
    canvas.stroke(oval(x, y + 42, 40, 12, start=4, end=176), 5, darker(shell, 0.35))
    canvas.ellipse(x, y, 42, 14, darker(shell, 0.35))
    canvas.ellipse(x, y - 2, 38, 11, skin)
    for start, end in (((x - 30, y - 26), (x + 12, y - 2)), ((x + 36, y - 24), (x - 4, y - 3))):
        canvas.stroke([start, end], 4.4, darker(_WOOD, 0.1))
        canvas.ellipse(*end, 5, 5, darker(_WOOD, 0.25))


def basket(canvas: Canvas, _figure: Figure) -> None:
    x, y = 392.0, 416.0
    weave = rgb("#c08a4d")
    canvas.ellipse(x, y + 42, 42, 8, (*INK, 30))
    canvas.stroke(oval(x, y + 4, 33, 48, start=180, end=360), 6, darker(weave, 0.15))
    for dx, dy, colour in ((-19, -6, "#e0574f"), (16, -6, "#e9a03f"), (-2, -11, "#9bb84f")):
        canvas.ellipse(x + dx, y + dy, 14, 13, rgb(colour))
        canvas.ellipse(x + dx - 4, y + dy - 5, 3.5, 3, (*WHITE, 120))
    canvas.polygon([(x - 41, y), (x + 41, y), (x + 32, y + 41), (x - 32, y + 41)], weave)
    for row in range(3):
        for column in range(6):
            bx = x - 33 + column * 13.2 + (row % 2) * 5 - row * 0.4
            canvas.stroke([(bx, y + 11 + row * 10), (bx + 6, y + 11 + row * 10)], 4.4, darker(weave, 0.25))
    canvas.stroke([(x - 41, y + 1), (x + 41, y + 1)], 8, lighter(weave, 0.22))


def fish(canvas: Canvas, _figure: Figure) -> None:
    x, y = 470.0, 450.0
    scale = rgb("#f0813f")
    canvas.ellipse(x, y + 32, 32, 6, (*INK, 36))
    canvas.ellipse(x, y, 35, 33, (236, 247, 250, 150))
    canvas.polygon(oval(x, y, 34, 32, start=-12, end=192), (150, 205, 222, 170))
    canvas.polygon([(x + 9, y + 5), (x + 25, y - 7), (x + 23, y + 18)], darker(scale, 0.15))
    canvas.ellipse(x - 4, y + 5, 18, 11, scale)
    canvas.polygon([(x - 6, y - 4), (x + 6, y - 12), (x + 7, y - 2)], darker(scale, 0.15))
    canvas.stroke(oval(x - 10, y + 5, 6, 8, start=-60, end=60), 2.2, lighter(scale, 0.5))
    canvas.ellipse(x - 14, y + 2, 2.8, 2.8, INK)
    for bx, by, radius in ((x - 20, y - 14, 3), (x - 14, y - 21, 2.2)):
        canvas.ellipse(bx, by, radius, radius, (*WHITE, 170))
    canvas.stroke(oval(x, y, 34, 32, start=200, end=240), 3.4, (*WHITE, 200))
    canvas.ellipse(x, y - 30, 21, 4.6, (226, 240, 244))
    canvas.ellipse(x, y - 30, 17, 2.8, (176, 210, 220))


def chart(canvas: Canvas, _figure: Figure) -> None:
    x, y = 192.0, 472.0
    paper = rgb("#f5e8c9")
    folds = [(x - 48, y - 14), (x - 18, y - 20), (x + 16, y - 14), (x + 46, y - 20)]
    feet = [(x - 54, y + 18), (x - 18, y + 12), (x + 20, y + 18), (x + 54, y + 12)]
    canvas.polygon([(px + 2, py + 4) for px, py in (*folds, *feet[::-1])], (*INK, 36))
    for index in range(3):
        shade = paper if index % 2 == 0 else darker(paper, 0.1)
        canvas.polygon([folds[index], folds[index + 1], feet[index + 1], feet[index]], shade)
    canvas.blob(
        [(x - 44, y + 4), (x - 30, y - 8), (x - 12, y - 4), (x - 18, y + 8), (x - 36, y + 12)], rgb("#b7cf9b")
    )
    canvas.blob([(x + 20, y - 6), (x + 38, y - 12), (x + 44, y - 2), (x + 30, y + 4)], rgb("#a9cbd6"))
    route = [(x - 32, y + 2), (x - 8, y + 5), (x + 8, y - 4), (x + 24, y + 6)]
    for start, end in pairwise(route):
        for share in (0.1, 0.5):
            points = [
                (start[0] + (end[0] - start[0]) * at, start[1] + (end[1] - start[1]) * at)
                for at in (share, share + 0.25)
            ]
            canvas.stroke(points, 2.6, rgb("#7a5c48"))
    for lean in (-5, 5):
        canvas.stroke([(x + 30 - lean, y + 2), (x + 30 + lean, y + 11)], 3.4, rgb("#cf3f3a"))


def book(canvas: Canvas, _figure: Figure) -> None:
    x, y = 322.0, 472.0
    cover, page = rgb("#5d5a9c"), rgb("#fbf5e4")
    canvas.polygon([(x - 50, y + 20), (x + 50, y + 20), (x + 44, y + 25), (x - 44, y + 25)], (*INK, 36))
    canvas.polygon(
        [(x - 48, y - 16), (x, y - 10), (x + 48, y - 16), (x + 52, y + 18), (x, y + 23), (x - 52, y + 18)],
        cover,
    )
    for side in (-1, 1):
        edge = [
            (x, y - 13),
            (x + side * 22, y - 22),
            (x + side * 43, y - 19),
            (x + side * 47, y + 13),
            (x + side * 24, y + 10),
            (x, y + 18),
        ]
        canvas.polygon(edge, page if side < 0 else darker(page, 0.06))
        for row in range(4):
            ly = y - 11 + row * 6.2
            canvas.stroke(
                [(x + side * 8, ly + 2), (x + side * 24, ly - 3.4), (x + side * 38, ly - 2.4)],
                1.9,
                (*INK, 110),
            )
    canvas.stroke([(x, y - 13), (x, y + 18)], 2.4, darker(page, 0.3))
