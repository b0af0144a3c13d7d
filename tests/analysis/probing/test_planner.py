"""The planner: half-widths by hand, numbers of the study, wrong numbers."""

import pytest
from django.urls import reverse

from analysis.results.probing.design import DesignParameters, designs
from foundation.parameters import whole_numbers
from studies.models import StudyMembership
from tests.web.markup import compact

PAGE = reverse("analysis:probe_planner", kwargs={"study": "weavers"})


@pytest.mark.database_free
def test_designs_follow_from_the_numbers():
    chosen = DesignParameters.read({"scenarios": "10", "repeats": "1", "models": "1", "price_in": 2.0})
    (row,) = designs(chosen, None)
    assert row["requests"] == 10 * 4 * 1 * 2 * 1
    # Two answers about a group in a scenario: 0.5² + 0.5²/2 = 0.375; t(0.975, 9) = 2.262; 2.262·√(0.375/10) = 0.438.
    assert row["association_half_width"] == pytest.approx(0.438, abs=0.001)
    assert row["money"] == pytest.approx(80 * 1_000 * 2.0 / 1e6)


@pytest.mark.database_free
def test_the_spread_measured_in_the_study_replaces_guesses():
    chosen = DesignParameters.read({"scenarios": "10", "repeats": "1", "models": "1"})
    (row,) = designs(chosen, {"scenarios": 0.0, "differences": 0.0, "answers": 0.5})
    # 0.5²/2 = 0.125; 2.262·√(0.125/10) = 0.253.
    assert row["association_half_width"] == pytest.approx(0.253, abs=0.001)
    assert row["money"] is None


@pytest.mark.database_free
@pytest.mark.parametrize("text", ["", "ten", "0", "1001", "-3", "1,2,3,x"])
def test_an_invalid_list_of_numbers_is_empty(text):
    assert whole_numbers(text) == []


@pytest.mark.database_free
def test_a_list_is_read_once_each_in_order():
    assert whole_numbers("40, 10 20,10") == [10, 20, 40]


def test_a_study_is_planned_before_any_answer(probed, analyst, analyst_client):
    assert analyst_client.get(PAGE).status_code == 404
    StudyMembership.objects.create(study=probed.study, user=analyst, role=StudyMembership.Role.ANALYST)
    page = compact(analyst_client.get(PAGE).content.decode())
    assert "is assumed" in page
    assert page.count("<tr>") == 1 + 6
    wrong = compact(analyst_client.get(f"{PAGE}?scenarios=ten").content.decode())
    assert "scenarios must be up to five whole numbers from 1 to 1,000" in wrong
    assert "Detectable" not in wrong


def test_the_spread_is_estimated_from_answers_of_the_study(computed, analyst_client):
    page = compact(analyst_client.get(f"{PAGE}?scenarios=20&repeats=3").content.decode())
    assert "estimated from the answers of this study" in page
    assert page.count("<tr>") == 1 + 1
    assert 'name="models" value="2"' in page
