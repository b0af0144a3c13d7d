"""Plots of judgements: the page and the Vega-Lite file have the same numbers; the map covers all countries."""

import json
import re

import pytest
import vl_convert

from analysis.plots.figures.judgements import consensus_plot, likelihood_plot, theta_plot
from analysis.plots.figures.maps import map_plot, strip_plot
from analysis.plots.maps.choropleth import count_scale, ratio_scale, signed_scale
from analysis.plots.maps.country_values import MEASURES, places
from analysis.plots.maps.world import countries, topology
from analysis.results.summaries.group_rows import group_rows

pytestmark = pytest.mark.database_free


def tendency(name, theta, low, high, **more):
    return {
        "identity_group": name,
        "theta": theta,
        "theta_low": low,
        "theta_high": high,
        "theta_smoothed": theta,
        "stereotypes": 2,
        "reason": None,
    } | more


TENDENCY = [
    tendency("Velmari", 4.0, 2.0, None),
    tendency("Orsani", 0.5, 0.2, 1.5),
    tendency("Quill", None, None, None, theta_smoothed=None, reason="too_few_stereotypes"),
]


def offence(name):
    return {
        "identity_group": name,
        "offensiveness": 0.1,
        "ci_low": 0.0,
        "ci_high": 0.2,
        "reason": None,
        "offensiveness_unscaled": 1.0,
        "marked_stereotypes": 1,
        "unrated_stereotypes": 0,
    }


def cell(group, attribute, role, marked, shown=10):
    return {
        "identity_group": group, "attribute": attribute, "role": role, "marked": marked, "shown": shown,
        "likelihood": marked / shown, "ci_low": 0.0, "ci_high": 1.0, "reason": None,
    }  # fmt: skip


LIKELIHOOD = [
    cell("Velmari", "tall hat", "stereotype", 8),
    cell("Velmari", "drum", "random", 2),
    cell("Orsani", "tall hat", "stereotype", 2, 30),
    cell("Orsani", "kite", "random", 6, 30),
    cell("Quill", "kite", "random", 1),
]


def rows(**codes):
    study = {name: {"name": name, "region": "", "map_code": code} for name, code in codes.items()}
    return group_rows(TENDENCY, [offence(row["identity_group"]) for row in TENDENCY], LIKELIHOOD, study)


def on(measure, epsilon=0.05, **codes):
    mine = [row for row in rows(**codes) if row["map_code"]]
    return places(MEASURES[measure], mine, LIKELIHOOD, epsilon=epsilon, url=lambda _: "")


def test_every_shape_but_antarctica_is_drawn_and_small_countries_are_placed():
    shapes = topology()["objects"]["countries"]["geometries"]
    assert len([one for one in countries() if one.path]) == len(shapes) - 1
    codes = [one.code for one in countries() if one.code]
    assert len(codes) == len(set(codes))
    malta = next(one for one in countries() if one.code == "MLT")
    italy = next(one for one in countries() if one.code == "ITA")
    assert not malta.path
    assert italy.path
    assert (round(malta.longitude), round(malta.latitude)) == (14, 36)


def test_a_country_of_one_group_shows_the_groups_value():
    (place,) = on("theta", Velmari="MLT")
    assert place.value == 4.0
    assert place.says == ("Velmari 4.00, 95 % interval of θ 2.00 without an upper end, n = 20 judgements")


def test_groups_of_one_country_are_pooled_from_their_marks():
    (place,) = on("theta", Velmari="GBR", Orsani="GBR")
    # tall hat (8 + 2) / (10 + 30) = 0.25; drum 0.2, kite 0.2: mean 0.2; ε 0.05
    assert place.value == pytest.approx(0.30 / 0.25)
    assert place.says.startswith("together 1.20; Orsani 0.50")
    (place,) = on("offensiveness", Velmari="GBR", Orsani="GBR")
    assert place.value == pytest.approx(0.25)
    (place,) = on("stereotypes", Velmari="GBR", Orsani="GBR")
    assert place.value == 1


def test_where_likelihoods_cannot_be_pooled_the_country_has_no_value():
    (place,) = on("theta", epsilon=None, Velmari="GBR", Orsani="GBR")
    assert place.value is None
    assert place.says.startswith("not defined together")


