"""From stored answers and codings to the tables of PAIRS, compared with sums over the planted answers."""

import csv
import json
from collections import defaultdict
from datetime import timedelta
from statistics import mean, stdev

import pytest
from django.core.management import call_command
from django.urls import reverse
from django.utils import timezone

from analysis.results import reports
from analysis.results.parameters import parameters_of
from analysis.results.probe_tables import PROBE_TABLES
from generation.models import Answer, Coding, Image, ProbeRun
from generation.probing.overrides import override_answer
from generation.probing.probe_sets import ProbeSet
from tests.analysis.probing.weavers import SCENARIOS
from tests.analysis.results.output.codebooks import columns_without_meaning
from tests.web.markup import compact

pytestmark = pytest.mark.django_db
CODES = {"plus": 1.0, "minus": -1.0}


@pytest.fixture
def analyze(tmp_path):
    """Run the command; return its tables and the summary."""

    def run(study):
        output = tmp_path / "results"
        call_command("analyze", "--study", study.slug, "--output", str(output), "--resamples", "100")
        assert not columns_without_meaning(output)
        tables = {}
        for name in PROBE_TABLES:
            path = output / f"{name}.csv"
            if path.exists():
                with path.open(encoding="utf-8", newline="") as file:
                    tables[name] = list(csv.DictReader(file))
        return tables, json.loads((output / "summary.json").read_text(encoding="utf-8"))

    return run


def scenario_means(probed, model, chosen):
    codes = defaultdict(list)
    for (asked, scenario, group, order, _), outcome in probed.outcomes.items():
        if asked == model and chosen(group):
            codes[scenario, group, order].append(CODES.get(outcome, 0.0))
    cells = defaultdict(list)
    for (scenario, *_), values in codes.items():
        cells[scenario].append(mean(values))
    return [mean(cells[scenario]) for scenario in SCENARIOS]


def test_scores_and_tests_follow_from_stored_codings(probed, analyze):
    tables, summary = analyze(probed.study)
    assert set(tables) == set(PROBE_TABLES)
    scores = {(row["model"], row["group"]): row for row in tables["pairs_scores"]}
    for (model, group), row in scores.items():
        expected = mean(scenario_means(probed, model, lambda name, group=group: name == group))
        assert float(row["association"]) == pytest.approx(expected, abs=1e-12)
        assert int(row["n"]) == 12
    assert float(scores["weaver-2", "green_tall"]["refusal_rate"]) == 0.5
    (size,) = (row for row in tables["pairs_tests"] if (row["model"], row["factor"]) == ("weaver-1", "size"))
    differences = [
        short - tall
        for short, tall in zip(
            *(
                scenario_means(probed, "weaver-1", lambda name, end=end: name.endswith(end))
                for end in ("short", "tall")
            ),
            strict=True,
        )
    ]
    assert float(size["difference"]) == pytest.approx(mean(differences), abs=1e-12)
    t = mean(differences) / (stdev(differences) / len(differences) ** 0.5)
    assert float(size["t"]) == pytest.approx(t, abs=1e-9)
    assert summary["probes"]["factors"] == ["colour", "size"]
    assert summary["probes"]["answers"] == 96


def test_people_count_before_rules_and_newer_rules_before_older(probed, analyze):
    place = {"scenario": "loom", "group": "green_tall", "order": "published"}
    first = probed.answer(model="weaver-1", repeat=0, **place)
    second = probed.answer(model="weaver-1", repeat=1, **place)
    Coding.objects.create(
        answer=first, coder="person", version="1", source="a", outcome="minus", code=-1, sure=True
    )
    Coding.objects.create(answer=first, coder="rules", version="2", outcome="plus", code=1, sure=True)
    Coding.objects.create(answer=second, coder="rules", version="2", outcome="refused", code=0, sure=True)
    tables, _ = analyze(probed.study)
    (row,) = (
        row
        for row in tables["pairs_scenarios"]
        if (row["model"], row["scenario"], row["group"]) == ("weaver-1", "loom", "green_tall")
    )
    assert float(row["association"]) == pytest.approx(mean([mean([-1, 0]), 1]))


def test_people_who_disagree_decide_nothing_until_a_third_does(probed, analyze):
    place = {"model": "weaver-1", "scenario": "loom", "group": "green_tall", "order": "published"}
    answer = probed.answer(repeat=0, **place)
    associations = []
    for source, outcome, code in (
        ("a", "minus", -1),
        ("b", "other", 0),
        ("c", "both", 0),
        ("d", "minus", -1),
    ):
        Coding.objects.create(
            answer=answer,
            coder="person",
            version=source,
            source=source,
            outcome=outcome,
            code=code,
            sure=True,
        )
        (row,) = (
            row
            for row in analyze(probed.study)[0]["pairs_scenarios"]
            if (row["model"], row["scenario"], row["group"]) == ("weaver-1", "loom", "green_tall")
        )
        associations.append(float(row["association"]))
    # The other answers are all plus. First one person counts, then the rules, then the third, then no majority of four.
    assert associations == pytest.approx([0.5, 1, 0.75, 0.5])


