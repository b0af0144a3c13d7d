"""Pages of associations with little or nothing to show."""

import pytest

from studies.models import StudyMembership
from tests.analysis.probing.associations.test_association_pages import PAGES, address, compute, read
from tests.analysis.probing.isles import isles, probe

pytestmark = pytest.mark.django_db


@pytest.fixture
def study(lead, analyst, tmp_path):
    study = isles(lead, tmp_path)
    StudyMembership.objects.create(study=study, user=analyst, role=StudyMembership.Role.ANALYST)
    return study


def test_tabs_are_limited_to_words_where_only_words_were_asked_for(study, lead, analyst_client):
    probe(study)
    compute(study, lead)
    answer = analyst_client.get(address("probes"))
    assert (answer.status_code, answer.url) == (302, address("associations"))
    page = read(analyst_client, "associations")
    assert ">Heat maps</a>" in page
    assert ">Order of options</a>" not in page
    assert "words that models gave" in page
    assert "No scores yet" in read(analyst_client, "heat_maps")
    assert "No ratings by a judge yet" in read(analyst_client, "judge")
    assert "No open answers" in read(analyst_client, "probe_words")
    assert address("associations") in read(analyst_client, "overview")


@pytest.mark.parametrize("name", PAGES)
def test_before_any_answer_each_page_says_so(study, lead, analyst_client, name):
    compute(study, lead)
    assert "No model has been asked" in read(analyst_client, name)
