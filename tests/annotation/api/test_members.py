"""Actions of leads and analysts over HTTP, refused to others."""

import uuid

import pytest
from django.core.management import call_command

from annotation.campaigns import lifecycle
from annotation.models import Campaign
from studies.models import Study, StudyMembership
from tests.annotation.api.test_labelling import Browser
from tests.annotation.factories import add_images, new_annotator

pytestmark = pytest.mark.django_db


@pytest.fixture
def manager(lead):
    return Browser(lead, ["manage"])


@pytest.fixture
def reader(analyst):
    return Browser(analyst, ["read"])


def test_members_see_their_studies_and_strangers_none(study, reader, stranger):
    shown = reader.get("studies/").json()
    assert [one["slug"] for one in shown["results"]] == ["isles"]
    detail = reader.get("studies/isles/").json()
    assert (detail["resource"], detail["groups"], detail["members"]) == ("invented-peoples", 2, 2)
    outside = Browser(stranger, ["read"])
    assert outside.get("studies/").json()["results"] == []
    assert outside.get("studies/isles/").status_code == 404
    assert outside.get("studies/isles/campaigns/").status_code == 404


def test_a_study_without_a_resource_is_shown(study, reader):
    Study.objects.update(resource=None)
    assert reader.get("studies/isles/").json()["resource"] is None
    assert reader.get("studies/").json()["results"][0]["resource"] is None


def test_a_lead_drafts_opens_pauses_and_closes_a_campaign(study, manager):
    add_images(study, 1)
    made = manager.post(
        "studies/isles/campaigns/",
        {
            "name": "Marking",
            "kind": "stereotype_marking",
            "annotators_per_task": 2,
            "options": {"random_per_stereotype": 1},
        },
    )
    assert made.status_code == 201
    pk = made.json()["id"]
    states = [
        manager.post(f"campaigns/{pk}/{move}").json()["state"]
        for move in ("open", "pause", "resume", "close", "reopen")
    ]
    assert states == ["open", "paused", "open", "closed", "open"]
    refused = manager.post(f"campaigns/{pk}/open")
    assert refused.status_code == 409
    assert refused.json()["error"]["code"] == "wrong_state"
    assert [one["id"] for one in manager.get("studies/isles/campaigns/").json()["results"]] == [pk]
    assert manager.get(f"campaigns/{pk}").json()["annotators_per_task"] == 2


def test_progress_is_returned_by_the_api(rating, reader):
    anna = new_annotator(rating)
    browser = Browser(anna.user)
    browser.submit(browser.next(rating).json(), {"rating": 5})
    shown = reader.get(f"campaigns/{rating.pk}/progress/").json()
    assert (shown["tasks"], shown["slots"], shown["accepted"], shown["leased"]) == (6, 18, 1, 1)
    assert shown["days"][0]["submitted"] == 1
    people = reader.get(f"campaigns/{rating.pk}/annotators/").json()["results"]
    assert [(one["pseudonym"], one["state"]) for one in people] == [(anna.pseudonym, "active")]
    assert anna.user.username not in str(people)


def test_an_analyst_reads_and_changes_nothing(rating, analyst):
    browser = Browser(analyst, ["read", "manage"])
    assert browser.get(f"campaigns/{rating.pk}/").status_code == 200
    assert browser.post(f"campaigns/{rating.pk}/close").status_code == 403
    body = {"name": "Mine", "kind": "attribute_likert"}
    assert browser.post("studies/isles/campaigns/", body).status_code == 403
    assert Campaign.objects.get().state == "open"


def test_a_reading_key_changes_nothing_though_its_owner_may(rating, lead):
    browser = Browser(lead, ["read"])
    assert browser.post(f"campaigns/{rating.pk}/close").status_code == 403
    assert Campaign.objects.get().state == "open"


def test_a_labelling_key_reads_nothing_of_a_study_though_its_owner_may(rating, lead):
    browser = Browser(lead, ["annotate"])
    for path in ("", "progress/", "annotators/"):
        assert browser.get(f"campaigns/{rating.pk}/{path}").status_code == 403


def test_strangers_do_not_learn_that_a_campaign_exists(rating, stranger):
    outside = Browser(stranger, ["read", "manage"])
    for path in ("", "progress/", "annotators/"):
        assert outside.get(f"campaigns/{rating.pk}/{path}").status_code == 404
    for move in ("open", "pause", "resume", "close", "reopen"):
        assert outside.post(f"campaigns/{rating.pk}/{move}").status_code == 404


@pytest.mark.parametrize(
    ("body", "field"),
    [
        ({}, "name"),
        ({"name": "x", "kind": "quiz"}, "kind"),
        ({"name": "x", "kind": "attribute_likert", "annotators_per_task": 0}, "annotators_per_task"),
        ({"name": "x", "kind": "attribute_likert", "annotators_per_task": "many"}, "annotators_per_task"),
        ({"name": "x", "kind": "attribute_likert", "options": {"odd": 1}}, "options.odd"),
        ({"name": "x", "kind": "attribute_likert", "options": []}, "options"),
    ],
)
def test_a_wrong_draft_names_the_field(study, manager, body, field):
    refused = manager.post("studies/isles/campaigns/", body)
    assert refused.status_code == 400
    assert field in refused.json()["error"]["fields"]
    assert not Campaign.objects.exists()


def test_lists_come_in_pages(study, lead, reader):
    for number in range(3):
        lifecycle.create(study=study, name=f"Draft {number}", kind="attribute_likert", by=lead)
    first = reader.get("studies/isles/campaigns/?page_size=2").json()
    assert len(first["results"]) == 2
    rest = reader.client.get(first["next"]).json()
    assert [one["name"] for one in rest["results"]] == ["Draft 0"]


def test_the_number_of_queries_does_not_grow_with_the_lists(
    study, lead, reader, django_assert_max_num_queries
):
    for number in range(8):
        lifecycle.create(study=study, name=f"Draft {number}", kind="attribute_likert", by=lead)
        other = Study.objects.create(
            name=f"S{number}", slug=f"s{number}", resource=study.resource, seed=number
        )
        StudyMembership.objects.create(study=other, user=reader.user, role="analyst")
    reader.get("studies/")  # records the use of the key
    for path in ("studies/", "studies/isles/", "studies/isles/campaigns/"):
        with django_assert_max_num_queries(5):
            assert reader.get(path).status_code == 200


def test_malformed_ids_are_not_found(manager):
    assert manager.get("campaigns/0/").status_code == 404
    assert manager.post("campaigns/99999999999999999999/open").status_code == 404
    assert (
        manager.post(f"assignments/{uuid.uuid4()}/skip").status_code == 403
    )  # a managing key labels nothing


def test_the_schema_is_generated_without_a_warning(tmp_path):
    file = tmp_path / "schema.yaml"
    call_command("spectacular", "--fail-on-warn", "--validate", "--file", str(file))
    schema = file.read_text()
    for path in (
        "/api/v1/campaigns/{id}/next:",
        "/api/v1/campaigns/{id}/progress/:",
        "/api/v1/assignments/{public_id}/submit:",
        "/api/v1/assignments/{public_id}/skip:",
        "/api/v1/studies/{slug}/campaigns/:",
    ):
        assert path in schema
