"""The page of models' answers: differences with intervals, breakdowns, and no results before a model was asked."""

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.urls import reverse

from accounts.models import User
from analysis.models import Report
from analysis.results import reports
from analysis.results.parameters import parameters_of
from generation.models import Answer
from jobs.models import Job
from studies.models import Study, StudyMembership
from tests.analysis.probing.weavers import probe_weavers
from tests.studies.isles import new_analyst, new_lead
from tests.web.markup import compact

PAGE = reverse("analysis:probes", kwargs={"study": "weavers"})


def read(client, address: str = PAGE) -> str:
    answer = client.get(address)
    assert answer.status_code == 200
    return compact(answer.content.decode())


def write_rows(folder):
    """What models answered about the weavers, with results; the analyst is a member."""
    lead, analyst = new_lead(), new_analyst()
    study = probe_weavers(lead).study
    StudyMembership.objects.create(study=study, user=analyst, role=StudyMembership.Role.ANALYST)
    reports.compute_report(study=study, parameters=parameters_of(study, resamples=100), by=analyst)


@pytest.fixture
def lead(shared_rows, db) -> User:
    return User.objects.get(username="lena")


@pytest.fixture
def analyst(shared_rows, db) -> User:
    return User.objects.get(username="anton")


@pytest.fixture
def computed(shared_rows, db) -> Study:
    return Study.objects.get()


@pytest.fixture
def uncomputed(computed) -> Study:
    """The same study before the first report."""
    Report.objects.all().delete()
    return computed


def test_before_the_first_report_answers_of_models_are_counted(uncomputed, analyst_client):
    page = read(analyst_client)
    assert "This study has 96 answers of models." in page
    assert "Compute results" in page
    assert [label for label in ("Groups", "Attributes", "Answers of models") if f">{label}</a>" in page] == [
        "Answers of models"
    ]


def test_without_answers_the_page_says_what_is_missing(uncomputed, analyst_client):
    Answer.objects.update(outcome="pending", text="", finished_at=None)
    page = read(analyst_client)
    assert "Nothing to measure yet" in page
    assert "when models have answered" in page


def test_many_answers_are_computed_by_a_worker(uncomputed, analyst, monkeypatch):
    monkeypatch.setattr(reports, "INLINE_ANSWERS", 95)
    outcome = reports.request_report(study=uncomputed, parameters=parameters_of(uncomputed), by=analyst)
    assert isinstance(outcome, Job)


def test_differences_and_groups_have_intervals(computed, analyst_client):
    page = read(analyst_client)
    for words in ("weaver-1 · size: short − tall", "Detectable", "weaver-2 · green tall", "Content warning"):
        assert words in page, words


@pytest.mark.parametrize(
    ("by", "words"),
    [("question", "weaver-1 · craft · green tall"), ("scenario", "weaver-1 · loom · violet short")],
)
def test_scores_are_broken_down(computed, analyst_client, by, words):
    page = read(analyst_client, f"{PAGE}?by={by}")
    assert words in page
    assert words not in read(analyst_client)


@pytest.mark.parametrize("query", ["by=colour", "experiment=weather", "answers_of=weaver-9"])
def test_unknown_choices_are_not_found(computed, analyst_client, query):
    assert analyst_client.get(f"{PAGE}?{query}").status_code == 404


def test_one_model_can_be_shown_alone(computed, analyst_client):
    page = read(analyst_client, f"{PAGE}?answers_of=weaver-2")
    assert "weaver-2 · size: short − tall" in page
    assert "weaver-1 · " not in page


def test_models_are_compared_and_orders_are_tested(computed, analyst_client):
    models = read(analyst_client, reverse("analysis:probe_models", kwargs={"study": "weavers"}))
    for words in (
        "weaver-1 − weaver-2",
        "How differently models answer about groups",
        "Mean answers of models",
    ):
        assert words in models, words
    orders = read(analyst_client, reverse("analysis:probe_orders", kwargs={"study": "weavers"}))
    for words in (
        "weaver-2 · trades · published − reversed",
        "weaver-2 · all experiments",
        "The share of answers that chose the option named first",
    ):
        assert words in orders, words


@pytest.mark.parametrize("name", ["probes", "probe_models", "probe_orders"])
def test_pages_read_stored_tables_and_no_answers(computed, analyst_client, name):
    """A page makes the same few queries for any number of answers."""
    with CaptureQueriesContext(connection) as queries:
        read(analyst_client, reverse(f"analysis:{name}", kwargs={"study": "weavers"}))
    assert len(queries) <= 20
    assert [query["sql"] for query in queries if "generation_answer" in query["sql"]] == []


def test_the_report_has_every_part(computed, analyst_client):
    report = read(analyst_client, reverse("analysis:report", kwargs={"study": "weavers"}))
    for words in (
        "96 answers of weaver-1, weaver-2 count.",
        "Answers show what models say, not what is true of people.",
        "How often do models not choose?",
        "Models compared: trades",
        "weaver-1 · size: short − tall",
    ):
        assert words in report, words
    assert "stereotypes about groups of people in order to measure" not in report


def test_the_overview_links_to_the_page_and_the_table_can_be_downloaded(computed, analyst_client):
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
    assert "No model has been asked" in page
    assert f'href="{address}"' not in page
