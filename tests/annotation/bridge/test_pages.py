"""What a lead sees and does about a campaign in a Label Studio; who else sees nothing of it."""

from datetime import timedelta

import pytest
from django.urls import reverse
from django.utils import timezone

from annotation import campaigns, instruments
from annotation.models import (
    LabelStudioAnnotation,
    LabelStudioBridge,
    LabelStudioEvent,
    LabelStudioServer,
    LabelStudioTask,
)
from jobs.models import Job
from tests.annotation.bridge.rows import TOKEN, URL, bridge_of, seen, server_of, user_of
from tests.annotation.engine.people import new_annotator
from tests.annotation.lead.conftest import annotator_client, draft, looked, marking, queries, rating

__all__ = ["annotator_client", "draft", "looked", "marking", "queries", "rating"]
pytestmark = pytest.mark.django_db

C = {"study": "isles", "campaign": "marking"}
HERE = "/studies/isles/campaigns/marking/label-studio/"
SERVERS = "/studies/isles/label-studio/"
State = LabelStudioAnnotation.State


@pytest.fixture
def bridge(marking, settings):
    settings.SITE_URL = "https://here.example.org"
    return bridge_of(marking)


def text(answer) -> str:
    return " ".join(answer.content.decode().split())


def addresses(bridge) -> tuple[list[str], list[str]]:
    """Return what is read and what is posted, of everything about Label Studio."""
    user = user_of(bridge.server, 5)
    (answer,) = seen(bridge, user, state=State.FLAGGED)
    server = {"study": "isles", "server": bridge.server_id}
    one = {**server, "user": user.pk}
    read = [
        ("label_studio", {"study": "isles"}),
        ("label_studio_server", server),
        ("label_studio_disconnect", server),
        ("label_studio_people", server),
        ("label_studio_person", one),
        ("campaign_label_studio", C),
        ("campaign_label_studio_live", C),
        ("campaign_label_studio_end", C),
        ("label_studio_answers", C),
    ]
    sent = [
        ("label_studio", {"study": "isles"}),
        ("label_studio_check", server),
        ("label_studio_token", server),
        ("label_studio_disconnect", server),
        *((f"label_studio_person_{step}", one) for step in ("confirm", "invite", "ignore", "undo", "erase")),
        *((f"campaign_label_studio_{work}", C) for work in ("push", "reconcile", "replace", "renew", "end")),
        *((f"label_studio_{step}", {**C, "answer": answer.pk}) for step in ("allow", "disallow")),
    ]
    return tuple(
        [reverse(f"annotation:{name}", kwargs=kwargs) for name, kwargs in rows] for rows in (read, sent)
    )


def test_only_leads_of_the_study_see_anything_of_it(
    bridge, lead_client, analyst_client, stranger_client, annotator_client
):
    read, sent = addresses(bridge)
    for url in read:
        clients = (lead_client, analyst_client, stranger_client, annotator_client)
        assert [client.get(url).status_code for client in clients] == [200, 403, 404, 404], url
    for url in sent:
        clients = (analyst_client, stranger_client, annotator_client)
        assert [client.post(url).status_code for client in clients] == [403, 404, 404], url
    assert LabelStudioBridge.objects.filter(pk=bridge.pk).exists()
    assert not Job.objects.exists()


def test_rows_of_another_study_are_not_found_through_ones_own(bridge, stranger, stranger_client):
    from studies.creating import create_study

    resource = bridge.campaign.study.resource
    create_study(name="Mine", resource=resource, groups=resource.groups.all(), by=stranger)
    user = user_of(bridge.server, 5)
    mine = f"/studies/mine/label-studio/{bridge.server_id}/"
    for url in (mine, f"{mine}people/", f"{mine}people/{user.pk}/", f"{mine}disconnect/"):
        assert stranger_client.get(url).status_code == 404
    assert stranger_client.post(f"{mine}people/{user.pk}/ignore/").status_code == 404
    user.refresh_from_db()
    assert user.state == "waiting"


def test_nothing_is_connected_yet(study, lead_client):
    assert "No Label Studio is connected" in text(lead_client.get(SERVERS))


def test_an_address_that_is_refused_says_so_in_one_sentence(study, lead_client):
    answer = lead_client.post(SERVERS, {"url": "http://127.0.0.1:9", "token": TOKEN})
    assert answer.status_code == 400
    assert "inside this server’s own network" in text(answer)
    assert TOKEN not in answer.content.decode()
    assert not LabelStudioServer.objects.exists()


def test_a_server_that_does_not_answer_is_not_kept(study, lead_client, settings):
    settings.LABEL_STUDIO_ALLOWED_HOSTS = ["127.0.0.1"]
    answer = lead_client.post(SERVERS, {"url": "http://127.0.0.1:9", "token": TOKEN})
    assert answer.status_code == 400
    assert "No server answers at" in text(answer)
    assert TOKEN not in answer.content.decode()
    assert not LabelStudioServer.objects.exists()


