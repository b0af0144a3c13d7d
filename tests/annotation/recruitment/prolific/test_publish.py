"""Leads draft, publish, pause and stop a recruitment at Prolific; studies that cannot be paid are not published."""

from decimal import Decimal

import pytest
from django.urls import reverse

from annotation.campaigns import lifecycle
from annotation.recruitment.models import Provider, Recruitment
from annotation.recruitment.prolific import draft, estimate
from annotation.recruitment.prolific.errors import ProlificError
from foundation.errors import Conflict
from tests.annotation.recruitment.test_lead_pages import PLACE, page, terms

pytestmark = pytest.mark.django_db


def described(fake, **changes):
    return {
        "name": "Prolific", "person_parameter": "PROLIFIC_PID", "place_parameter": "SESSION_ID",
        "study_parameter": "STUDY_ID", "token": fake.token, "workspace": fake.workspace,
        "completion_address": "https://app.prolific.com/submissions/complete?cc={code}", **changes,
    }  # fmt: skip


def test_a_recruitment_is_connected_drafted_and_published(fake, marking, study, lead_client):
    lead_client.post(page("panel_new") + "?panel=prolific", described(fake))
    panel = study.providers.get()
    assert (panel.kind, panel.workspace) == ("prolific", fake.workspace)
    assert fake.token not in panel.token_sealed
    lead_client.post(page("recruitment_new"), terms(provider=panel.pk, fee_percent="0"))
    recruitment = Recruitment.objects.get()
    assert recruitment.fee_percent == Decimal("33.30")  # as reported by Prolific
    at = {"recruitment": recruitment.pk}
    assert b"Create the draft" in lead_client.get(page("recruitment", **at)).content
    written = lead_client.get(page("recruitment_draft", **at)).context["form"]
    sent = {name: written[name].value() for name in ("title", "description")}
    assert lead_client.post(page("recruitment_draft", **at), sent).status_code == 302
    recruitment.refresh_from_db()
    [remote] = fake.documents("study")
    assert (recruitment.remote_study, recruitment.remote_state) == (remote["id"], "UNPUBLISHED")
    assert remote["external_study_url"].endswith(
        "?PROLIFIC_PID={{%PROLIFIC_PID%}}&SESSION_ID={{%SESSION_ID%}}&STUDY_ID={{%STUDY_ID%}}"
    )
    assert [code["code"] for code in remote["completion_codes"]] == [
        recruitment.completed_code,
        recruitment.declined_code,
        recruitment.screened_out_code,
    ]
    content = lead_client.get(page("recruitment_publish", **at)).content.decode()
    # 60 × 3.00 and 33.3 %: remote_cost and our_cost.
    assert content.count("239.94 GBP") == 3
    assert "100,000.00 GBP" in content
    assert "5,000" in content
    lead_client.post(page("recruitment_publish", **at))
    recruitment.refresh_from_db()
    assert (recruitment.state, recruitment.remote_state) == ("open", "ACTIVE")
    for move, state, remote_state in (
        ("pause", "paused", "PAUSED"), ("open", "open", "ACTIVE"), ("close", "closed", "COMPLETED"),
    ):  # fmt: skip
        lead_client.post(page(f"recruitment_{move}", **at))
        recruitment.refresh_from_db()
        assert (recruitment.state, recruitment.remote_state) == (state, remote_state)
        assert fake.documents("study")[0]["status"] == remote_state


@pytest.mark.parametrize(
    ("changes", "sentence"),
    [
        ({"token": "wrong-token"}, "does not accept the token"),
        ({"workspace": "another"}, "does not have what was requested"),
        ({"workspace": "../users"}, "Copy the id of the workspace"),
    ],
)
def test_a_token_that_does_not_work_is_not_kept(fake, marking, study, lead_client, changes, sentence):
    response = lead_client.post(page("panel_new") + "?panel=prolific", described(fake, **changes))
    assert response.status_code == 400
    assert sentence in response.content.decode()
    assert "wrong-token" not in response.content.decode()
    assert not study.providers.exists()


def test_without_a_token_the_panel_is_used_by_hand(fake, marking, study, lead_client):
    lead_client.post(page("panel_new") + "?panel=prolific", described(fake, token="", workspace=""))
    assert study.providers.get().kind == "links"


def test_our_cost_is_within_one_per_cent_of_prolifics(fake, planned):
    fake.configure(fee_permille=428, vat_permille=200)
    for places, reward in ((1, 200), (3, 335), (60, 300), (997, 1_999)):
        Recruitment.objects.filter(pk=planned.pk).update(
            places=places, reward=reward, fee_percent=estimate.fee_percent(planned.provider)
        )
        planned.refresh_from_db()
        answers = estimate.ask(planned)
        assert abs(answers.remote_cost.units - answers.our_cost.units) * 100 <= answers.remote_cost.units
        assert not answers.differs


