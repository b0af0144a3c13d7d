"""The lead's page of a campaign in Label Studio: beginning, state, actions, end."""

from datetime import timedelta

import pytest
from django.urls import reverse
from django.utils import timezone

from annotation.campaigns import lifecycle
from annotation.campaigns.instruments import versions
from annotation.kinds.registry import KINDS
from annotation.label_studio.models import (
    LabelStudioAnnotation,
    LabelStudioBridge,
    LabelStudioEvent,
    LabelStudioTask,
)
from jobs.models import Job
from tests.annotation.factories import add_images, new_annotator
from tests.annotation.kinds.examples import PAIRWISE, add_screen, question_campaign
from tests.annotation.label_studio.lead.pages import HERE, bridge, text
from tests.annotation.label_studio.rows import URL, bridge_of, seen, server_of, user_of
from tests.annotation.label_studio.scenario import text_of, told
from tests.annotation.lead.conftest import draft, looked, marking, queries, rating

__all__ = ["bridge", "draft", "looked", "marking", "queries", "rating"]
pytestmark = pytest.mark.django_db

State = LabelStudioAnnotation.State


def test_a_campaign_begins_in_the_arrangement_that_was_chosen(marking, lead_client, settings):
    settings.SITE_URL = "https://here.example.org"
    assert "Connect a Label Studio server" in text(lead_client.get(HERE))
    server = server_of(marking.study)
    page = text(lead_client.get(HERE))
    assert "2 projects: one for each answer that a screen needs" in page
    assert "does not enforce the number of answers" in page
    answer = lead_client.post(HERE, {"server": server.pk, "arrangement": "shared"}, follow=True)
    assert "is now labelled in Label Studio" in text(answer)
    bridge = LabelStudioBridge.objects.get()
    assert (bridge.campaign, bridge.arrangement) == (marking, "shared")
    assert [job.kind for job in Job.objects.all()] == ["label_studio.push"]


def test_errors_are_shown_beside_the_choice(marking, lead_client, settings):
    settings.SITE_URL = "https://here.example.org"
    server = server_of(marking.study)
    answer = lead_client.post(HERE, {"server": server.pk, "arrangement": "per_annotator"})
    assert answer.status_code == 400
    assert "needs annotators" in text(answer)
    assert not LabelStudioBridge.objects.exists()


def test_a_campaign_of_questions_is_begun_like_any_other(study, lead_client, settings):
    add_images(study, 2)
    campaign = question_campaign(study, PAIRWISE)
    server = server_of(study)
    address = reverse("annotation:campaign_label_studio", args=[study.slug, campaign.slug])
    page = text(lead_client.get(address))
    assert "asks the questions of this kind in English" in page
    assert "None of the above" not in page
    sent = {"server": server.pk, "arrangement": "per_slot"}
    assert "must set SITE_URL" in text(lead_client.post(address, sent))  # it shows images
    settings.SITE_URL = "https://here.example.org"
    assert "is now labelled in Label Studio" in text(lead_client.post(address, sent, follow=True))
    bridge = LabelStudioBridge.objects.get()
    assert bridge.campaign == campaign
    assert bridge.images_until is not None


def test_a_campaign_of_texts_needs_no_address_of_this_server(study, lead_client):
    campaign = question_campaign(study, KINDS["bias_level"], screens=0)
    add_screen(campaign, KINDS["bias_level"], ["All islanders wear tall hats."])
    address = reverse("annotation:campaign_label_studio", args=[study.slug, campaign.slug])
    lead_client.post(address, {"server": server_of(study).pk, "arrangement": "per_slot"})
    assert LabelStudioBridge.objects.get().images_until is None


def test_a_server_of_another_study_cannot_be_chosen(marking, lead, lead_client, resource):
    from studies.protocol.creation import create_study

    other = create_study(name="Other", resource=resource, groups=resource.groups.all(), by=lead)
    server = server_of(other)
    answer = lead_client.post(HERE, {"server": server.pk, "arrangement": "shared"})
    assert answer.status_code == 400
    assert not LabelStudioBridge.objects.exists()


