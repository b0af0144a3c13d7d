"""A lead's actions about Label Studio over HTTP, refused to others."""

import pytest

from annotation.label_studio.models import LabelStudioAnnotation, LabelStudioBridge, LabelStudioServer
from jobs.models import Job
from tests.annotation.api.test_labelling import Browser
from tests.annotation.conftest import marking, rating
from tests.annotation.factories import new_annotator
from tests.annotation.label_studio.lead.pages import bridge
from tests.annotation.label_studio.rows import TOKEN, seen, server_of, user_of
from tests.annotation.label_studio.scenario import text_of, told

__all__ = ["bridge", "marking", "rating"]
pytestmark = pytest.mark.django_db

State = LabelStudioAnnotation.State


@pytest.fixture
def manager(lead):
    return Browser(lead, ["manage"])


def everything(bridge) -> tuple[list[str], list[str]]:
    """Return the addresses that are read and those that are posted to."""
    user = user_of(bridge.server, 5)
    (answer,) = seen(bridge, user, state=State.FLAGGED)
    server, campaign = bridge.server_id, bridge.campaign_id
    here = f"campaigns/{campaign}/label-studio"
    read = ["studies/isles/label-studio/", f"label-studio/{server}/", f"label-studio/{server}/people/"]
    read += [f"{here}/", f"{here}/answers/", f"{here}/cleanup", f"label-studio/answers/{answer.pk}/"]
    sent = ["studies/isles/label-studio/", f"label-studio/{server}/check", f"{here}/"]
    sent += [
        f"label-studio/people/{user.pk}/{step}" for step in ("confirm", "invite", "ignore", "undo", "erase")
    ]
    sent += [f"{here}/{work}" for work in ("push", "reconcile", "replace-addresses", "renew-addresses")]
    sent += [f"{here}/{decision}" for decision in ("keep-labels", "confirm-deletions")]
    sent += [f"{here}/cleanup"]
    steps = ("allow", "disallow", "keep", "take", "undo", "restore")
    sent += [f"label-studio/answers/{answer.pk}/{step}" for step in steps]
    return read, sent


def test_only_leads_of_the_study_have_access(bridge, lead, analyst, stranger):
    read, sent = everything(bridge)
    others = [(Browser(analyst, ["manage"]), 403), (Browser(stranger, ["manage"]), 404)]
    others.append((Browser(new_annotator(bridge.campaign).user, ["manage"]), 404))
    for browser, status in others:
        assert [browser.get(url).status_code for url in read] == [status] * len(read)
        assert [browser.post(url, {}).status_code for url in sent] == [status] * len(sent)
    reader = Browser(lead, ["read"])
    assert [reader.get(url).status_code for url in read] == [200] * len(read)
    assert [reader.post(url, {}).status_code for url in sent] == [403] * len(sent)
    labeller = Browser(lead, ["annotate"])
    assert [labeller.post(url, {}).status_code for url in sent] == [403] * len(sent)
    assert not Job.objects.exists()


def test_a_token_is_write_only(study, manager, settings):
    settings.LABEL_STUDIO_ALLOWED_HOSTS = ["127.0.0.1"]
    refused = manager.post("studies/isles/label-studio/", {"url": "http://127.0.0.1:9", "token": TOKEN})
    assert refused.json()["error"]["code"] == "unreachable"
    assert TOKEN not in refused.content.decode()
    server = server_of(study)
    for url in ("studies/isles/label-studio/", f"label-studio/{server.pk}/"):
        shown = manager.get(url).content.decode()
        assert "labels.example.org" in shown
        assert TOKEN not in shown
        assert server.token not in shown


def test_a_check_says_what_is_wrong_and_what_to_do(study, manager, settings):
    settings.LABEL_STUDIO_ALLOWED_HOSTS = ["127.0.0.1"]
    server = server_of(study, url="http://127.0.0.1:9")
    shown = manager.post(f"label-studio/{server.pk}/check").json()
    assert shown["problem"] == "unreachable"
    assert "tries again automatically" in shown["what_to_do"]