def test_a_leads_newest_override_takes_precedence(probed, analyze, lead):
    place = {"model": "weaver-1", "scenario": "loom", "group": "green_tall", "order": "published"}
    answer = probed.answer(repeat=0, **place)
    Coding.objects.create(
        answer=answer, coder="person", version="1", source="a", outcome="minus", code=-1, sure=True
    )

    def association():
        (row,) = (
            row
            for row in analyze(probed.study)[0]["pairs_scenarios"]
            if (row["model"], row["scenario"], row["group"]) == ("weaver-1", "loom", "green_tall")
        )
        return float(row["association"])

    before = association()
    override_answer(answer=answer, outcome="minus", reason="It says rope.", by=lead)
    override_answer(answer=answer, outcome="refused", reason="It says that it cannot see a craft.", by=lead)
    Coding.objects.create(
        answer=answer, coder="person", version="1", source="b", outcome="minus", code=-1, sure=True
    )
    Coding.objects.create(answer=answer, coder="rules", version="3", outcome="plus", code=1, sure=True)
    assert (before, association()) == (pytest.approx(0.5), pytest.approx(0.75))


def test_unasked_and_uncoded_answers_are_counted_and_failed_ones_are_missing(probed, analyze):
    place = {"model": "weaver-1", "scenario": "loom", "group": "green_tall"}
    pending = probed.answer(order="published", repeat=0, **place)
    Coding.objects.filter(answer=probed.answer(order="published", repeat=1, **place)).delete()
    failed = probed.answer(order="reversed", repeat=0, **place)
    declined = probed.answer(order="reversed", repeat=1, **place)
    for answer, outcome in ((pending, "pending"), (failed, "failed"), (declined, "declined")):
        Answer.objects.filter(pk=answer.pk).update(
            outcome=outcome, text="", finished_at=None if outcome == "pending" else timezone.now()
        )
    tables, summary = analyze(probed.study)
    assert summary["probes"]["not_counted"] == {"not_asked_yet": 1, "not_coded": 1}
    (row,) = (
        row
        for row in tables["pairs_scenarios"]
        if (row["model"], row["scenario"], row["group"]) == ("weaver-1", "loom", "green_tall")
    )
    assert (row["n"], row["failed"], row["declined"], row["refusal_rate"]) == ("1", "1", "1", "1.0")


def test_answers_about_an_image_that_was_retracted_do_not_count(probed, analyze):
    retracted = probed.study.images.filter(scenario="loom").earliest("pk")
    probed.study.images.filter(pk=retracted.pk).update(retracted_at=timezone.now())
    tables, summary = analyze(probed.study)
    assert summary["probes"]["not_counted"] == {"image_retracted": 2 * 2 * 2}
    counts = {row["group"]: int(row["n"]) for row in tables["pairs_scores"] if row["model"] == "weaver-1"}
    assert counts[retracted.group.name] == min(counts.values()) == max(counts.values()) - 4


def test_the_option_named_first_is_that_of_the_probe_set(probed, analyze):
    """weaver-2 chooses plus in the published order and minus in the other: of this set, always the second option."""
    choice = {"plus": "cloth", "minus": "rope", "published_first": "minus"}
    question = {"name": "craft", "kind": "choice", "text": "{first} or {second}?", "options": choice}
    probe_set = {
        "title": "Weavers",
        "runs": 2,
        "sampling": {"temperature": 0.0, "top_p": 1.0, "max_tokens": 10},
        "experiments": [{"name": "trades", "scenarios": SCENARIOS, "questions": [question]}],
    }
    before, _ = analyze(probed.study)
    run = probed.runs["weaver-2"]
    run.questions = ProbeSet.model_validate(probe_set).model_dump(mode="json")
    run.save()
    after, _ = analyze(probed.study)
    for tables, share in ((before, 1.0), (after, 0.0)):
        (row,) = (
            row
            for row in tables["pairs_first_options"]
            if row["model"] == "weaver-2" and row["experiment"] == "trades"
        )
        assert float(row["share"]) == share


def test_a_study_without_probes_has_none_of_these_tables(marked, analyze):
    tables, summary = analyze(marked.study)
    assert tables == {}
    assert "probes" not in summary


