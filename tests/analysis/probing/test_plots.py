"""Plots of probes: marking of differences, labels that fit, and downloads."""

import csv
import io
import json

import pytest
from django.urls import reverse

from analysis.plots.figures.probes import difference_plot, group_plot, shortened
from analysis.results.summaries.probing.comparisons import finding
from analysis.results.summaries.probing.parts import PLOTS


def row(model="loom", p_holm=0.001, **more):
    return {
        "model": model, "experiment": "trades", "family": "primary", "factor": "size", "level": "short",
        "other": "tall", "difference": -0.4, "ci_low": -0.6, "ci_high": -0.2, "p_holm": p_holm, "n": 12,
        "detectable_difference": 0.3, "equivalent": False, "reason": None,
    } | more  # fmt: skip


@pytest.mark.database_free
def test_differences_are_filled_and_others_hollow():
    plot = difference_plot([row(), row("reed", p_holm=0.2)], "trades")
    assert plot.wide.count('class="plot-mark stereotype"') == 1
    assert plot.wide.count('class="plot-mark random"') == 1
    assert plot.units == "trades · size: short − tall · 95 % intervals"
    marks = {mark["label"]: mark["series"] for mark in plot.spec()["datasets"]["rows"]}
    assert marks == {"loom": "stereotype", "reed": "random"}


@pytest.mark.database_free
def test_interactions_are_shown_only_in_the_table():
    plot = difference_plot(
        [row(), row(family="interaction", factor="colour × size", level=None, other=None)], "trades"
    )
    assert len(plot.rows) == 1


@pytest.mark.database_free
def test_undefined_values_are_not_drawn():
    assert difference_plot([row(difference=None, reason="no_pairs", p_holm=None)], "trades") is None
    assert difference_plot([], "trades") is None


@pytest.mark.database_free
def test_only_both_ends_of_very_many_groups_are_shown():
    scores = [
        {"model": "loom", "experiment": "trades", "group": f"g{number:02}", "n": 3, "association": number / 60,
         "ci_low": None, "ci_high": None, "reason": "one_scenario"}
        for number in range(50)
    ]  # fmt: skip
    plot = group_plot(scores, {}, "trades")
    assert len(plot.rows) == 40
    assert "the 20 largest and the 20 smallest of 50" in plot.units
    assert (plot.rows[0][2], plot.rows[-1][2]) == ("g49", "g00")
    assert plot.n == 150


@pytest.mark.database_free
def test_labels_omit_parts_common_to_all():
    assert shortened([("loom", "tall"), ("loom", "short")]) == (["tall", "short"], ["loom"])
    assert shortened([("loom", "tall")]) == (["tall"], ["loom"])
    assert shortened([("loom", "tall"), ("reed", "short")]) == (["loom · tall", "reed · short"], [])


@pytest.mark.database_free
@pytest.mark.parametrize(
    ("test", "words"),
    [
        (row(), "difference"),
        (row(p_holm=0.05), "none shown"),
        (row(p_holm=0.4, equivalent=True), "none: smaller than 0.2"),
        (row(p_holm=None, reason="no_variation"), "not tested: no variation"),
    ],
)
def test_the_text_distinguishes_no_evidence_from_no_difference(test, words):
    assert finding(test) == words


def test_every_plot_can_be_downloaded(computed, analyst_client):
    def file(name, form):
        answer = analyst_client.get(
            reverse("analysis:plot", args=["weavers", name, form]) + "?experiment=trades"
        )
        assert answer.status_code == 200, (name, form)
        return answer.content

    for name in PLOTS:
        rows = list(csv.DictReader(io.StringIO(file(name, "csv").decode())))
        spec = json.loads(file(name, "vl.json"))
        assert len(rows) == len(spec["datasets"]["rows"]) > 0
    assert b"weaver-1" in file("probe-differences", "svg")
    assert file("probe-refusals", "png").startswith(b"\x89PNG")