def test_a_bridge_is_begun_and_ended(marking, manager, settings):
    settings.SITE_URL = "https://here.example.org"
    server = server_of(marking.study)
    here = f"campaigns/{marking.pk}/label-studio/"
    assert manager.get(here).status_code == 404
    begun = manager.post(here, {"server": server.pk, "arrangement": "shared"})
    assert begun.status_code == 201
    assert begun.json()["arrangement"] == "shared"
    assert [job.kind for job in Job.objects.all()] == ["label_studio.push"]
    again = manager.post(here, {"server": server.pk})
    assert (again.status_code, again.json()["error"]["code"]) == (409, "bridged_already")
    assert manager.client.delete(f"/api/v1/{here}").status_code == 204
    assert not LabelStudioBridge.objects.exists()
    assert manager.client.delete(f"/api/v1/label-studio/{server.pk}/").status_code == 204
    assert not LabelStudioServer.objects.exists()


def test_the_state_of_a_bridge_is_counted(bridge, manager):
    person = new_annotator(bridge.campaign)
    mapped = user_of(bridge.server, 1, state="mapped", annotator=person)
    seen(bridge, mapped, 3, state=State.COUNTED)
    seen(bridge, mapped, 2, state=State.REFUSED, reason="It has no choice at all.")
    shown = manager.get(f"campaigns/{bridge.campaign_id}/label-studio/").json()
    assert shown["states"] == {"counted": 3, "refused": 2}
    assert [(one["slot"], one["answered"]) for one in shown["projects"]] == [(1, 5), (2, 0)]
    listed = manager.get(f"campaigns/{bridge.campaign_id}/label-studio/answers/?state=refused").json()
    assert [one["reason"] for one in listed["results"]] == ["It has no choice at all."] * 2


@pytest.mark.parametrize(
    ("work", "kind"), [("push", "push"), ("reconcile", "reconcile"), ("replace-addresses", "addresses")]
)
def test_long_work_is_answered_with_its_job(bridge, manager, work, kind):
    answer = manager.post(f"campaigns/{bridge.campaign_id}/label-studio/{work}")
    assert (answer.status_code, answer.json()["kind"]) == (202, f"label_studio.{kind}")


def test_addresses_of_images_are_renewed(bridge, manager):
    before = bridge.images_until
    url = f"campaigns/{bridge.campaign_id}/label-studio/renew-addresses"
    assert manager.post(url, {"days": 0}).status_code == 400
    assert manager.post(url, {"days": 90}).status_code == 200
    bridge.refresh_from_db()
    assert bridge.images_until > before


def test_users_are_identified_invited_ignored_and_erased(bridge, manager):
    person = new_annotator(bridge.campaign)
    one, two = user_of(bridge.server, 1), user_of(bridge.server, 2)
    listed = manager.get(f"label-studio/{bridge.server_id}/people/?state=waiting").json()["results"]
    assert {row["external_id"] for row in listed} == {1, 2}
    unknown = manager.post(f"label-studio/people/{one.pk}/confirm", {"annotator": "A-NOBODY"})
    assert (unknown.status_code, unknown.json()["error"]["code"]) == (404, "annotator_not_found")
    named = manager.post(f"label-studio/people/{one.pk}/confirm", {"annotator": person.pseudonym})
    assert (named.json()["state"], named.json()["annotator"]) == ("mapped", person.pseudonym)
    assert manager.post(f"label-studio/people/{one.pk}/undo").json()["state"] == "waiting"
    link = manager.post(f"label-studio/people/{two.pk}/invite", {"campaign": bridge.campaign_id})
    assert link.status_code == 201
    assert "/annotate/i/" in link.json()["address"]
    assert manager.post(f"label-studio/people/{two.pk}/ignore").json()["state"] == "ignored"
    assert manager.post(f"label-studio/people/{two.pk}/erase").json()["name"] == ""


