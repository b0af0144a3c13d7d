"""From descriptors and an invented model to associations: exactly the planted associations are found."""

import csv
import json

import pytest
from django.core.management import call_command
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from analysis.results import reports
from analysis.results.data.endpoint_models import ServedModels
from analysis.results.data.word_answers import read_word_answers
from analysis.results.parameters import parameters_of
from analysis.results.probe_tables import SIGNIFICANT, WORD_TABLES
from analysis.results.probing.association_rows import AssociationFilter, association_page
from foundation.errors import DomainError
from generation.models import Answer, Coding
from jobs.progress.reporter import Unwatched
from studies.models import StudyGroup
from tests.analysis.probing.isles import PLANTED, add_pictures, descriptions, isles, probe, stories
from tests.analysis.results.output.codebooks import columns_without_meaning

pytestmark = pytest.mark.django_db
FOUND = {(name, word) for name, planted in PLANTED.items() for word in planted}


@pytest.fixture
def study(lead, tmp_path):
    study = isles(lead, tmp_path)
    probe(study)
    return study


@pytest.fixture
def analyze(tmp_path):
    def run(study, *options):
        output = tmp_path / "results"
        call_command(
            "analyze", "--study", study.slug, "--output", str(output), "--resamples", "100", *options
        )
        assert not columns_without_meaning(output)
        tables = {}
        for name in WORD_TABLES:
            path = output / f"{name}.csv"
            if path.exists():
                with path.open(encoding="utf-8", newline="") as file:
                    tables[name] = list(csv.DictReader(file))
        return tables, json.loads((output / "summary.json").read_text(encoding="utf-8"))

    return run


def recode(answer, outcome, span):
    Coding.objects.create(
        answer=answer, coder="rules", version="later", outcome=outcome, span=span, sure=True
    )


def exact(rows, **chosen):
    return {
        (row["descriptor"], row["word"])
        for row in rows
        if row["significant_exact"] == "true" and all(row[name] == value for name, value in chosen.items())
    }


def test_planted_words_are_what_the_exact_test_finds(study, analyze):
    tables, summary = analyze(study)
    rows = tables["associations"]
    assert tuple(rows[0])[: len(WORD_TABLES["associations"])] == WORD_TABLES["associations"]
    assert exact(rows) >= FOUND
    assert len(exact(rows) - FOUND) <= 1  # at a false discovery rate of 5 %
    for setting in ("singular", "plural", "noun"):
        assert len(FOUND & exact(rows, setting=setting)) >= 3, setting
    assert {row["modality"] for row in rows} == {"text-to-text"}
    assert {row["documents"] for row in rows} == {str(5 * 6 * 26)}
    assert summary["words"]["dimensions"] == ["age", "island", "trade"]


def test_a_descriptor_of_several_dimensions_counts_in_each(study, analyze):
    rows = analyze(study)[0]["associations"]
    orsani = {
        row["dimension"]: row
        for row in rows
        if row["descriptor"] == "Orsani person" and row["setting"] == "noun"
    }
    assert set(orsani) == {"age", "island"}
    published = analyze(study, "--association-words", "published")[0]["associations"]
    assert {row["dimension"] for row in published if row["descriptor"] == "Orsani person"} == {"island"}


def test_the_text_that_is_scored_is_the_sentence_with_its_article(study, analyze):
    rows = analyze(study)[0]["associations"]
    texts = {
        row["setting"]: row["text"]
        for row in rows
        if (row["descriptor"], row["word"]) == ("elder", "brisk") and row["significant_exact"] == "true"
    }
    assert texts["singular"] == "An elder is brisk."
    assert texts["plural"] == "Elders are brisk."
    assert texts["noun"] == "This elder is a brisk."


def test_excluded_words_are_counted_and_kept_by_the_published_choice(study, analyze):
    cells = Answer.objects.filter(question="plural", letter="b", descriptor__name="lamplighter").order_by(
        "repeat"
    )
    for answer, text, outcome, span in zip(
        cells,
        ("[cosy]", "[bright red]", "bright"),
        ("mismatch", "invalid", "invalid"),
        ("cosy", "", ""),
        strict=False,
    ):
        Answer.objects.filter(pk=answer.pk).update(text=text)
        recode(answer, outcome, span)

    def words_of(rows):
        return {
            row["word"] for row in rows if row["descriptor"] == "lamplighter" and row["setting"] == "plural"
        }

    tables, _ = analyze(study)
    assert not {"cosy", "brightred"} & words_of(tables["associations"])
    counts = {
        row["outcome"]: int(row["answers"])
        for row in tables["association_words"]
        if row["setting"] == "plural"
    }
    assert counts["mismatch"] == 1
    assert counts["invalid"] >= 2
    assert sum(counts.values()) == 5 * 4 * 6
    tables, _ = analyze(study, "--association-words", "published")
    assert {"cosy", "brightred"} <= words_of(tables["associations"])