def test_the_map_colours_greys_and_leaves_out():
    measure = MEASURES["theta"]
    mine = [row for row in rows(Velmari="MLT", Orsani="ITA", Quill="FRA") if row["map_code"]]
    plot = map_plot(measure, places(measure, mine, LIKELIHOOD, epsilon=0.05, url=lambda _: "/g/"), mine)
    assert re.search(r'<a href="/g/" aria-label="Malta: Velmari 4.00[^"]*"><circle class="map-d7"', plot.wide)
    assert re.search(r'aria-label="Italy: Orsani 0.50[^"]*"><path class="map-d3"', plot.wide)
    assert re.search(
        r'aria-label="France: Quill not defined \(too few stereotypes\)[^"]*"><path class="map-undefined"',
        plot.wide,
    )
    assert plot.wide.count("<a ") == 3
    assert plot.wide.count('class="map-land"') == 1


def test_texts_on_a_map_are_escaped():
    measure = MEASURES["theta"]
    mine = [row | {"name": '"><script>'} for row in rows(Velmari="MLT") if row["map_code"]]
    plot = map_plot(measure, places(measure, mine, LIKELIHOOD, epsilon=0.05, url=lambda _: ""), mine)
    assert "<script>" not in plot.wide


def test_scales_contain_every_value():
    assert ratio_scale("").colour(1.0) == "map-d4"
    assert signed_scale([-0.3, 0.1, 5.0], "").colour(-0.3) in {"map-d1", "map-d2", "map-d3"}
    for scale, values in (
        (ratio_scale(""), [0.01, 1, 60]),
        (signed_scale([0.0, 0.2], ""), [0.0, 0.2, 9.0]),
        (signed_scale([-1.0, 2.0], ""), [-9.0, 0.0, 9.0]),
        (signed_scale([], ""), [0.0]),
        (count_scale([1, 2, 60], ""), [0, 1, 60, 900]),
        (count_scale([], ""), [0]),
    ):
        assert len(scale.legend()) == len(scale.colours) == len(scale.thresholds) + 1
        assert {scale.colour(value) for value in values} <= set(scale.colours)


def plots():
    measure, mine = MEASURES["theta"], rows(Velmari="MLT", Orsani="ITA", Quill="FRA")
    consensus = [
        {"label": "Agree", "agreeing": 2, "units_rated": 4, "units_agreeing": 2, "share": 0.5},
        {"label": "any", "agreeing": 2, "units_rated": 4, "units_agreeing": 3, "share": 0.75},
    ]
    return [
        theta_plot(TENDENCY, {}),
        likelihood_plot(LIKELIHOOD[:2], "Velmari"),
        consensus_plot(consensus),
        map_plot(measure, places(measure, mine, LIKELIHOOD, epsilon=0.05, url=lambda _: ""), mine),
        strip_plot(measure, mine, whole=True),
    ]


@pytest.mark.parametrize("plot", plots(), ids=lambda plot: plot.name)
def test_every_plot_has_a_specification_that_draws_without_a_network(plot):
    spec = json.loads(json.dumps(plot.spec(), allow_nan=False))
    assert spec["title"]["text"] == plot.title
    assert spec["$schema"].startswith("https://vega.github.io/schema/vega-lite/")
    without_data = {key: value for key, value in spec.items() if key != "datasets"}
    assert '"url"' not in json.dumps(without_data)
    drawn = vl_convert.vegalite_to_svg(spec, allowed_base_urls=[])
    assert plot.title[:20] in drawn
    for line in spec["datasets"].get("rows", []):
        assert line["label"] in drawn


def many(number=50):
    return [tendency(f"People {place:02}", 1 + place / 10, None, None) for place in range(number)]


def test_plot_and_table_of_very_many_groups_mark_the_omission():
    plot = theta_plot(many(), {})
    assert "the 20 largest and the 20 smallest of 50" in plot.units
    for drawing in (plot.wide, plot.narrow, vl_convert.vegalite_to_svg(plot.spec())):
        assert "10 rows in between are not shown" in drawing
    assert plot.n == 50
    assert plot.columns[-1] == "end"
    assert [row[-1] for row in plot.rows] == ["largest"] * 20 + ["smallest"] * 20
    assert (plot.rows[0][0], plot.rows[20][0], plot.rows[-1][0]) == ("People 49", "People 19", "People 00")


def test_a_plot_of_all_groups_has_no_gap():
    plot = theta_plot(many(40), {})
    assert "not shown" not in plot.wide
    assert "end" not in plot.columns


def test_the_largest_and_the_smallest_estimate_lie_on_the_axis():
    plot = theta_plot([tendency("Velmari", 730.0, 40.0, None), tendency("Orsani", 0.004, 0.001, 0.2)], {})
    marks = [float(x) for x in re.findall(r'cx="([\d.]+)"[^>]*class="plot-mark', plot.wide)]
    assert len(marks) == 2
    # The ends beyond the axis are arrows; both points are circles on it.
    assert max(marks) <= 600 - 145
