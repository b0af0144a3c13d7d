"""Answers to declared questions in a stored report, in the files of `analyze` and over the API."""

import csv
import io
import json
import zipfile

import pytest
from django.core.management import call_command
from django.urls import reverse

from analysis.results import reports
from analysis.results.parameters import parameters_of
from analysis.results.question_tables import QUESTION_TABLES
from analysis.results.schema import FILES
from annotation.models import Annotation, Judgement
from tests.analysis.questions.answering import STRENGTHS, comparing
from tests.analysis.questions.campaigns import images_of, label, open_campaign, people
from tests.analysis.questions.kinds import PAIR
from tests.analysis.results.output.codebooks import columns_without_meaning

WRITTEN = [
    *("preferences", "preference_pairs", "group_leaderboards", "position_bias"),
    *("scales", "question_differences"),
]


@pytest.fixture
def compared(study):
    images = images_of(study, models=["aurora", "birch"], prompts=6)
    annotators = people(study, 4)
    campaign = open_campaign(study, PAIR, annotators)
    screens = [images[place : place + 2] for place in range(0, 12, 2)]
    label(campaign, screens, annotators, comparing(STRENGTHS, seed=1), prompt_shown=True)
    return campaign


@pytest.fixture
def report(study, compared, analyst):
    parameters = parameters_of(study, resamples=100)
    return reports.compute_report(study=study, parameters=parameters, by=analyst)


def analyze(folder, **options):
    call_command("analyze", study="isles", output=folder, resamples=100, stdout=io.StringIO(), **options)
    assert not columns_without_meaning(folder)
    return {path.name: path.read_bytes() for path in folder.iterdir()}


def test_analyze_writes_the_tables_of_declared_measures(study, compared, tmp_path):
    files = analyze(tmp_path / "results")
    tables = {f"{name}.csv" for name in (*FILES, *WRITTEN)}
    assert set(files) == tables | {"codebook.csv", "summary.json", "report.html"}
    rows = list(csv.DictReader(io.StringIO(files["preferences.csv"].decode())))
    assert [row["item"] for row in rows] == ["aurora", "birch"]
    assert list(rows[0]) == list(QUESTION_TABLES["preferences"])
    summary = json.loads(files["summary.json"])
    assert summary["counted"]["answers"] == 24 * 3
    (line,) = summary["questions"]
    assert (line["campaign"], line["annotations"], line["annotators"]) == ("pair", 24, 4)
    assert line["questions"][0]["measures"] == [
        "win_rate",
        "bradley_terry_ties",
        "group_strengths",
        "position_bias",
    ]


def test_the_same_answers_give_the_same_bytes(study, compared, tmp_path):
    first, second = (analyze(tmp_path / name) for name in ("one", "two"))
    for name in WRITTEN:
        assert first[f"{name}.csv"] == second[f"{name}.csv"]


def test_a_study_of_the_built_in_kinds_has_the_files_it_had(marked, tmp_path):
    files = analyze(tmp_path / "results")
    assert set(files) == {*(f"{name}.csv" for name in FILES), "codebook.csv", "summary.json", "report.html"}
    summary = json.loads(files["summary.json"])
    assert "questions" not in summary
    assert "answers" not in summary["counted"]


def test_campaigns_of_questions_change_nothing_of_the_built_in_tables(marked, tmp_path):
    before = analyze(tmp_path / "before")
    annotators = people(marked.study, 3, first=100)
    campaign = open_campaign(marked.study, PAIR, annotators)
    images = images_of(marked.study, models=["aurora", "birch"], prompts=2)[-4:]
    label(campaign, [images[:2]], annotators, comparing(STRENGTHS, seed=2), prompt_shown=True)
    after = analyze(tmp_path / "after")
    for name in FILES:
        assert after[f"{name}.csv"] == before[f"{name}.csv"], name


def test_other_answers_change_the_digest(study, report, analyst):
    def digest():
        return reports.compute_report(
            study=study, parameters=parameters_of(study, resamples=100), by=analyst
        ).inputs_digest

    assert digest() == report.inputs_digest
    Judgement.objects.filter(pk=Judgement.objects.filter(question="quality").first().pk).update(rating=9)
    assert digest() != report.inputs_digest


def test_tables_can_be_downloaded_separately_and_together(study, report, analyst_client):
    listing = analyst_client.get("/api/v1/studies/isles/results/").json()
    assert list(listing["tables"]) == [*FILES, *WRITTEN]
    text = analyst_client.get("/api/v1/studies/isles/results/preferences.csv").content
    page = reverse("analysis:table", kwargs={"study": "isles", "table": "preferences"})
    assert analyst_client.get(page).content == text
    assert analyst_client.get("/api/v1/studies/isles/results/rankings.csv").status_code == 404
    packed = analyst_client.get(reverse("analysis:archive", kwargs={"study": "isles"})).content
    names = zipfile.ZipFile(io.BytesIO(packed)).namelist()
    assert "isles-results/preferences.csv" in names
    assert len(names) == len(WRITTEN) + 1  # and the codebook; no table without rows


def test_a_recomputed_report_omits_excluded_answers(study, report, analyst):
    Annotation.objects.filter(pk=Annotation.objects.first().pk).update(status="excluded")
    parameters = parameters_of(study, resamples=100)
    again = reports.compute_report(study=study, parameters=parameters, by=analyst)
    assert again.summary["questions"][0]["annotations"] == 23
    assert again.summary["questions"][0]["not_counted"] == {"excluded": 1}