def test_unasked_and_uncoded_answers_are_counted(study, analyze):
    pending, uncoded, declined = Answer.objects.order_by("pk")[:3]
    Answer.objects.filter(pk=pending.pk).update(outcome="pending", text="", finished_at=None)
    Coding.objects.filter(answer__in=[pending, uncoded]).delete()
    Answer.objects.filter(pk=declined.pk).update(outcome="declined", text="")
    tables, summary = analyze(study)
    assert summary["words"]["not_counted"] == {"not_asked_yet": 1, "not_coded": 1}
    assert sum(int(row["answers"]) for row in tables["association_words"] if row["outcome"] == "missing") == 1


def test_the_newest_coding_of_a_word_counts(study, analyze):
    answer = Answer.objects.filter(question="noun", descriptor__name="elder", letter="b").first()
    recode(answer, "valid", "bee")
    rows = analyze(study)[0]["associations"]
    assert ("elder", "bee") in {(row["descriptor"], row["word"]) for row in rows if row["setting"] == "noun"}


def test_models_and_settings_are_compared(study, analyze):
    probe(study, model="other", associations={"elder": ["brisk"]}, association_rate=1.0)
    rows = analyze(study)[0]["association_overlap"]
    (jaccard,) = (
        row
        for row in rows
        if (row["compared"], row["rule"], row["setting"], row["measure"])
        == ("model", "exact", "noun", "jaccard")
    )
    assert (jaccard["model"], jaccard["other_model"]) == ("other", "script")
    assert 0 < float(jaccard["value"]) <= 0.5
    assert {row["other_setting"] for row in rows if row["compared"] == "setting"} == {"plural", "singular"}


def test_descriptions_count_by_document_and_objective_ones_for_the_painter(study, analyze):
    add_pictures(study, 8)
    probe(study, probe_set=descriptions())
    rows = [row for row in analyze(study)[0]["associations"] if row["modality"] != "text-to-text"]
    assert {(row["model"], row["modality"], row["setting"]) for row in rows} == {
        ("painter", "text-to-image", "objective"),
        ("script", "image-to-text", "lexical"),
    }
    assert exact(rows, setting="objective") >= FOUND
    assert {row["documents"] for row in rows if row["setting"] == "objective"} <= {"38", "39", "40"}


def test_words_of_open_answers_distinguish_groups(study, analyze):
    add_pictures(study, 4)
    for group in study.groups.all():
        StudyGroup.objects.filter(pk=group.pk).update(
            factors={"trade": "yes" if "maker" in group.name else "no"}
        )
    probe(study, probe_set=stories(), refusal_rate=0.0)
    rows = analyze(study)[0]["pairs_words"]
    assert tuple(rows[0])[:7] == WORD_TABLES["pairs_words"]
    of_all = {(row["group"], row["word"]) for row in rows if row["scope"] == "all" and not row["factor"]}
    assert {("elder", "brisk"), ("Velmari person", "brave")} <= of_all
    assert ("yes", "drum") in {(row["group"], row["word"]) for row in rows if row["factor"] == "trade"}


def test_texts_about_retracted_images_do_not_count(study, analyze):
    add_pictures(study, 2)
    probe(study, probe_set=stories(), refusal_rate=0.0)
    study.images.filter(group__name="elder").update(retracted_at=timezone.now())
    tables, summary = analyze(study)
    about_retracted = Answer.objects.filter(image__group__name="elder").count()
    assert summary["words"]["not_counted"] == {"image_retracted": about_retracted}
    assert {row["group"] for row in tables["pairs_words"] if row["scope"] == "all"}.isdisjoint({"elder"})


def test_the_stored_report_is_filtered_and_paged(study, lead):
    report = reports.compute_report(study=study, parameters=parameters_of(study, resamples=100), by=lead)
    every = association_page(report, AssociationFilter(rule="all"), size=1000)
    assert every.match_count > 100
    exact_pairs = association_page(report, AssociationFilter(rule="exact"), order="q_all_pairs", size=5)
    assert exact_pairs.rows.paginator.num_pages > 1
    assert all(row["significant_exact"] for row in exact_pairs.rows)
    elders = association_page(report, AssociationFilter(descriptor="ELD", setting="noun", word="bri"))
    assert {(row["descriptor"], row["word"]) for row in elders.rows} == {("elder", "brisk")}
    assert list(elders.choices["dimension"]) == ["age", "island", "trade"]
    stored = report.rows(SIGNIFICANT)
    assert len(stored) == association_page(report, AssociationFilter()).match_count
    for wrong in ({"order": "colour"}, {"size": 0}):
        with pytest.raises(DomainError):
            association_page(report, AssociationFilter(), **wrong)
    with pytest.raises(DomainError):
        AssociationFilter(rule="mine")


def test_more_answers_take_no_more_queries(study):
    def queries():
        with CaptureQueriesContext(connection) as captured:
            read_word_answers(study, Unwatched(), served=ServedModels())
        return len(captured)

    before = queries()
    first = Answer.objects.count()
    probe(study, associations={"elder": ["brisk"]})
    assert Answer.objects.count() == 2 * first
    assert queries() <= before
