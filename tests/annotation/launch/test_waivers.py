"""Opening is refused until every check passed or was waived with a reason."""

import pytest
from django.urls import reverse

from annotation.campaigns import lifecycle
from annotation.launch.checklist import checklist, open_checked
from annotation.launch.waivers import waive
from annotation.models import Campaign, LaunchWaiver
from foundation.errors import Conflict, DomainError
from studies.models import AuditEntry

LAUNCH = reverse("annotation:campaign_launch", kwargs={"study": "isles", "campaign": "main"})
OPEN = reverse("annotation:campaign_open", kwargs={"study": "isles", "campaign": "main"})


@pytest.fixture
def unpaid(ready, lead) -> Campaign:
    return lifecycle.update_draft(campaign=ready, by=lead, options={})


def test_a_ready_draft_opens(ready, lead):
    assert open_checked(campaign=ready, by=lead).state == "open"


def test_missing_items_prevent_opening_with_a_sentence(unpaid, lead):
    with pytest.raises(Conflict, match="does not say what people are paid") as refused:
        open_checked(campaign=unpaid, by=lead)
    assert refused.value.code == "not_ready"
    assert set(refused.value.fields) == {"pay"}
    unpaid.refresh_from_db()
    assert unpaid.state == "draft"


def test_a_waiver_with_a_reason_lets_it_open_and_stays_in_the_history(unpaid, lead, study):
    waive(campaign=unpaid, checks=["pay"], reason="Students of a course.", by=lead)
    (line,) = [line for line in checklist(unpaid) if line.state == "waived"]
    assert line.waiver.reason == "Students of a course."
    entry = AuditEntry.objects.get(study=study, action="campaign.checks_waived")
    assert (entry.details["checks"], entry.details["reason"]) == ("pay", "Students of a course.")
    assert open_checked(campaign=unpaid, by=lead).state == "open"


def test_a_waiver_covers_only_its_check(unpaid, lead):
    waive(campaign=unpaid, checks=["pilot"], reason="No time.", by=lead)
    with pytest.raises(Conflict, match="does not say what people are paid"):
        open_checked(campaign=unpaid, by=lead)


@pytest.mark.parametrize(
    ("checks", "reason", "code"),
    [(["pay"], "  ", "invalid_reason"), ([], "Why.", "no_check"), (["weather"], "Why.", "check_unknown")],
)
def test_waivers_name_a_check_and_a_reason(unpaid, lead, checks, reason, code):
    with pytest.raises(DomainError) as refused:
        waive(campaign=unpaid, checks=checks, reason=reason, by=lead)
    assert refused.value.code == code
    assert not LaunchWaiver.objects.exists()


def test_only_a_draft_has_checks_to_waive(ready, lead):
    opened = open_checked(campaign=ready, by=lead)
    with pytest.raises(Conflict, match="only a draft"):
        waive(campaign=opened, checks=["pay"], reason="Why.", by=lead)


def test_a_simulated_study_opens_without_a_checklist(unpaid, lead, study):
    study.simulated = True
    study.save()
    unpaid.study.simulated = True
    assert open_checked(campaign=unpaid, by=lead).state == "open"


def test_the_page_shows_missing_items_with_links_and_accepts_waivers(unpaid, lead_client):
    page = lead_client.get(LAUNCH).content.decode()
    assert "does not say what people are paid" in page
    assert reverse("annotation:campaign_edit", kwargs={"study": "isles", "campaign": "main"}) in page
    assert "Open campaign" not in page
    refused = lead_client.post(OPEN, follow=True).content.decode()
    assert "is not ready to open" in refused
    assert lead_client.post(LAUNCH, {"checks": ["pay"], "reason": ""}).status_code == 400
    after = lead_client.post(LAUNCH, {"checks": ["pay"], "reason": "A course."}, follow=True).content.decode()
    assert "A course." in after
    assert "Open campaign" in after
    assert "is open. Invite annotators" in lead_client.post(OPEN, follow=True).content.decode()


def test_only_leads_see_the_checklist(unpaid, analyst_client, stranger_client):
    assert analyst_client.get(LAUNCH).status_code in (403, 404)
    assert analyst_client.post(LAUNCH, {"checks": ["pay"], "reason": "x"}).status_code in (403, 404)
    assert stranger_client.get(LAUNCH).status_code == 404
    assert not LaunchWaiver.objects.exists()