def test_the_page_counts_sent_tasks_and_seen_answers(bridge, lead_client):
    person = new_annotator(bridge.campaign)
    mapped = user_of(bridge.server, 1, state="mapped", annotator=person)
    seen(bridge, mapped, 3, state=State.COUNTED)
    seen(bridge, mapped, 2, state=State.SURPLUS)
    seen(bridge, user_of(bridge.server, 2), 4, state=State.WAITING)
    seen(bridge, mapped, 1, state=State.DELETED)
    LabelStudioEvent.objects.create(bridge=bridge, action="ANNOTATION_CREATED")
    shown = lead_client.get(HERE).context["shown"]
    tasks = bridge.campaign.tasks.count()
    assert [(line.sent, line.answered, line.counted) for line in shown.projects] == [
        (tasks, 9, 3),
        (tasks, 0, 0),
    ]
    assert (shown.answered, shown.counted, shown.waiting, shown.events_waiting) == (9, 3, 4, 1)
    page = text(lead_client.get(f"{HERE}live/"))
    assert "1 person of this Label Studio waits for you to say who they are; 4 answers" in page
    assert "2 surplus" in page


def test_the_page_lists_what_a_push_would_update(bridge, lead, lead_client):
    assert "Label Studio is not up to date" not in text(lead_client.get(HERE))
    versions.revise(campaign=bridge.campaign, by=lead, guidelines="Look closely.")
    bridge.projects.filter(slot=2).update(gone_at=timezone.now())
    LabelStudioTask.objects.filter(project__bridge=bridge).order_by("pk").first().delete()
    page = text(lead_client.get(HERE))
    assert "1 project is not in Label Studio yet." in page
    assert "1 screen is not in Label Studio yet." in page
    assert "still see earlier guidelines" in page
    assert "no longer in Label Studio" in page


def test_a_closed_campaign_offers_no_push(bridge, lead, lead_client):
    assert "Push again" in text(lead_client.get(HERE))
    lifecycle.close(campaign=bridge.campaign, by=lead)
    page = text(lead_client.get(HERE))
    assert "The campaign is closed" in page
    assert "Push again" not in page


def test_a_draft_is_opened_first(draft, lead_client):
    server_of(draft.study)
    page = text(lead_client.get("/studies/isles/campaigns/drafted/label-studio/"))
    assert "The campaign is a draft" in page
    assert "Start labelling in Label Studio" not in page


def test_a_missing_webhook_is_reported(bridge, lead_client):
    assert "does not notify this server" not in text(lead_client.get(HERE))
    bridge.projects.filter(slot=1).update(webhook_id=None)
    assert "every 15 minutes" in text(lead_client.get(HERE))


def test_problems_are_shown_with_a_remedy(bridge, lead_client, analyst_client):
    LabelStudioBridge.objects.update(
        problem="token_wrong", problem_text="The token is not known there.", problem_at=timezone.now()
    )
    page = text(lead_client.get(HERE))
    assert "The token is not known there." in page
    assert "Enter another token under “Change the token”" in page
    assert "The token is not known there." in text(lead_client.get("/studies/isles/campaigns/marking/"))
    assert "in Label Studio: The token is not known there." in text(lead_client.get("/studies/isles/"))
    seen_by_analyst = text(analyst_client.get("/studies/isles/campaigns/marking/"))
    assert "Labelled in Label Studio" in seen_by_analyst
    assert "The token is not known there." not in seen_by_analyst


def test_expired_addresses_of_images_are_reported_and_renewed(bridge, lead_client):
    LabelStudioBridge.objects.update(images_until=timezone.now() - timedelta(hours=1))
    assert "Label Studio can no longer show the images" in text(lead_client.get(HERE))
    assert lead_client.post(f"{HERE}renew/", {"days": "0"}).status_code == 400
    answer = lead_client.post(f"{HERE}renew/", {"days": "10"}, follow=True)
    assert "The addresses are extended." in text(answer)
    bridge.refresh_from_db()
    assert bridge.images_until > timezone.now() + timedelta(days=9)


def test_a_rating_campaign_says_nothing_of_images_it_does_not_show(rating, lead_client):
    rated = bridge_of(rating)
    LabelStudioBridge.objects.update(images_until=timezone.now() - timedelta(hours=1))
    page = text(lead_client.get(f"/studies/isles/campaigns/{rating.slug}/label-studio/"))
    assert rated.images_until is not None
    assert "Addresses of images" not in page
    assert "Label Studio can no longer show the images" not in page


