"""A plan is computed by a worker, from guesses or a pilot."""

import pytest
from django.urls import reverse

from analysis.background import plan_study
from analysis.models import StudyPlan
from analysis.planning import plans
from analysis.planning.pilot import assumptions_of
from analysis.planning.plans import make_plan, planned_designs
from foundation.errors import DomainError
from jobs.models import Job
from jobs.progress.reporter import Unwatched
from studies.models import AuditEntry, StudyMembership
from tests.analysis.conftest import labelled
from tests.analysis.planning.conftest import SMALL
from tests.web.markup import compact

PAGE = reverse("planning:plan", kwargs={"study": "isles"})
NEW = reverse("planning:new", kwargs={"study": "isles"})


def test_a_plan_waits_for_a_worker_and_is_then_shown(plan, lead_client):
    assert plan.job.kind == plans.JOB_KIND
    assert "The plan is being computed" in lead_client.get(PAGE).content.decode()
    assert plan_study(plan.job, Unwatched())["url"] == PAGE
    page = compact(lead_client.get(PAGE).content.decode())
    assert "How likely does each design find the effect?" in page
    assert (
        page.count("drawing-wide") == page.count("drawing-narrow") == 2
    )  # two curves, each for a desk and for a phone
    assert "over budget" in page


def test_designs_are_listed_by_work_with_power_and_money(computed):
    fewer, more = planned_designs(computed)
    assert (fewer.design.images, more.design.images) == (5, 10)
    assert fewer.power < more.power
    assert fewer.half_width > more.half_width
    # 60 screens of 30 s at 12 an hour: 6 and a quarter of it.
    assert str(fewer.work.cost) == "7.50"
    assert fewer.over_budget
    assert more.power_se > 0


def test_a_plan_of_one_group_has_the_measure_of_one_group(study, lead):
    with pytest.raises(DomainError, match="needs at least 2 identity groups"):
        make_plan(
            study=study,
            hypothesis="H",
            primary_measure="theta_pooled",
            parameters={**SMALL, "groups": 1},
            by=lead,
        )
    assert not StudyPlan.objects.exists()
    assert not Job.objects.exists()


def test_a_plan_has_a_hypothesis(study, lead):
    with pytest.raises(DomainError, match="Write the hypothesis"):
        make_plan(study=study, hypothesis="  ", primary_measure="theta", parameters=SMALL, by=lead)


def test_a_pilot_gives_rates_agreement_times_and_pay(study, lead):
    campaign = labelled(study, lead).campaign
    campaign.options |= {"pay_amount": 9.5, "pay_currency": "GBP", "pay_per": "hour"}
    campaign.save()
    values = assumptions_of(campaign)
    # Stereotypes of both groups 4 and 1 of 6; random attributes of Velmari 1 and 1 of 6, of Orsani none.
    assert values["likelihood_stereotype"] == pytest.approx((5 / 12 + 5 / 12) / 2, abs=0.001)
    assert values["likelihood_random"] == pytest.approx((2 / 12 + 0) / 2, abs=0.001)
    assert 0 <= values["agreement"] < 1
    assert (values["pay_amount"], values["pay_currency"], values["pay_per"]) == (9.5, "GBP", "hour")


def test_one_button_fills_the_form_from_a_pilot(study, lead, lead_client):
    campaign = labelled(study, lead).campaign
    page = compact(lead_client.get(f"{NEW}?pilot={campaign.slug}").content.decode())
    assert f"Rates, agreement, times and pay below come from “{campaign.name}”" in page
    assert 'value="0.417"' in page
    assert lead_client.get(f"{NEW}?pilot=nowhere").status_code == 404


def test_an_invalid_form_shows_its_errors_and_makes_no_plan(study, lead_client):
    sent = {"hypothesis": "H", "primary_measure": "theta", "images": "many"}
    answer = lead_client.post(NEW, sent)
    assert answer.status_code == 400
    assert "images must be up to six whole numbers" in answer.content.decode()
    assert not StudyPlan.objects.exists()


def test_a_lead_makes_a_plan_in_the_browser(study, lead_client):
    sent = {"hypothesis": "H", "primary_measure": "theta", **{k: str(v) for k, v in SMALL.items()}}
    assert lead_client.post(NEW, sent).status_code == 302
    assert StudyPlan.objects.get().parameters["images"] == "5, 10"
    assert AuditEntry.objects.filter(action="plan.made", study=study).count() == 1


def test_analysts_read_plans_leads_make_them_and_strangers_see_nothing(
    computed, analyst_client, stranger_client
):
    assert analyst_client.get(PAGE).status_code == 200
    assert "New plan" not in analyst_client.get(PAGE).content.decode()
    assert analyst_client.get(NEW).status_code in (403, 404)
    assert analyst_client.post(NEW, {}).status_code in (403, 404)
    for address in (PAGE, NEW, reverse("planning:designs", kwargs={"study": "isles"})):
        assert stranger_client.get(address).status_code == 404


def test_the_plan_page_takes_as_many_queries_for_many_designs(
    computed, lead_client, django_assert_max_num_queries
):
    with django_assert_max_num_queries(20):
        lead_client.get(PAGE)


def test_designs_are_downloaded(computed, analyst_client):
    text = analyst_client.get(reverse("planning:designs", kwargs={"study": "isles"})).content.decode()
    lines = text.splitlines()
    assert lines[0].startswith("images,annotators,annotators_per_task,groups,half_width,power")
    assert lines[1].startswith("5,6,3,2,")
    assert lines[1].endswith(",6.00,1.50,7.50,EUR,")
    assert len(lines) == 3


def test_members_of_other_studies_are_strangers(computed, stranger, stranger_client, study):
    StudyMembership.objects.filter(user=stranger).delete()
    assert stranger_client.get(PAGE).status_code == 404