def test_a_flagged_answer_is_accepted_and_flagged_again(bridge, manager):
    person = new_annotator(bridge.campaign)
    mapped = user_of(bridge.server, 1, state="mapped", annotator=person)
    (answer,) = seen(bridge, mapped, state=State.FLAGGED, updated_by=77)
    assert manager.post(f"label-studio/answers/{answer.pk}/allow").json()["allowed"] is True
    assert manager.post(f"label-studio/answers/{answer.pk}/disallow").json()["allowed"] is False


def test_versions_are_listed_decided_and_restored(bridge, manager):
    ada = user_of(bridge.server, 1, state="mapped", annotator=new_annotator(bridge.campaign))
    task = bridge.campaign.tasks.earliest("pk")
    told(bridge, task, 1, ada.external_id)
    told(bridge, task, 1, ada.external_id, text_of(task), changed=5, updated_by=77)
    answer = LabelStudioAnnotation.objects.get()
    url = f"label-studio/answers/{answer.pk}/"
    shown = manager.get(url).json()
    assert [(one["own"], one["current"], one["counts"]) for one in shown["versions"]] == [
        (True, False, True),
        (False, True, False),
    ]
    assert [one["says"] for one in shown["versions"]] == [
        "None of the above.",
        f"Ticked: {text_of(task)} (1 box).",
    ]
    assert shown["edit"] == "open"
    assert manager.get(f"campaigns/{bridge.campaign_id}/label-studio/").json()["undecided"] == 1
    listed = manager.get(f"campaigns/{bridge.campaign_id}/label-studio/answers/?state=flagged").json()
    assert [one["id"] for one in listed["results"]] == [answer.pk]
    assert manager.post(f"{url}keep").json()["edit"] == "kept"
    assert manager.post(f"{url}take").json()["edit"] == "taken"
    assert manager.post(f"{url}undo").json()["edit"] == "open"
    first = shown["versions"][0]["version"]
    assert manager.post(f"{url}restore", {"version": first}).json()["edit"] == "kept"
    assert manager.post(f"{url}restore", {"version": "0" * 64}).status_code == 404


def test_answers_that_never_count_are_listed_and_their_deletion_is_confirmed(bridge, manager):
    ada = new_annotator(bridge.campaign)
    mapped = user_of(bridge.server, 1, state="mapped", annotator=ada)
    seen(bridge, mapped, 2, state=State.SURPLUS)
    seen(bridge, mapped, 1, state=State.COUNTED)
    seen(bridge, user_of(bridge.server, 2), 1, state=State.FURTHER)
    url = f"campaigns/{bridge.campaign_id}/label-studio/cleanup"
    assert manager.get(url).json() == [
        {"kind": "surplus", "person": ada.pseudonym, "answers": 2},
        {"kind": "further", "person": "", "answers": 1},
    ]
    assert manager.post(url, {"kinds": ["surplus"]}).status_code == 400
    assert manager.post(url, {"kinds": ["surplus"], "confirm": False}).status_code == 400
    assert manager.post(url, {"kinds": ["counted"], "confirm": True}).status_code == 400
    assert manager.post(url, {"kinds": ["left_out"], "confirm": True}).status_code == 409
    begun = manager.post(url, {"kinds": ["surplus"], "confirm": True})
    assert (begun.status_code, begun.json()["kind"]) == (202, "label_studio.cleanup")


def test_a_decision_is_made_about_lost_answers(bridge, manager):
    here = f"campaigns/{bridge.campaign_id}/label-studio"
    [answer] = seen(bridge, user_of(bridge.server, 5), missing="held")
    assert manager.get(f"{here}/").json()["held"] == 1
    assert manager.post(f"{here}/keep-labels", {}).json()["held"] == 0
    answer.refresh_from_db()
    assert (answer.missing, answer.deleted_at) == ("kept", None)
    assert manager.post(f"{here}/confirm-deletions", {}).json()["error"]["code"] == "nothing_held"