def test_missing_answers_that_nobody_is_asked_for_are_reported(bridge, lead_client):
    """A project for each answer asks once: an answer that does not count is not replaced."""
    user = user_of(bridge.server, 1)
    [answer] = seen(bridge, user, state=State.REFUSED)
    assert lead_client.get(HERE).context["shown"].unasked == 1
    assert "1 answer is still missing, and Label Studio asks nobody for it" in text(lead_client.get(HERE))
    for state in (
        State.WAITING,
        State.DELETED,
        State.SKIPPED,
    ):  # these may count yet, or are asked again there
        LabelStudioAnnotation.objects.filter(pk=answer.pk).update(state=state)
        assert lead_client.get(HERE).context["shown"].unasked == 0
    # A missing project is created again by the next push, and asks again.
    LabelStudioAnnotation.objects.filter(pk=answer.pk).update(state=State.SURPLUS)
    bridge.projects.filter(slot=1).update(gone_at=timezone.now())
    assert lead_client.get(HERE).context["shown"].unasked == 0


@pytest.mark.parametrize(("decision", "missing", "gone"), [("kept", "kept", False), ("deleted", "", True)])
def test_the_lead_decides_whether_missing_answers_were_deleted_or_lost(
    bridge, lead_client, decision, missing, gone
):
    assert "Were the answers deleted or lost?" not in text(lead_client.get(HERE))
    assert "No decision is needed" in text(lead_client.get(f"{HERE}missing/"))
    seen(bridge, user_of(bridge.server, 1), 3, state=State.WAITING, missing="held")
    assert "3 answers are no longer in Label Studio" in text(lead_client.get(HERE))
    LabelStudioBridge.objects.update(
        problem="many_deleted", problem_text="Many are no longer there.", problem_at=timezone.now()
    )
    page = text(lead_client.get(HERE))
    assert page.count("Say whether the answers were deleted or lost") == 1
    assert "answers are no longer in" not in page  # it is said once
    asked = text(lead_client.get(f"{HERE}missing/"))
    assert "Keep the labels" in asked
    assert "The answers were deleted" in asked
    lead_client.post(f"{HERE}missing/{decision}/")
    rows = LabelStudioAnnotation.objects.values_list("missing", "deleted_at")
    assert {(said, at is not None) for said, at in rows} == {(missing, gone)}
    assert "no longer in Label Studio" not in text(lead_client.get(HERE))
    assert "are waiting for a decision" in text(lead_client.post(f"{HERE}missing/{decision}/", follow=True))


def test_answers_arrive_within_seconds_only_with_webhooks(bridge, lead_client):
    assert "within seconds" in text(lead_client.get(f"{HERE}answers/"))
    bridge.projects.filter(slot=1).update(webhook_id=None)
    page = text(lead_client.get(f"{HERE}answers/"))
    assert "within seconds" not in page
    assert "every 15 minutes" in page


def test_rules_stricter_than_label_studios_are_shown_beforehand(marking, lead_client, settings):
    settings.SITE_URL = "https://here.example.org"
    server_of(marking.study)
    page = text(lead_client.get(HERE))
    assert "Check the refused answers and their reasons" in page
    assert ("a tick without a box" in page) is marking.boxes_required


@pytest.mark.parametrize("work", ["push", "reconcile", "replace"])
def test_long_work_is_a_job_that_the_page_shows(bridge, lead_client, work):
    page = text(lead_client.post(f"{HERE}{work}/", follow=True))
    (job,) = Job.objects.all()
    assert job.kind == {"replace": "label_studio.addresses"}.get(work, f"label_studio.{work}")
    assert job.title.replace("“", "").split()[0] in page
    assert f"/jobs/{job.pk}/" in page


def test_a_bridge_ends_after_confirmation(bridge, lead_client):
    seen(bridge, user_of(bridge.server, 2), 4, state=State.WAITING)
    assert "4 answers wait, for a name or for consent" in text(lead_client.get(f"{HERE}end/"))
    assert "labelled on Stereoscope’s own pages again" in text(lead_client.post(f"{HERE}end/", follow=True))
    assert not LabelStudioBridge.objects.exists()


