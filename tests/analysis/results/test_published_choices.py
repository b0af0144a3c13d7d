"""The choices of the published analysis: raters of one pool, 'none of the above' both ways, the preset.

Numbers are those of the study in conftest. Left out: pooled θ = (5/12 + 5/12)/(1/6 + 0) = 5, mean 2.5 of one group.
As a random attribute: L(random) = 2/9 and 1/9, pooled θ = (10/12)/(3/9) = 2.5, mean (15/8 + 15/4)/2 = 2.8125.
"""

import csv
import json
from pathlib import Path

import pytest
from django.core.management import CommandError, call_command
from django.urls import reverse

from analysis.models import Report
from analysis.results.parameters import parameters_of
from analysis.results.reports import compute_report
from annotation.models import Annotation
from studies.models import Study

OVERVIEW = "/studies/isles/results/"


def analyze(output: Path, *options: str) -> dict:
    call_command("analyze", "--study", "isles", "--output", str(output), "--resamples", "100", *options)
    return json.loads((output / "summary.json").read_text(encoding="utf-8"))


def role_of(output: Path, group: str, attribute: str) -> str:
    with (output / "likelihood.csv").open(encoding="utf-8", newline="") as file:
        rows = csv.DictReader(file)
        return next(r["role"] for r in rows if (r["identity_group"], r["attribute"]) == (group, attribute))


def words(text: str) -> str:
    return " ".join(text.split())


@pytest.fixture
def one_rater_each(marked):
    """The kite of the Velmari, called a stereotype by one rater in the region and one outside it."""
    marked.study.associations.filter(group__name="Velmari", attribute__text="kite").update(
        out_region_stereotype=1
    )
    return marked


def test_one_rater_of_each_pool_makes_no_stereotype_unless_pools_are_summed(one_rater_each, tmp_path):
    separate = analyze(tmp_path / "separate")
    assert role_of(tmp_path / "separate", "Velmari", "kite") == "random"
    assert separate["parameters"]["rater_pools"] == "separate"
    summed = analyze(tmp_path / "summed", "--rater-pools", "summed")
    assert role_of(tmp_path / "summed", "Velmari", "kite") == "stereotype"
    assert summed["parameters"]["rater_pools"] == "summed"
    assert separate["inputs_digest"] != summed["inputs_digest"]
    pools = {
        "separate": "all of them from the region or all from outside it",
        "summed": "raters from the region and from outside it counted together",
    }
    for folder, sentence in pools.items():
        assert sentence in words((tmp_path / folder / "report.html").read_text(encoding="utf-8"))


def test_a_study_that_sums_pools_is_analyzed_so_unless_asked_otherwise(one_rater_each, tmp_path):
    Study.objects.update(rater_pools="summed")
    assert analyze(tmp_path / "own")["parameters"]["rater_pools"] == "summed"
    published = analyze(tmp_path / "published", "--preset", "as-published")
    assert published["parameters"]["rater_pools"] == "separate"
    assert role_of(tmp_path / "published", "Velmari", "kite") == "random"


def test_the_preset_chooses_as_the_published_analysis_did(marked, tmp_path):
    Study.objects.update(min_raters=1, min_stereotypes=1)
    summary = analyze(tmp_path / "out", "--preset", "as-published")
    chosen = {
        "min_raters": 2,
        "rater_pools": "separate",
        "none_of_the_above": "as_random",
        "min_stereotypes": 2,
        "offensiveness_source": "stored",
        "not_offensive": -1,
    }
    assert chosen.items() <= summary["parameters"].items()
    assert summary["preset"] == "as-published"
    assert summary["headline"][0]["pooled"]["theta"] == pytest.approx(2.5, abs=1e-12)
    report = words((tmp_path / "out" / "report.html").read_text(encoding="utf-8"))
    assert "as in the published analysis of ViSAGe" in report


def test_explicit_options_take_precedence_over_a_preset(marked, tmp_path):
    summary = analyze(tmp_path / "out", "--preset", "as-published", "--none-of-the-above", "ignore")
    assert (summary["parameters"]["none_of_the_above"], summary["preset"]) == ("ignore", None)


def test_an_unknown_preset_is_a_usage_error(marked, tmp_path):
    with pytest.raises(CommandError, match="invalid choice: 'as-said'"):
        analyze(tmp_path / "out", "--preset", "as-said")