def announced(planned, lead) -> Recruitment:
    return draft.create(
        recruitment=planned,
        announcement=draft.Announcement("Look", "Say what you see."),
        link="https://labels.example/x/",
        by=lead,
    )


def test_a_study_that_the_workspace_cannot_pay_is_refused(fake, planned, lead, lead_client):
    announced(planned, lead)
    fake.configure(money=799)  # 3 × 2.00 and a third cost 8.00
    assert "799" not in lead_client.get(page("recruitment_publish", recruitment=planned.pk)).content.decode()
    shown = lead_client.get(page("recruitment_publish", recruitment=planned.pk)).content.decode()
    assert "This costs 8.00 GBP, and the workspace has 7.99 GBP" in shown
    assert ">Publish</button>" not in shown
    with pytest.raises(Conflict, match="Add money at Prolific"):
        draft.publish(recruitment=planned, by=lead)
    assert fake.documents("study")[0]["status"] == "UNPUBLISHED"


def test_a_study_beyond_the_campaigns_budget_is_refused(fake, planned, lead, marking):
    announced(planned, lead)
    marking.options = {**marking.options, "pay_amount": 2, "pay_currency": "GBP", "pay_budget": 7.5}
    marking.save(update_fields=["options"])
    with pytest.raises(Conflict, match=r"7\.50 GBP of the campaign’s budget of 7\.50 GBP is left"):
        draft.publish(recruitment=Recruitment.objects.get(pk=planned.pk), by=lead)
    assert fake.documents("study")[0]["status"] == "UNPUBLISHED"


def test_nothing_is_published_while_the_campaign_is_paused(fake, planned, lead, marking):
    announced(planned, lead)
    lifecycle.pause(campaign=marking, by=lead)
    with pytest.raises(Conflict, match="Open the campaign first"):
        draft.publish(recruitment=Recruitment.objects.get(pk=planned.pk), by=lead)


@pytest.mark.parametrize("kind", ["502_after", "closed_after"])
def test_a_publication_without_an_answer_is_looked_up(fake, planned, lead, kind):
    announced(planned, lead)
    fake.fault("transition_study", kind)
    assert draft.publish(recruitment=planned, by=lead).state == "open"
    assert fake.documents("study")[0]["status"] == "ACTIVE"


def test_a_publication_that_was_not_done_leaves_a_draft(fake, planned, lead):
    announced(planned, lead)
    fake.fault("transition_study", "502")
    with pytest.raises(ProlificError, match="Prolific failed"):
        draft.publish(recruitment=planned, by=lead)
    planned.refresh_from_db()
    assert planned.state == "draft"
    assert draft.publish(recruitment=planned, by=lead).state == "open"


def test_an_interrupted_publication_is_completed_by_pressing_again(fake, planned, lead, remote):
    announced(planned, lead)
    fake.configure(money=800)
    remote.transition_study(planned.remote_study, "PUBLISH")  # and then our process was killed
    assert draft.publish(recruitment=planned, by=lead).state == "open"


def test_the_page_says_when_prolific_does_not_answer(fake, planned, lead, lead_client):
    announced(planned, lead)
    fake.fault("*", "502", times=None)
    shown = lead_client.get(page("recruitment_publish", recruitment=planned.pk)).content.decode()
    assert "Prolific failed (status 502)." in shown


def test_another_token_replaces_the_first(fake, prolific_panel, marking, lead_client):
    fake.configure(token="second-token")
    address = page("panel", panel=prolific_panel.pk)
    sent = {"action": "token", "token": "second-token", "workspace": fake.workspace}
    assert lead_client.post(address, {**sent, "token": "third-token"}).status_code == 400
    assert lead_client.post(address, sent).status_code == 302
    assert b"second-token" not in lead_client.get(address).content
    prolific_panel.refresh_from_db()
    assert estimate.fee_percent(prolific_panel) == Decimal("33.30")


def test_pages_of_the_api_are_for_leads_alone(
    fake, planned, lead_client, analyst_client, stranger_client, client
):
    people = (lead_client, analyst_client, stranger_client, client)
    for name, at in (
        ("panel", {"panel": planned.provider_id}),
        ("recruitment_draft", {"recruitment": planned.pk}),
        ("recruitment_publish", {"recruitment": planned.pk}),
    ):
        assert [one.get(page(name, **at)).status_code for one in people] == [200, 403, 404, 302], name
    for name, at in (
        ("panel_events", {"panel": planned.provider_id}),
        ("recruitment_compare", {"recruitment": planned.pk}),
    ):
        assert [one.post(page(name, **at)).status_code for one in people[1:]] == [403, 404, 302], name


def test_a_panel_of_links_has_no_page_of_an_api(panel, marking, lead_client):
    assert lead_client.get(page("panel", panel=panel.pk)).status_code == 404
    assert Provider.objects.get().kind == "links"
    assert reverse("annotation:recruitments", kwargs=PLACE)