def test_ten_thousand_answers_come_a_page_at_a_time_in_few_queries(bridge, lead_client, queries):
    person = new_annotator(bridge.campaign)
    mapped = user_of(bridge.server, 1, state="mapped", annotator=person)
    seen(bridge, mapped, 10, state=State.COUNTED)
    seen(bridge, mapped, 2, state=State.SURPLUS)
    few = {url: queries(lead_client, url) for url in (f"{HERE}answers/", HERE, f"{HERE}live/")}
    seen(bridge, mapped, 9_988, state=State.SURPLUS)
    for number in range(2, 40):
        user_of(bridge.server, number)
    assert {url: queries(lead_client, url) for url in few} == few
    assert max(few.values()) <= 20
    page = lead_client.get(f"{HERE}answers/?page=200")
    assert len(page.context["rows"]) == 50
    assert "page 200 of 200" in text(page).lower()


def test_the_study_page_counts_users_waiting_to_be_identified(bridge, lead_client, analyst_client):
    user_of(bridge.server, 2)
    assert "1 person waits in Label Studio" in text(lead_client.get("/studies/isles/"))
    assert "waits in Label Studio" not in text(analyst_client.get("/studies/isles/"))
    assert "labelled in Label Studio" in text(analyst_client.get("/studies/isles/campaigns/"))


def test_links_to_the_server_send_no_referrer(bridge, lead_client):
    """Links to Label Studio send no referrer."""
    seen(bridge, user_of(bridge.server, 1), 1)
    for url in (HERE, f"{HERE}answers/"):
        page = lead_client.get(url).content.decode()
        links = [part.split(">")[0] for part in page.split("<a ")[1:] if URL in part.split(">")[0]]
        assert links
        assert all('rel="noreferrer"' in link for link in links)


def test_a_changed_answer_is_decided_on_its_page_or_the_page_of_its_label(
    bridge, lead_client, analyst_client
):
    ada = user_of(bridge.server, 1, state="mapped", annotator=new_annotator(bridge.campaign))
    user_of(bridge.server, 77, name="Dora Example")
    task = bridge.campaign.tasks.earliest("pk")
    told(bridge, task, 1, ada.external_id)
    told(bridge, task, 1, ada.external_id, text_of(task), changed=5, updated_by=77)
    answer = LabelStudioAnnotation.objects.get()
    assert "1 answer was sent or changed by somebody other than its author" in text(lead_client.get(HERE))
    page = text(lead_client.get(f"{HERE}answers/{answer.pk}/"))
    for words in (
        "Keep the author’s version",
        "Accept the change",
        "None of the above.",
        "Dora Example",
        "Restore",
    ):
        assert words in page
    label = f"/studies/isles/campaigns/marking/annotations/{answer.annotation_id}/"
    assert "Accept the change" in text(lead_client.get(label))
    assert "Dora Example" not in text(analyst_client.get(label))
    stale = lead_client.post(f"{HERE}answers/{answer.pk}/take/", {"seen": "0" * 64}, follow=True)
    assert "was changed in Label Studio since" in text(stale)
    taken = lead_client.post(f"{HERE}answers/{answer.pk}/take/", {"seen": answer.digest}, follow=True)
    assert "A lead decided" in text(taken)
    first = answer.versions.get().digest
    lead_client.post(f"{HERE}answers/{answer.pk}/restore/", {"seen": answer.digest, "version": first})
    answer.refresh_from_db()
    assert (answer.state, answer.edit) == (State.COUNTED, "kept")
    history = text(lead_client.get("/studies/isles/history/"))
    assert "restored a version of answer 1 in Label Studio" in history


def test_answers_that_never_count_are_listed_and_deleted_after_confirmation(bridge, lead_client):
    assert "Nothing to delete" in text(lead_client.get(f"{HERE}cleanup/"))
    ada = new_annotator(bridge.campaign)
    mapped = user_of(bridge.server, 1, state="mapped", annotator=ada)
    seen(bridge, mapped, 3, state=State.SURPLUS)
    seen(bridge, mapped, 1, state=State.COUNTED)
    seen(bridge, mapped, 1, state=State.SURPLUS, edit="open")
    page = text(lead_client.get(f"{HERE}cleanup/"))
    assert ada.pseudonym in page
    assert "all its answers (3)" in page
    unsure = lead_client.post(f"{HERE}cleanup/", {"kinds": ["surplus"]})
    assert unsure.status_code == 400
    assert "Confirm that you want to delete these answers." in text(unsure)
    assert not Job.objects.exists()
    lead_client.post(f"{HERE}cleanup/", {"kinds": ["surplus"], "sure": "on"})
    assert Job.objects.get().arguments["kinds"] == "surplus"
    history = text(lead_client.get("/studies/isles/history/"))
    assert "asked to delete 3 answers that do not count" in history
