"""The page of answers to questions without answers or measures to show."""

from django.urls import reverse

from tests.analysis.questions.campaigns import open_campaign
from tests.analysis.questions.kinds import PAIR
from tests.analysis.questions.test_pages import PAGE, compute, read


def test_a_study_without_such_campaigns_says_so(marked, analyst, analyst_client):
    compute(marked.study, analyst)
    assert "No campaign asks questions yet" in read(analyst_client)
    overview = analyst_client.get(reverse("analysis:overview", kwargs={"study": "isles"})).content.decode()
    assert PAGE not in overview


def test_a_campaign_without_answers_says_so(study, analyst, analyst_client):
    open_campaign(study, PAIR, [])
    compute(study, analyst)
    assert "No answers yet" in read(analyst_client)


def test_a_removed_measure_is_named(study, analyst, analyst_client):
    open_campaign(study, PAIR.model_copy(update={"measures": (*PAIR.measures, "beauty")}), [])
    compute(study, analyst)
    assert "no measure called beauty." in read(analyst_client)
