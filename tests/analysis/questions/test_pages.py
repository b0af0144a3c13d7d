"""The page of answers to declared questions: content, access and downloads."""

import pytest
from django.urls import reverse

from accounts.models import User
from analysis.results import reports
from analysis.results.parameters import parameters_of
from annotation.models import Annotation
from studies.models import Study
from tests.analysis.questions.every_kind import answer_every_kind
from tests.analysis.questions.kinds import RUBRIC
from tests.studies import isles
from tests.web.markup import compact

PAGE = reverse("analysis:questions", kwargs={"study": "isles"})


def plot(name: str, format: str, query: str) -> str:
    return reverse("analysis:plot", kwargs={"study": "isles", "plot": name, "format": format}) + query


def compute(study, analyst):
    parameters = parameters_of(study, resamples=100)
    return reports.compute_report(study=study, parameters=parameters, by=analyst)


def write_rows(folder):
    """A campaign of each kind, on the same images, with a report."""
    lead, analyst = isles.new_lead(), isles.new_analyst()
    study = isles.new_study(lead=lead, analyst=analyst, resource=isles.new_resource())
    answer_every_kind(study)
    compute(study, analyst)


@pytest.fixture
def study(shared_rows, db) -> Study:
    return Study.objects.get()


@pytest.fixture
def analyst(shared_rows, db) -> User:
    return User.objects.get(username="anton")


@pytest.fixture
def answered(study):
    return study.reports.get()


def read(client, query: str = "") -> str:
    answer = client.get(PAGE + query)
    assert answer.status_code == 200
    return compact(answer.content.decode())


def test_the_page_of_a_pair_shows_winners_and_insignificant_differences(answered, analyst_client):
    page = read(analyst_client)
    assert "Which is better?" in page
    assert "Win rate: The share of its comparisons that an item won" in page
    assert "aurora" in page
    assert "Difference shown" in page
    assert "The image shown first was preferred" in page
    assert "72 by 4 annotators" in page


def test_every_question_of_a_rubric_has_its_part(answered, analyst_client):
    page = read(analyst_client, "?campaign=rubric")
    for question in RUBRIC.questions:
        assert question.label["en"] in page
    points = "Points: at least one near the other annotator’s"
    for words in ("α, ordinal", "α, sets (MASI)", points, "Marked words", "“Unsure”"):
        assert words in page, words


def test_a_ranking_is_a_leaderboard(answered, analyst_client):
    page = read(analyst_client, "?campaign=ranking")
    assert "Ranked first" in page
    assert "Kendall’s W" in page


def test_texts_are_listed(answered, analyst_client):
    page = read(analyst_client, "?campaign=rubric")
    assert page.count("no kite, says &lt;b&gt;") == 5
    assert "Read all 48 texts" in page
    every = read(analyst_client, "?campaign=rubric&question=why")
    assert every.count("no kite, says") == 48
    assert "Krippendorff" not in every


def test_texts_of_answers_that_no_longer_count_are_not_listed(answered, analyst_client):
    Annotation.objects.filter(campaign__slug="rubric").update(status="excluded")
    assert "no kite" not in read(analyst_client, "?campaign=rubric")


@pytest.mark.parametrize("query", ["?campaign=none", "?campaign=rubric&question=none"])
def test_unknown_objects_are_not_found(answered, analyst_client, query):
    assert analyst_client.get(PAGE + query).status_code == 404


@pytest.mark.parametrize(
    ("name", "query"),
    [
        ("question-strengths", "?campaign=pair&question=better"),
        ("question-strengths", "?campaign=ranking&question=order"),
        ("question-means", "?campaign=rubric&question=realism"),
        ("question-shares", "?campaign=rubric&question=shows"),
        ("question-words", "?campaign=rubric&question=missing"),
    ],
)
def test_plots_can_be_downloaded(answered, analyst_client, name, query):
    for format in ("csv", "vl.json"):
        assert analyst_client.get(plot(name, format, query)).status_code == 200
    assert analyst_client.get(plot(name, "csv", "?campaign=pair&question=none")).status_code == 404


def test_the_overview_leads_to_the_questions(answered, analyst_client):
    page = compact(
        analyst_client.get(reverse("analysis:overview", kwargs={"study": "isles"})).content.decode()
    )
    assert "Answers to questions" in page
    assert f'href="{PAGE}?campaign=rubric"' in page
    assert "No judgements of images yet" not in page


def test_another_condition_of_the_images_is_stated(study, answered, analyst, analyst_client):
    assert "Condition:" not in read(analyst_client)
    study.images.update(condition="stereotypical")
    study.campaigns.filter(slug="pair").update(options={"condition": "stereotypical"})
    compute(study, analyst)
    page = read(analyst_client)
    assert "Condition: stereotypical" in page
    assert "72 by 4 annotators" in page


def test_strangers_get_404(answered, stranger_client):
    assert stranger_client.get(PAGE).status_code == 404


def test_the_page_takes_few_queries(answered, analyst_client, django_assert_max_num_queries):
    with django_assert_max_num_queries(35):
        read(analyst_client, "?campaign=rubric")
