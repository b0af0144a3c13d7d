"""A lead recruits for every cell on one page and publishes all drafts with one button."""

import pytest

from annotation.assignment import quota_rules
from annotation.campaigns import lifecycle
from annotation.kinds.registry import kind_of
from annotation.models import Task
from annotation.recruitment.models import Recruitment
from tests.annotation.recruitment.test_lead_pages import page

pytestmark = pytest.mark.django_db
TERMS = {"screens": 3, "minutes": 20, "reward": "3.00", "currency": "GBP", "fee_percent": "0"}
WORDS = {"title": "Say what you see", "description": "You answer screens about pictures."}


@pytest.fixture
def quotas(study, lead, marking):
    """An open campaign whose screens go to women, to men and to anybody."""
    campaign = lifecycle.create(study=study, name="Quotas", kind=marking.kind, by=lead, annotators_per_task=3)
    rules = quota_rules.parse(["woman_and_man"], annotators_per_task=3, kind=kind_of(campaign))
    quota_rules.store(campaign, rules)
    return lifecycle.open_(campaign=campaign, by=lead)


def at(name, campaign, **kwargs):
    return page(name, campaign=campaign.slug, **kwargs)


def test_one_form_and_one_press_recruit_for_all_cells(fake, prolific_panel, quotas, lead_client):
    form = lead_client.get(at("recruit_all", quotas)).context["form"]
    screens = Task.objects.filter(campaign=quotas, purpose="label").count()
    assert [form[f"places_{number}"].value() for number in range(3)] == [-(-screens // 40)] * 3
    places = {"places_0": 20, "places_1": 40, "places_2": 0}
    answer = lead_client.post(
        at("recruit_all", quotas), {**TERMS, **WORDS, **places, "provider": prolific_panel.pk}
    )
    assert answer["Location"] == at("recruitments_publish", quotas)
    created = Recruitment.objects.order_by("pk")
    assert [(one.places, one.state, one.remote_state) for one in created] == [
        (20, "draft", "UNPUBLISHED"),
        (40, "draft", "UNPUBLISHED"),
    ]
    shown = lead_client.get(answer["Location"]).content.decode()
    for amount in ("79.98 GBP", "159.96 GBP", "239.94 GBP"):  # 60 × 3.00 and 33.3 %
        assert amount in shown
    lead_client.post(answer["Location"])
    assert set(created.values_list("state", "remote_state")) == {("open", "ACTIVE")}
    assert {study["status"] for study in fake.documents("study")} == {"ACTIVE"}
    again = lead_client.get(answer["Location"]).content.decode()
    assert "No drafts" in again
    assert '<button class="button primary"' not in again


def test_the_first_panel_is_added_with_the_cells(fake, quotas, study, lead_client):
    address = at("recruit_all", quotas) + "?panel=prolific"
    form = lead_client.get(address).context["form"]
    assert "provider" not in form.fields
    access = {f"panel-{bound.name}": bound.value() or "" for bound in form.panel}
    access |= {"panel-token": fake.token, "panel-workspace": fake.workspace}
    places = {"places_0": 2, "places_1": 2, "places_2": 0}
    sent = {**TERMS, **WORDS, **places, **access}

    wrong = lead_client.post(address, sent | {"panel-person_parameter": ""})
    assert wrong.status_code == 400
    assert not study.providers.exists()

    # The panel is added although the pay is refused: it is not requested again.
    refused = lead_client.post(address, sent | {"reward": "0.50"})
    assert (refused.status_code, refused.context["panel"]) == (400, None)
    assert study.providers.count() == 1
    answer = lead_client.post(address, {name: value for name, value in sent.items() if "panel" not in name})
    assert answer["Location"] == at("recruitments_publish", quotas)
    assert study.providers.get().workspace == fake.workspace
    assert [one.places for one in Recruitment.objects.order_by("pk")] == [2, 2]


def test_drafts_that_cannot_be_paid_are_not_offered_for_publication(
    fake, prolific_panel, quotas, lead_client
):
    places = {"places_0": 50_000, "places_1": 10, "places_2": 0}
    lead_client.post(at("recruit_all", quotas), {**TERMS, **WORDS, **places, "provider": prolific_panel.pk})
    shown = lead_client.get(at("recruitments_publish", quotas)).content.decode()
    assert "Add money at Prolific first" in shown
    assert '<button class="button primary"' not in shown


def test_terms_below_the_floor_and_no_places_are_refused_at_the_form(
    fake, prolific_panel, quotas, lead_client
):
    places = {"places_0": 1, "places_1": 1, "places_2": 1, "provider": prolific_panel.pk}
    answer = lead_client.post(at("recruit_all", quotas), {**TERMS, **WORDS, **places, "reward": "0.50"})
    assert "Pay at least" in answer.content.decode()
    nobody = dict.fromkeys(("places_0", "places_1", "places_2"), 0)
    answer = lead_client.post(at("recruit_all", quotas), {**TERMS, **WORDS, **places, **nobody})
    assert "at least one cell" in answer.content.decode()
    assert not Recruitment.objects.exists()
    assert not fake.documents("study")


def test_only_leads_recruit(prolific_panel, quotas, analyst_client, stranger_client):
    for name in ("recruit_all", "recruitments_publish"):
        assert analyst_client.get(at(name, quotas)).status_code == 403
        assert stranger_client.get(at(name, quotas)).status_code == 404