def test_a_check_that_fails_says_what_is_wrong_and_what_to_do(study, lead_client, settings):
    settings.LABEL_STUDIO_ALLOWED_HOSTS = ["127.0.0.1"]
    server = server_of(study, url="http://127.0.0.1:9")
    page = text(lead_client.post(f"{SERVERS}{server.pk}/check/", follow=True))
    assert "What is wrong" in page
    assert "No server answers at" in page
    assert "tried again by itself" in page
    assert TOKEN not in page


def test_a_token_that_does_not_work_does_not_replace_the_old_one(study, lead_client, settings):
    settings.LABEL_STUDIO_ALLOWED_HOSTS = ["127.0.0.1"]
    server = server_of(study, url="http://127.0.0.1:9")
    before = server.token
    answer = lead_client.post(f"{SERVERS}{server.pk}/token/", {"token": "another-token"})
    assert answer.status_code == 400
    assert "another-token" not in answer.content.decode()
    server.refresh_from_db()
    assert server.token == before


def test_no_page_shows_the_token_or_a_secret(bridge, lead_client):
    for url in addresses(bridge)[0]:
        page = lead_client.get(url).content.decode()
        for secret in (
            TOKEN,
            bridge.server.token,
            bridge.address_secret,
            bridge.header_secret,
            "address secret",
        ):
            assert secret not in page, url


def test_a_server_in_use_stays_connected(bridge, lead_client):
    url = f"{SERVERS}{bridge.server_id}/disconnect/"
    assert "cannot be disconnected yet" in text(lead_client.get(url))
    answer = lead_client.post(url, follow=True)
    assert "Bring it back" in text(answer)
    assert LabelStudioServer.objects.filter(pk=bridge.server_id).exists()


def test_a_server_is_disconnected_once_that_is_confirmed(study, lead_client):
    server = server_of(study)
    url = f"{SERVERS}{server.pk}/disconnect/"
    assert "Its token is deleted" in text(lead_client.get(url))
    assert "is disconnected" in text(lead_client.post(url, follow=True))
    assert not LabelStudioServer.objects.exists()


def test_a_campaign_begins_in_the_arrangement_that_was_chosen(marking, lead_client, settings):
    settings.SITE_URL = "https://here.example.org"
    assert "Connect a Label Studio" in text(lead_client.get(HERE))
    server = server_of(marking.study)
    page = text(lead_client.get(HERE))
    assert "2 projects: one for each answer a screen asks for" in page
    assert "does not enforce that number" in page
    answer = lead_client.post(HERE, {"server": server.pk, "arrangement": "shared"}, follow=True)
    assert "is now labelled in Label Studio" in text(answer)
    bridge = LabelStudioBridge.objects.get()
    assert (bridge.campaign, bridge.arrangement) == (marking, "shared")
    assert [job.kind for job in Job.objects.all()] == ["label_studio.push"]


def test_what_the_verb_refuses_stands_beside_the_choice(marking, lead_client, settings):
    settings.SITE_URL = "https://here.example.org"
    server = server_of(marking.study)
    answer = lead_client.post(HERE, {"server": server.pk, "arrangement": "per_annotator"})
    assert answer.status_code == 400
    assert "needs annotators" in text(answer)
    assert not LabelStudioBridge.objects.exists()


def test_a_server_of_another_study_cannot_be_chosen(marking, lead, lead_client, resource):
    from studies.creating import create_study

    other = create_study(name="Other", resource=resource, groups=resource.groups.all(), by=lead)
    server = server_of(other)
    answer = lead_client.post(HERE, {"server": server.pk, "arrangement": "shared"})
    assert answer.status_code == 400
    assert not LabelStudioBridge.objects.exists()


def test_the_page_counts_what_was_sent_and_seen(bridge, lead_client):
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


def test_what_a_push_would_mend_is_said(bridge, lead, lead_client):
    assert "Not everything is there" not in text(lead_client.get(HERE))
    instruments.revise(campaign=bridge.campaign, by=lead, guidelines="Look closely.")
    bridge.projects.filter(slot=2).update(gone_at=timezone.now())
    LabelStudioTask.objects.filter(project__bridge=bridge).order_by("pk").first().delete()
    page = text(lead_client.get(HERE))
    assert "1 project is not there yet." in page
    assert "1 screen is not there yet." in page
    assert "still read earlier guidelines" in page
    assert "gone there" in page


