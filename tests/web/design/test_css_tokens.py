"""The colours of tokens.css are legible in both schemes; the five labels are distinct to every kind of sight."""

import itertools
import re
from pathlib import Path

import numpy as np
import pytest

TOKENS = (Path(__file__).resolve().parents[3] / "platform/web/static/web/css/tokens.css").read_text()

TEXT = 4.5  # WCAG 2.2, 1.4.3 level AA
GRAPHIC = 3.0  # WCAG 2.2, 1.4.11: graphics needed to understand or operate the page

LEGIBLE = [
    ("ink", "paper"),
    ("ink", "surface"),
    ("ink", "sunk"),
    ("ink", "accent-soft"),
    ("ink", "good-soft"),
    ("ink", "warn-soft"),
    ("ink", "bad-soft"),
    ("ink", "selection"),
    ("ink-soft", "paper"),
    ("ink-soft", "surface"),
    ("ink-soft", "sunk"),
    ("ink-soft", "accent-soft"),
    ("accent", "paper"),
    ("accent", "surface"),
    ("accent", "sunk"),
    ("accent", "accent-soft"),
    ("accent-strong", "paper"),
    ("accent-strong", "accent-soft"),
    ("on-accent", "accent"),
    ("on-accent", "accent-strong"),
    ("good", "paper"),
    ("good", "good-soft"),
    ("warn", "paper"),
    ("warn", "warn-soft"),
    ("bad", "paper"),
    ("bad", "bad-soft"),
    ("on-bad", "bad"),
]
VISIBLE = [
    *itertools.product(["line-strong", "accent", "series-listed", "series-random"], ["paper", "surface"]),
    *itertools.product([f"label-{n}" for n in range(1, 6)], ["paper", "surface", "sunk", "accent-soft"]),
]

# Machado, Oliveira and Fernandes 2009, severity 1, for linear RGB.
SIGHT = {
    "usual": np.eye(3),
    "protan": np.array(
        [[0.152286, 1.052583, -0.204868], [0.114503, 0.786281, 0.099216], [-0.003882, -0.048116, 1.051998]]
    ),
    "deutan": np.array(
        [[0.367322, 0.860646, -0.227968], [0.280085, 0.672501, 0.047413], [-0.011820, 0.042940, 0.968881]]
    ),
    "tritan": np.array(
        [[1.255528, -0.076749, -0.178779], [-0.078411, 0.930809, 0.147602], [0.004733, 0.691367, 0.303900]]
    ),
}


def colours(scheme: str) -> dict[str, str]:
    light, dark = TOKENS.split("@media screen and (prefers-color-scheme: dark)")
    found = dict(re.findall(r"--([\w-]+):\s*(#[0-9a-f]{6});", light))
    if scheme == "dark":
        found |= dict(re.findall(r"--([\w-]+):\s*(#[0-9a-f]{6});", dark))
    return found


def linear(colour: str) -> np.ndarray:
    channels = np.array([int(colour[i : i + 2], 16) for i in (1, 3, 5)]) / 255
    return np.where(channels <= 0.04045, channels / 12.92, ((channels + 0.055) / 1.055) ** 2.4)


def contrast(one: str, other: str) -> float:
    weights = np.array([0.2126, 0.7152, 0.0722])
    darker, lighter = sorted((float(linear(one) @ weights), float(linear(other) @ weights)))
    return (lighter + 0.05) / (darker + 0.05)


def lab(rgb: np.ndarray) -> np.ndarray:
    """CIE L*a*b* (D65) of a linear colour."""
    matrix = np.array([[0.4124, 0.3576, 0.1805], [0.2126, 0.7152, 0.0722], [0.0193, 0.1192, 0.9505]])
    xyz = matrix @ np.clip(rgb, 0, 1) / np.array([0.9505, 1.0, 1.089])
    f = np.where(xyz > 0.008856, np.cbrt(xyz), 7.787 * xyz + 16 / 116)
    return np.array([116 * f[1] - 16, 500 * (f[0] - f[1]), 200 * (f[1] - f[2])])


def test_black_on_white_has_the_contrast_of_the_standard():
    assert contrast("#000000", "#ffffff") == pytest.approx(21)
    # The grey that the standard's explanation calls just legible on white.
    assert contrast("#767676", "#ffffff") == pytest.approx(4.54, abs=0.005)


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize(("front", "back"), LEGIBLE)
def test_text_is_legible(scheme, front, back):
    known = colours(scheme)
    assert contrast(known[front], known[back]) >= TEXT


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize(("front", "back"), VISIBLE)
def test_lines_marks_and_labels_are_visible(scheme, front, back):
    known = colours(scheme)
    assert contrast(known[front], known[back]) >= GRAPHIC


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("sight", SIGHT)
def test_the_five_labels_are_distinct_for_every_kind_of_colour_vision(scheme, sight):
    known = colours(scheme)
    places = [lab(SIGHT[sight] @ linear(known[f"label-{n}"])) for n in range(1, 6)]
    nearest = min(float(np.linalg.norm(a - b)) for a, b in itertools.combinations(places, 2))
    # A difference of about 2 is just noticed side by side; ten times that is distinguishable across a picture.
    assert nearest >= 20


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("sight", SIGHT)
@pytest.mark.parametrize("classes", [[f"d{n}" for n in range(1, 8)], [f"s{n}" for n in range(1, 6)]])
def test_map_classes_and_empty_land_are_distinct_for_every_kind_of_colour_vision(scheme, sight, classes):
    known = colours(scheme)
    places = [lab(SIGHT[sight] @ linear(known[f"map-{name}"])) for name in (*classes, "land")]
    assert min(float(np.linalg.norm(a - b)) for a, b in itertools.combinations(places, 2)) >= 10


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_lightness_is_monotonic_over_classes_of_one_hue(scheme):
    known = colours(scheme)
    steps = np.diff([lab(linear(known[f"map-s{n}"]))[0] for n in range(1, 6)])
    assert (steps < 0).all() if scheme == "light" else (steps > 0).all()


def test_the_five_labels_differ_in_stroke_pattern():
    patterns = re.findall(r"--label-\d-dash:\s*([^;]+);", TOKENS)
    assert len(patterns) == len(set(patterns)) == 5


def test_every_colour_of_the_light_scheme_has_one_in_the_dark_scheme():
    light, dark = TOKENS.split("@media screen and (prefers-color-scheme: dark)")
    names = [set(re.findall(r"--([\w-]+):\s*#", part)) for part in (light, dark)]
    assert names[0] == names[1]


def test_no_stylesheet_but_the_tokens_names_a_colour():
    for sheet in (Path(__file__).resolve().parents[3] / "platform/web/static/web").rglob("*.css"):
        if sheet.name != "tokens.css":
            named = re.findall(r"#[0-9a-fA-F]{3,8}\b(?=[;\s,)])", sheet.read_text().split("@media print")[0])
            assert not named, f"{sheet.name} names {named}"
