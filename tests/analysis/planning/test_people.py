"""The people of each kind that a design needs, by hand and on the page."""

import pytest

from analysis.metrics.marking.simulate_studies import Design
from analysis.planning.people import PlannedPeople, people_of
from analysis.planning.plans import compute_plan, make_plan
from annotation.campaigns import lifecycle
from foundation.errors import DomainError
from jobs.progress.reporter import Unwatched
from tests.analysis.planning.conftest import SMALL

PAIR = "at_least 1 gender = woman; at_least 1 gender = man"


@pytest.mark.database_free
@pytest.mark.parametrize(
    ("design", "rules", "people"),
    [
        # 20 images × 3 people = 60 answers by 6 people, 10 each: 20 answers of women take 2 of them.
        (Design(10, 6, 3, 2, 2, 2), PAIR, [("Gender: Woman", 2), ("Gender: Man", 2)]),
        # 7 people give 60/7 answers each: 20 ÷ 60/7 = 7/3.
        (Design(10, 7, 3, 2, 2, 2), PAIR, [("Gender: Woman", 3), ("Gender: Man", 3)]),
        # Two different people answer the same image, however many each could answer.
        (Design(10, 3, 3, 2, 2, 1), "at_least 2 gender != man", [("Gender: not Man", 2)]),
        (Design(10, 6, 3, 2, 2, 2), "at_most 1 gender = man; distinct nationality", []),
        (Design(10, 6, 3, 2, 2, 2), "", []),
    ],
)
def test_people_follow_from_the_numbers(design, rules, people):
    assert [(cell.name.casefold(), cell.needed) for cell in people_of(design, rules)] == [
        (name.casefold(), needed) for name, needed in people
    ]


@pytest.mark.database_free
def test_a_rule_on_the_group_shown_needs_people_of_each_group():
    # 10 images of a group take 10 answers of its people; each of 30 people gives 40 × 3 ÷ 30 = 4: 2.5.
    (people,) = people_of(Design(10, 30, 3, 2, 2, 4), "at_least 1 nationality = group.nationality")
    assert people == PlannedPeople("Nationality: the same as the group’s", 3, each_group=True)


@pytest.mark.django_db
def test_the_page_and_the_table_say_how_many(study, lead, lead_client):
    plan = make_plan(
        study=study, hypothesis="H", primary_measure="theta", parameters=SMALL | {"quotas": PAIR}, by=lead
    )
    compute_plan(plan=plan, progress=Unwatched(), simulations=50)
    page = lead_client.get(f"/studies/{study.slug}/plan/").content.decode()
    assert "People for the quotas" in page
    assert page.count("Gender: ") == 2
    table = lead_client.get(f"/studies/{study.slug}/plan/designs.csv").content.decode()
    assert table.splitlines()[1].endswith("man: 2")


@pytest.mark.django_db
def test_rules_that_a_design_cannot_meet_are_refused(study, lead):
    four = SMALL | {"quotas": "at_least 4 gender = woman"}
    with pytest.raises(DomainError):
        make_plan(study=study, hypothesis="H", primary_measure="theta", parameters=four, by=lead)


@pytest.mark.django_db
def test_a_new_plan_takes_the_rules_of_the_newest_campaign(study, lead, lead_client):
    lifecycle.create(study=study, name="M", kind="stereotype_marking", by=lead, quotas=[PAIR.split("; ")[0]])
    page = lead_client.get(f"/studies/{study.slug}/plan/new/")
    assert page.context["form"]["quotas"].value() == "at_least 1 gender = woman"
