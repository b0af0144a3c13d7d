"""Where people checked images, only answers about scenarios found alike are compared; the others are reported."""

import csv
import json

import pytest
from django.core.management import call_command
from django.urls import reverse

from analysis.results.data.endpoint_models import ServedModels
from analysis.results.data.probe_answers import read_probe_answers
from analysis.results.data.scenario_checks import read_scenario_checks
from analysis.results.data.word_answers import read_word_answers
from generation.models import Answer, ProbeRun
from generation.probing.execution import run
from jobs.progress.reporter import Unwatched
from tests.analysis.probing.test_tables import scenario_means
from tests.analysis.results.output.codebooks import columns_without_meaning
from tests.annotation.campaigns.images.scenarios import ALIKE, DIFFERENT, SMALL, answer, opened_check
from tests.generation.pages.test_runs import text_of
from tests.generation.probing.probing_study import add_scenarios, planned

pytestmark = pytest.mark.django_db
ASKED = 2 * 4 * 2 * 2  # about each scenario: models × groups × orders × repeats


@pytest.fixture
def pictured(probed):
    """The weavers, whose images have files that can be shown."""
    for number, image in enumerate(probed.study.images.order_by("pk")):
        image.sha256, image.file, image.width, image.height = f"{number:064d}", f"images/{number}.png", 64, 64
        image.save()
    return probed


@pytest.fixture
def analyze(tmp_path):
    """Run the command; return its folder, the tables that are read here and the summary."""

    def analyzed(study):
        output = tmp_path / "results"
        call_command("analyze", "--study", study.slug, "--output", str(output), "--resamples", "100")
        assert not columns_without_meaning(output)
        tables = {}
        for name in ("pairs_scores", "pairs_tests", "pairs_scenarios", "pairs_scenario_checks"):
            with (output / f"{name}.csv").open(encoding="utf-8", newline="") as file:
                tables[name] = list(csv.DictReader(file))
        return output, tables, json.loads((output / "summary.json").read_text(encoding="utf-8"))["probes"]

    return analyzed


def test_without_a_check_all_scenarios_count(pictured, analyze):
    _, tables, summary = analyze(pictured.study)
    assert summary["answers"] == 3 * ASKED
    assert summary["scenarios"] is None
    assert tables["pairs_scenario_checks"] == []


def test_kept_scenarios_alone_are_compared(pictured, lead, analyze):
    answers = {"loom": [ALIKE, SMALL, DIFFERENT], "market": [SMALL, SMALL, ALIKE], "harbour": [DIFFERENT] * 3}
    answer(opened_check(pictured.study, lead), answers)
    output, tables, summary = analyze(pictured.study)
    assert {row["scenario"] for row in tables["pairs_scenarios"]} == {"loom", "market"}
    assert summary["answers"] == 2 * ASKED
    assert summary["not_counted"] == {"scenario_not_alike": ASKED}
    assert summary["scenarios"] == {"kept": 2, "failed": 1, "open": 0}
    verdicts = {row["scenario"]: row["verdict"] for row in tables["pairs_scenario_checks"]}
    assert verdicts == {"loom": "kept", "market": "kept", "harbour": "failed"}
    (loom,) = (row for row in tables["pairs_scenario_checks"] if row["scenario"] == "loom")
    assert [loom[name] for name in ("alike", "small_differences", "different")] == ["1", "1", "1"]
    (size,) = (row for row in tables["pairs_tests"] if (row["model"], row["factor"]) == ("weaver-1", "size"))
    short, tall = (
        scenario_means(pictured, "weaver-1", lambda name, end=end: name.endswith(end))[:2]
        for end in ("short", "tall")
    )
    expected = sum(s - t for s, t in zip(short, tall, strict=True)) / 2
    assert float(size["difference"]) == pytest.approx(expected, abs=1e-12)
    report = " ".join((output / "report.html").read_text(encoding="utf-8").split())
    assert "2 scenarios were kept and are compared here; 1 failed" in report
    assert "scenario not alike (32)" in report


def test_undecided_scenarios_are_left_out_too(pictured, lead, analyze, lead_client):
    answer(
        opened_check(pictured.study, lead), {"loom": [ALIKE] * 3, "market": [ALIKE], "harbour": [ALIKE] * 3}
    )
    _, _, summary = analyze(pictured.study)
    assert summary["scenarios"] == {"kept": 2, "failed": 0, "open": 1}
    assert summary["not_counted"] == {"scenario_not_checked": ASKED}
    address = reverse("analysis:overview", args=[pictured.study.slug])
    lead_client.post(reverse("analysis:compute", args=[pictured.study.slug]))
    lead_client.get(address)
    page = text_of(lead_client.get(reverse("analysis:probes", args=[pictured.study.slug])))
    assert "Scenarios whose images are alike 2 0 not alike, 1 not decided by people" in page
    assert "32 scenario not checked" in page


def test_a_check_that_keeps_nothing_leaves_nothing_to_compare(pictured, lead, analyze):
    answer(
        opened_check(pictured.study, lead), {name: [DIFFERENT] * 3 for name in ("loom", "market", "harbour")}
    )
    _, tables, summary = analyze(pictured.study)
    assert (summary["answers"], tables["pairs_scores"]) == (0, [])
    assert summary["scenarios"] == {"kept": 0, "failed": 3, "open": 0}


def test_open_answers_follow_the_same_verdicts(study, lead):
    add_scenarios(study)
    run(run=planned(study, lead), progress=Unwatched())
    answer(opened_check(study, lead), {"bridge": [ALIKE] * 3, "harbour": [DIFFERENT] * 3})
    checks = read_scenario_checks(study)
    texts = read_word_answers(study, Unwatched(), served=ServedModels(), checks=checks)
    assert set(texts.texts["scenario"]) == {"bridge"}
    fallen = Answer.objects.filter(question="story", scenario="harbour").count()
    assert texts.left_out == {"scenario_not_alike": fallen}
    choices = read_probe_answers(study, Unwatched(), ServedModels(), checks)
    assert "scenario_not_alike" in choices.left_out


def test_images_of_another_model_are_judged_separately(pictured, lead):
    """A check of one model's images says nothing about those of another model."""
    answer(opened_check(pictured.study, lead), {name: [ALIKE] * 3 for name in ("loom", "market", "harbour")})
    pictured.study.images.filter(scenario="loom").update(model_label="other")
    ProbeRun.objects.update(questions={})
    data = read_probe_answers(
        pictured.study, Unwatched(), ServedModels(), read_scenario_checks(pictured.study)
    )
    # The screens of the loom are now of the other model, and so is their verdict.
    assert data.scenario_numbers == {"kept": 3, "failed": 0, "open": 0}
    pictured.study.images.filter(scenario="market", group__name="green_tall").update(model_label="other")
    data = read_probe_answers(
        pictured.study, Unwatched(), ServedModels(), read_scenario_checks(pictured.study)
    )
    assert set(data.scenarios["image_model"]) == {"", "other"}
