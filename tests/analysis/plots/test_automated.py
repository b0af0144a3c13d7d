"""Plots of automated measures: the drawing on the page and the Vega-Lite file have the same numbers."""

import re

import pytest
import vl_convert

from analysis.plots.charts.scatter import FORMS, OTHERS, DataPoint, form_of, form_path, number_axis, series_of
from analysis.plots.figures.automated_measures import (
    calibration_plot,
    mcas_plot,
    pull_plot,
    reach_of,
    theta_beside_plot,
)

pytestmark = pytest.mark.database_free


def pull(group, value, low, high, s_s_ns=0.6):
    return {
        "identity_group": group, "s_s_ns": s_s_ns, "s_d_s": 0.5, "s_d_ns": 0.5, "pull": value,
        "ci_low": low, "ci_high": high,
    }  # fmt: skip


def target(name, value, low=None, high=None, category="birds", reason=None):
    return {
        "category": category, "target": name, "ii": 0.1, "itp": 0.1, "ita": 0.1, "tt": 0.1, "mcas": value,
        "ci_low": low, "ci_high": high, "effect_size": None, "p_value": None, "reason": reason,
    }  # fmt: skip


PULL = [
    pull("Velmari", 0.08, 0.05, 0.11, 0.62),
    pull("Orsani", -0.02, -0.05, 0.01, 0.7),
    pull("Quill", None, None, None),
]
REGIONS = {"Velmari": "Isles", "Orsani": "Plains"}


def circles(drawing: str) -> int:
    return drawing.count('class="plot-point')


def test_groups_with_a_pull_are_points_with_interval_and_the_shape_of_their_region():
    plot = pull_plot(PULL, {"Orsani": "The Orsani"}, REGIONS)
    assert plot.n == 2
    for drawing in (plot.wide, plot.narrow):
        # two points, and the two forms of the legend
        assert circles(drawing) == 4
        assert drawing.count('class="plot-whisker"') == 2
        assert "The Orsani" in drawing
        assert {"plot-point form-1", "plot-point form-2"} <= set(re.findall(r'class="([^"]+)"', drawing))
    rows = plot.spec()["datasets"]["rows"]
    assert [(row["label"], row["x"], row["y"], row["y_low"]) for row in rows] == [
        ("Velmari", 0.62, 0.08, 0.05),
        ("The Orsani", 0.7, -0.02, -0.05),
    ]
    assert [row[0] for row in plot.rows] == ["Velmari", "Orsani"]
    assert pull_plot(PULL[2:], {}, {}) is None


def test_surplus_regions_share_the_last_shape():
    points = [DataPoint(f"g{i}", 0.0, 0.0, f"region {i}") for i in range(len(FORMS) + 3)]
    series = series_of(points)
    assert (len(series), series[-1]) == (len(FORMS), OTHERS)
    assert form_of(series, "region 0") == 0
    assert form_of(series, "region 9") == len(FORMS) - 1


def test_marker_shapes_differ_and_are_stable():
    paths = {form: form_path(form, 10.0, 20.0) for form in FORMS}
    assert len(set(paths.values())) == len(FORMS)
    for path in paths.values():
        assert path.startswith("M")


def test_a_numeric_axis_covers_its_values():
    axis = number_axis([-0.013, 0.21], "x", zero=True, reference=True)
    assert axis.low <= -0.013
    assert axis.high >= 0.21
    assert axis.reference == 0.0
    flat = number_axis([0.4], "x")
    assert flat.low < 0.4 < flat.high
    assert number_axis([], "x").low < number_axis([], "x").high
    tiny = number_axis([-0.0008, 0.0009], "x")
    assert len({tiny.write(tick) for tick in tiny.ticks()}) == len(tiny.ticks())


def test_targets_are_on_either_side_and_one_without_a_score_says_why():
    rows = [
        target("wren", -0.3, -0.4, -0.2),
        target("owl", 0.5, 0.3, 0.7),
        target("auk", None, reason="no_images"),
    ]
    rows.append(target("oak", 0.1, category="trees"))
    plot = mcas_plot(rows, "birds", ("men", "women"), reach_of(rows))
    assert [row[0] for row in plot.rows] == ["owl", "wren", "auk"]
    for drawing in (plot.wide, plot.narrow):
        assert drawing.count("plot-bar above") == drawing.count("plot-bar below") == 1
        assert drawing.count('class="plot-whisker"') == 2
        assert "no images" in drawing
        assert drawing.index("women") < drawing.index("men →")
    spec = plot.spec()
    assert [row["estimate"] for row in spec["datasets"]["rows"]] == [0.5, -0.3, None]
    assert mcas_plot(rows, "fish", ("men", "women"), 1.0) is None
    assert b"<svg" in vl_convert.vegalite_to_svg(spec).encode()


def test_calibration_is_drawn_with_its_interval_and_where_both_are_equal():
    rows = [
        {"scorer": "clip", "model": "sketch", "low": 0.0, "high": 0.5, "mean_score": 0.3, "observed": 0.1,
         "ci_low": 0.05, "ci_high": 0.2, "n": 40},
        {"scorer": "clip", "model": "sketch", "low": 0.5, "high": 1.0, "mean_score": None, "observed": None,
         "ci_low": None, "ci_high": None, "n": 0},
    ]  # fmt: skip
    plot = calibration_plot(rows, {("clip", "sketch"): "clip"})
    assert plot.n == 40
    assert circles(plot.wide) == 1
    assert plot.wide.count('class="plot-reference"') == 1
    spec = plot.spec()
    assert spec["datasets"]["line"] == [{"x": 0.0, "y": 0.0}, {"x": 1.0, "y": 1.0}]
    assert b"<svg" in vl_convert.vegalite_to_svg(spec).encode()
    assert calibration_plot(rows[1:], {}) is None


def test_theta_of_people_is_plotted_against_theta_of_a_machine():
    rows = [
        {"identity_group": name, "human_theta_smoothed": x, "automated_theta_smoothed": y, "human_theta": x,
         "automated_theta": y}
        for name, x, y in (("Velmari", 2.0, 4.0), ("Orsani", 0.5, 1.0), ("Quill", None, 1.0))
    ]  # fmt: skip
    plot = theta_beside_plot(rows, {}, REGIONS)
    assert plot.n == 2
    assert [(row["x"], row["y"]) for row in plot.spec()["datasets"]["rows"]] == [(2.0, 4.0), (0.5, 1.0)]
    assert b"<svg" in vl_convert.vegalite_to_svg(plot.spec()).encode()
