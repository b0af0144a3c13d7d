"""Colours of the drawings. Skin colours are not human; garments never look like a drawable attribute."""

from dataclasses import dataclass

Rgb = tuple[int, int, int]


def rgb(code: str) -> Rgb:
    """Return the colour of a string such as `#5fb3a8`."""
    return int(code[1:3], 16), int(code[3:5], 16), int(code[5:7], 16)


def mix(base: Rgb, added: Rgb, share: float) -> Rgb:
    """Return `base` mixed with a `share` of `added`."""
    red, green, blue = (round(a + (b - a) * share) for a, b in zip(base, added, strict=True))
    return red, green, blue


INK = rgb("#2b2836")
WHITE = rgb("#fffdf8")


def darker(colour: Rgb, share: float = 0.22) -> Rgb:
    """Return the colour in shadow, mixed with a violet black, which is livelier than grey."""
    return mix(colour, INK, share)


def lighter(colour: Rgb, share: float = 0.25) -> Rgb:
    """Return the colour in light."""
    return mix(colour, WHITE, share)


@dataclass(frozen=True)
class Scene:
    """The colours of a background."""

    sky: Rgb
    horizon: Rgb
    disc: Rgb
    far: Rgb
    near: Rgb


SCENES = (
    Scene(rgb("#e3ecef"), rgb("#f7f1e3"), rgb("#fbe3b4"), rgb("#cfdcd3"), rgb("#b9cbbb")),
    Scene(rgb("#f3e2d6"), rgb("#faf2e6"), rgb("#f6c9a8"), rgb("#e0cdbb"), rgb("#cdb9a3")),
    Scene(rgb("#dfe0f0"), rgb("#f5eef0"), rgb("#fdf0d2"), rgb("#c9c8de"), rgb("#b3b1cc")),
    Scene(rgb("#d8e8ea"), rgb("#f0f4ea"), rgb("#fff3cf"), rgb("#b9d3d0"), rgb("#a2c0bb")),
    Scene(rgb("#f1e6ef"), rgb("#fbf4ec"), rgb("#f4d4cf"), rgb("#dccbd6"), rgb("#c7b4c2")),
    Scene(rgb("#e9ecd9"), rgb("#faf6e6"), rgb("#f8dfa2"), rgb("#d0d7b5"), rgb("#bac49c")),
)

SKINS = tuple(map(rgb, ("#58b0a6", "#a18fd4", "#86c99b", "#7c9bd8", "#c88abd", "#9fb865")))
GARMENTS = tuple(map(rgb, ("#d9a548", "#7c4f79", "#596985", "#c4735a", "#d6c2a1", "#8a6a5c", "#e0b9a6")))