def test_other_codings_are_other_inputs(probed, analyze):
    _, before = analyze(probed.study)
    answer = probed.answer(model="weaver-1", scenario="loom", group="green_tall", order="published", repeat=0)
    Coding.objects.create(answer=answer, coder="rules", version="2", outcome="other", code=0, sure=False)
    _, after = analyze(probed.study)
    assert before["inputs_digest"] != after["inputs_digest"]


class TestChangedServedModel:
    @pytest.fixture
    def changed(self, probed):
        """The endpoint serves another model for the second half of the answers of weaver-1."""
        answers = list(probed.runs["weaver-1"].answers.order_by("pk"))
        start = timezone.now()
        for place, answer in enumerate(answers):
            answer.served_model = "loom-a" if place < len(answers) / 2 else "loom-b"
            answer.finished_at = start + timedelta(seconds=place)
            answer.save()
        # A declined request names no model: it counts with the one that answered before it.
        Answer.objects.filter(pk=answers[-1].pk).update(outcome="declined", served_model="", text="")
        return probed

    def test_has_its_own_rows_in_every_table_and_is_reported(self, changed, analyze):
        tables, summary = analyze(changed.study)
        models = ["weaver-1, served as loom-a", "weaver-1, served as loom-b", "weaver-2"]
        for name in ("pairs_scores", "pairs_tests", "pairs_scenarios", "pairs_orders"):
            assert sorted({row["model"] for row in tables[name]}) == models
        counts = defaultdict(int)
        for row in tables["pairs_scores"]:
            counts[row["model"]] += int(row["n"])
        assert dict(counts) == dict(zip(models, (24, 24, 48), strict=True))
        (change,) = summary["probes"]["served"]
        assert change["model"] == "weaver-1"
        assert [(line["name"], line["answers"]) for line in change["served"]] == [
            ("loom-a", 24),
            ("loom-b", 23),
        ]

    def test_is_reported_on_the_page_and_in_the_report(self, changed, lead, client, tmp_path):
        reports.compute_report(study=changed.study, parameters=parameters_of(changed.study), by=lead)
        client.force_login(lead)
        page = compact(client.get(reverse("analysis:probes", args=["weavers"])).content.decode())
        assert "The endpoint served more than one model as weaver-1." in page
        call_command("analyze", "--study", changed.study.slug, "--output", str(tmp_path / "results"))
        report = (tmp_path / "results" / "report.html").read_text(encoding="utf-8")
        assert "The endpoint served more than one model as weaver-1." in compact(report)

    def test_a_served_model_that_stays_is_one_model(self, probed, analyze):
        probed.runs["weaver-1"].answers.update(served_model="loom-a", fingerprint="fp_1")
        tables, summary = analyze(probed.study)
        assert {row["model"] for row in tables["pairs_scores"]} == {"weaver-1", "weaver-2"}
        assert summary["probes"]["served"] == []


def test_an_experiment_compares_what_its_probe_set_says(probed, analyze):
    def primary():
        tables, _ = analyze(probed.study)
        return {row["factor"] for row in tables["pairs_tests"] if row["family"] == "primary"}

    assert primary() == {"colour"}  # the first factor, as nothing is declared
    options = {"plus": "weaver", "minus": "dyer"}
    question = {"name": "trade", "kind": "choice", "text": "{first} or {second}?", "options": options}
    experiment = {
        "name": "trades",
        "comparison": "size",
        "scenarios": list(SCENARIOS),
        "questions": [question],
    }
    asked = {
        "title": "Trades",
        "runs": 2,
        "sampling": {"temperature": 0.7, "top_p": 1.0, "max_tokens": 20},
        "experiments": [experiment],
    }
    questions = ProbeSet.model_validate(asked).model_dump(mode="json")
    ProbeRun.objects.filter(study=probed.study).update(questions=questions)
    assert primary() == {"size"}
    # A factor with one level among the remaining groups cannot be compared.
    Image.objects.filter(group__factors__size="short").update(retracted_at=timezone.now())
    assert primary() == {"colour"}


def test_results_show_that_answers_or_codings_are_newer(probed, lead, client):
    def page():
        return compact(client.get(reverse("analysis:probes", args=["weavers"])).content.decode())

    client.force_login(lead)
    report = reports.compute_report(study=probed.study, parameters=parameters_of(probed.study), by=lead)
    assert "after these results were computed" not in page()
    assert reports.is_current(report, using="default")
    answer = probed.answer(model="weaver-1", scenario="loom", group="green_tall", order="published", repeat=0)
    override_answer(answer=answer, outcome="minus", reason="It names the dyer.", by=lead)
    assert "Models answered, or answers were coded, after these results were computed." in page()
    assert not reports.is_current(report, using="default")