@pytest.mark.parametrize("mode", ["ignore", "as_random"])
def test_both_ways_of_counting_none_of_the_above_are_in_the_summary_and_report(marked, tmp_path, mode):
    summary = analyze(tmp_path / "out", "--none-of-the-above", mode)
    line = summary["headline"][0]
    both = line["none_of_the_above"]
    assert both["ignore"]["pooled"]["theta"] == pytest.approx(5, abs=1e-12)
    assert both["as_random"]["pooled"]["theta"] == pytest.approx(2.5, abs=1e-12)
    assert both["ignore"]["mean"]["theta"] == pytest.approx(2.5, abs=1e-12)
    assert both["as_random"]["mean"]["theta"] == pytest.approx(2.8125, abs=1e-12)
    assert {name: line[name] for name in both[mode]} == both[mode]
    report = words((tmp_path / "out" / "report.html").read_text(encoding="utf-8"))
    table = report.split("Headline result for each way of counting ‘none of the above’")[1].split("</table>")[
        0
    ]
    assert "5.00" in table
    assert "2.81" in table
    assert table.count("used in this report") == 1


def test_both_ways_are_shown_on_the_overview(marked, analyst, analyst_client):
    compute_report(study=marked.study, parameters=parameters_of(marked.study, resamples=100), by=analyst)
    page = words(analyst_client.get(OVERVIEW).content.decode())
    table = page.split('id="none-of-the-above"')[1].split("</table>")[0]
    left_out, as_random = table.split("<tbody>")[1].split("</tr>")[:2]
    assert "left out" in left_out
    assert "used on these pages" in left_out
    assert "5.00" in left_out
    assert "as one more random attribute, as published" in as_random
    assert "2.50" in as_random
    assert "2.81" in as_random
    assert "called a stereotype by 2 or more raters of one pool, in the region or outside it" in page


def test_without_such_answers_there_is_one_way_only(marked, analyst, analyst_client):
    Annotation.objects.filter(campaign=marked.campaign).update(none_of_the_above=None)
    report = compute_report(
        study=marked.study, parameters=parameters_of(marked.study, preset="as-published"), by=analyst
    )
    assert report.summary["headline"][0]["none_of_the_above"]["as_random"] is None
    assert "both ways of counting give the same numbers" in words(
        analyst_client.get(OVERVIEW).content.decode()
    )


def test_the_preset_is_chosen_on_the_form_and_replaces_the_other_choices(marked, analyst_client):
    form = {
        "preset": "as-published",
        "none_of_the_above": "ignore",
        "rater_pools": "summed",
        "min_raters": "1",
    }
    answer = analyst_client.post(
        reverse("analysis:compute", args=["isles"]), form | {"seed": "8"}, follow=True
    )
    report = Report.objects.get()
    assert report.summary["preset"] == "as-published"
    assert (report.parameters["min_raters"], report.parameters["seed"]) == (2, 8)
    assert "as published (ViSAGe)" in answer.content.decode()


def test_the_form_takes_pools_of_raters(marked, analyst_client):
    analyst_client.post(reverse("analysis:compute", args=["isles"]), {"rater_pools": "summed"})
    assert Report.objects.get().parameters["rater_pools"] == "summed"
    page = words(analyst_client.get(OVERVIEW).content.decode())
    assert "raters of both pools together" in page
    assert '<option value="summed" selected>' in page


def test_the_preset_and_pools_are_chosen_over_http(marked, analyst_client):
    address = reverse("api:results", args=["isles"])
    chosen = {"preset": "as-published", "resamples": 100, "rater_pools": "summed"}
    answer = analyst_client.post(address, chosen, content_type="application/json")
    assert answer.status_code == 201
    parameters = analyst_client.get(address).json()["summary"]["parameters"]
    assert (parameters["none_of_the_above"], parameters["rater_pools"]) == ("as_random", "summed")
    for wrong in ({"preset": "as-said"}, {"rater_pools": "mixed"}):
        refused = analyst_client.post(address, wrong, content_type="application/json")
        assert (refused.status_code, refused.json()["error"]["code"]) == (400, "invalid_parameter")
    assert analyst_client.get("/api/v1/studies/isles/").json()["rater_pools"] == "separate"
