"""The lead's pages of a study's Label Studio servers, which others cannot see."""

import pytest
from django.urls import reverse

from annotation.label_studio.models import LabelStudioAnnotation, LabelStudioBridge, LabelStudioServer
from jobs.models import Job
from tests.annotation.label_studio.lead.pages import SERVERS, C, bridge, text
from tests.annotation.label_studio.rows import TOKEN, seen, server_of, user_of
from tests.annotation.lead.conftest import annotator_client, looked, marking

__all__ = ["annotator_client", "bridge", "looked", "marking"]
pytestmark = pytest.mark.django_db

State = LabelStudioAnnotation.State


def addresses(bridge) -> tuple[list[str], list[str]]:
    """Return all addresses about Label Studio that are read, and those that are posted to."""
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
        ("campaign_label_studio_missing", C),
        ("campaign_label_studio_cleanup", C),
        ("label_studio_answers", C),
        ("label_studio_answer", {**C, "answer": answer.pk}),
    ]
    sent = [
        ("label_studio", {"study": "isles"}),
        ("label_studio_check", server),
        ("label_studio_token", server),
        ("label_studio_disconnect", server),
        *((f"label_studio_person_{step}", one) for step in ("confirm", "invite", "ignore", "undo", "erase")),
        *((f"campaign_label_studio_{work}", C) for work in ("push", "reconcile", "replace", "renew", "end")),
        *((f"campaign_label_studio_missing_{decision}", C) for decision in ("deleted", "kept")),
        ("campaign_label_studio_cleanup", C),
        *(
            (f"label_studio_answer_{step}", {**C, "answer": answer.pk})
            for step in ("keep", "take", "restore", "undo")
        ),
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


def test_rows_of_another_study_are_not_found(bridge, stranger, stranger_client):
    from studies.protocol.creation import create_study

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
    assert "No Label Studio server is connected" in text(lead_client.get(SERVERS))


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
    assert "Problem" in page
    assert "No server answers at" in page
    assert "tries again automatically" in page
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
    assert "End the labelling of that campaign first" in text(answer)
    assert LabelStudioServer.objects.filter(pk=bridge.server_id).exists()


def test_a_server_is_disconnected_after_confirmation(study, lead_client):
    server = server_of(study)
    url = f"{SERVERS}{server.pk}/disconnect/"
    assert "The token and the names of the users are deleted" in text(lead_client.get(url))
    assert "is disconnected" in text(lead_client.post(url, follow=True))
    assert not LabelStudioServer.objects.exists()


def test_an_unencrypted_address_is_reported(study, lead_client, settings):
    settings.LABEL_STUDIO_ALLOWED_HOSTS = ["label.our-own.example"]
    said = "The connection is not encrypted"
    for url, wanted in (
        ("http://labels.example.org", True),
        ("https://labels.example.org", False),
        ("http://label.our-own.example:8080", False),
        ("http://label-studio:8080", False),
    ):
        server = server_of(study, url=url)
        assert (said in text(lead_client.get(f"{SERVERS}{server.pk}/"))) is wanted, url


def test_importing_a_file_needs_no_connection(study, lead_client):
    assert "Import a file" in text(lead_client.get(SERVERS))