def test_a_closed_campaign_offers_no_push(bridge, lead, lead_client):
    assert "Push again" in text(lead_client.get(HERE))
    campaigns.close(campaign=bridge.campaign, by=lead)
    page = text(lead_client.get(HERE))
    assert "The campaign is closed" in page
    assert "Push again" not in page


def test_a_draft_is_opened_first(draft, lead_client):
    server_of(draft.study)
    page = text(lead_client.get("/studies/isles/campaigns/drafted/label-studio/"))
    assert "The campaign is a draft" in page
    assert "Label it there" not in page


def test_it_is_said_where_label_studio_tells_nothing(bridge, lead_client):
    assert "does not tell this server" not in text(lead_client.get(HERE))
    bridge.projects.filter(slot=1).update(webhook_id=None)
    assert "every 15 minutes" in text(lead_client.get(HERE))


def test_what_is_wrong_is_said_with_what_helps(bridge, lead_client, analyst_client):
    LabelStudioBridge.objects.update(
        problem="token_wrong", problem_text="The token is not known there.", problem_at=timezone.now()
    )
    page = text(lead_client.get(HERE))
    assert "The token is not known there." in page
    assert "Give another under “Change the token”" in page
    assert "The token is not known there." in text(lead_client.get("/studies/isles/campaigns/marking/"))
    assert "in Label Studio: The token is not known there." in text(lead_client.get("/studies/isles/"))
    seen_by_analyst = text(analyst_client.get("/studies/isles/campaigns/marking/"))
    assert "Labelled in Label Studio" in seen_by_analyst
    assert "The token is not known there." not in seen_by_analyst


def test_addresses_of_images_that_ended_are_said_and_renewed(bridge, lead_client):
    LabelStudioBridge.objects.update(images_until=timezone.now() - timedelta(hours=1))
    assert "Images are not shown there any more" in text(lead_client.get(HERE))
    assert lead_client.post(f"{HERE}renew/", {"days": "0"}).status_code == 400
    answer = lead_client.post(f"{HERE}renew/", {"days": "10"}, follow=True)
    assert "The addresses work longer now." in text(answer)
    bridge.refresh_from_db()
    assert bridge.images_until > timezone.now() + timedelta(days=9)


@pytest.mark.parametrize("work", ["push", "reconcile", "replace"])
def test_long_work_is_a_job_that_the_page_shows(bridge, lead_client, work):
    page = text(lead_client.post(f"{HERE}{work}/", follow=True))
    (job,) = Job.objects.all()
    assert job.kind == {"replace": "label_studio.addresses"}.get(work, f"label_studio.{work}")
    assert job.title.replace("“", "").split()[0] in page
    assert f"/jobs/{job.pk}/" in page


def test_a_bridge_ends_once_that_is_confirmed(bridge, lead_client):
    seen(bridge, user_of(bridge.server, 2), 4, state=State.WAITING)
    assert "4 answers wait, for a name or for consent" in text(lead_client.get(f"{HERE}end/"))
    assert "labelled here again" in text(lead_client.post(f"{HERE}end/", follow=True))
    assert not LabelStudioBridge.objects.exists()


def test_ten_thousand_answers_come_a_page_at_a_time_in_few_queries(bridge, lead_client, queries):
    person = new_annotator(bridge.campaign)
    mapped = user_of(bridge.server, 1, state="mapped", annotator=person)
    seen(bridge, mapped, 10, state=State.COUNTED)
    few = {url: queries(lead_client, url) for url in (f"{HERE}answers/", HERE, f"{HERE}live/")}
    seen(bridge, mapped, 9_990, state=State.SURPLUS)
    for number in range(2, 40):
        user_of(bridge.server, number)
    assert {url: queries(lead_client, url) for url in few} == few
    assert max(few.values()) <= 16
    page = lead_client.get(f"{HERE}answers/?page=200")
    assert len(page.context["rows"]) == 50
    assert "page 200 of 200" in text(page).lower()


def test_the_study_says_who_waits_for_a_name(bridge, lead_client, analyst_client):
    user_of(bridge.server, 2)
    assert "1 person waits in Label Studio" in text(lead_client.get("/studies/isles/"))
    assert "waits in Label Studio" not in text(analyst_client.get("/studies/isles/"))
    assert "labelled in Label Studio" in text(analyst_client.get("/studies/isles/campaigns/"))


def test_urls_of_the_server_leave_no_address_behind(bridge, lead_client):
    """Links into Label Studio tell it nothing of where they stood."""
    seen(bridge, user_of(bridge.server, 1), 1)
    for url in (HERE, f"{HERE}answers/"):
        page = lead_client.get(url).content.decode()
        links = [part.split(">")[0] for part in page.split("<a ")[1:] if URL in part.split(">")[0]]
        assert links
        assert all('rel="noreferrer"' in link for link in links)
