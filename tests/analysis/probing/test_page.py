"""The page of models' answers: differences with intervals, breakdowns, nothing before a model was asked."""

import pytest
from django.urls import reverse

from analysis.results import reports
from analysis.results.parameters import parameters_of
from generation.models import Answer
from jobs.models import Job
from studies.models import StudyMembership
from tests.web.markup import compact

PAGE = reverse("analysis:probes", kwargs={"study": "weavers"})


@pytest.fixture
def computed(probed, analyst):
    StudyMembership.objects.create(study=probed.study, user=analyst, role=StudyMembership.Role.ANALYST)
    parameters = parameters_of(probed.study, resamples=100)
    reports.compute_report(study=probed.study, parameters=parameters, by=analyst)
    return probed


def read(client, address: str = PAGE) -> str:
    answer = client.get(address)
    assert answer.status_code == 200
    return compact(answer.content.decode())


@pytest.fixture
def uncomputed(probed, analyst):
    StudyMembership.objects.create(study=probed.study, user=analyst, role=StudyMembership.Role.ANALYST)
    return probed


def test_before_the_first_report_answers_of_models_are_counted(uncomputed, analyst_client):
    page = read(analyst_client)
    assert "This study has 96 answers of models." in page
    assert "Compute results" in page
    assert [label for label in ("Groups", "Attributes", "Answers of models") if f">{label}</a>" in page] == [
        "Answers of models"
    ]


def test_before_any_answer_the_page_says_what_is_missing(uncomputed, analyst_client):
    Answer.objects.update(outcome="pending", text="", finished_at=None)
    page = read(analyst_client)
    assert "Nothing to measure yet" in page
    assert "once models have answered" in page


def test_many_answers_are_computed_by_a_worker(uncomputed, analyst, monkeypatch):
    monkeypatch.setattr(reports, "INLINE_ANSWERS", 95)
    outcome = reports.request_report(
        study=uncomputed.study, parameters=parameters_of(uncomputed.study), by=analyst
    )
    assert isinstance(outcome, Job)


def test_differences_and_groups_have_intervals(computed, analyst_client):
    page = read(analyst_client)
    for words in ("weaver-1 · size: short − tall", "Detectable", "weaver-2 · green tall", "Content warning"):
        assert words in page, words
    assert "Of the answers that chose an option" in page


@pytest.mark.parametrize(
    ("by", "words"),
    [("question", "weaver-1 · craft · green tall"), ("scenario", "weaver-1 · loom · violet short")],
)
def test_scores_are_broken_down(computed, analyst_client, by, words):
    page = read(analyst_client, f"{PAGE}?by={by}")
    assert words in page
    assert words not in read(analyst_client)


def test_no_other_breakdown_is_made_up(computed, analyst_client):
    assert analyst_client.get(f"{PAGE}?by=colour").status_code == 404


def test_the_overview_leads_there_and_the_table_can_be_taken_away(computed, analyst_client):
    overview = read(analyst_client, reverse("analysis:overview", kwargs={"study": "weavers"}))
    assert "96 answers of 2 models" in overview
    assert PAGE in overview
    table = analyst_client.get(reverse("analysis:table", kwargs={"study": "weavers", "table": "pairs_tests"}))
    assert table.status_code == 200
    assert table.content.decode().startswith("model,experiment,factor,difference,ci_low,ci_high,t,df,p")


def test_without_probes_there_is_no_tab(marked, analyst, analyst_client):
    reports.compute_report(
        study=marked.study, parameters=parameters_of(marked.study, resamples=100), by=analyst
    )
    address = reverse("analysis:probes", kwargs={"study": marked.study.slug})
    page = read(analyst_client, address)
    assert "No model was asked" in page
    assert f'href="{address}"' not in page
