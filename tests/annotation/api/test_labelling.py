"""Labelling over HTTP, as a browser or a program does it."""

import uuid

import pytest
from django.test import Client

from accounts import tokens
from annotation.campaigns import lifecycle
from annotation.models import Annotation, Assignment
from tests.annotation.factories import new_annotator

pytestmark = pytest.mark.django_db


class Browser:
    """Somebody with a token who posts JSON."""

    def __init__(self, user, scopes=("annotate",)):
        _, key = tokens.issue(user=user, name="test", scopes=scopes)
        self.user = user
        self.client = Client(headers={"authorization": f"Bearer {key}"})

    def post(self, path, data=None):
        return self.client.post(f"/api/v1/{path}", data, content_type="application/json")

    def get(self, path):
        return self.client.get(f"/api/v1/{path}")

    def next(self, campaign):
        return self.post(f"campaigns/{campaign.pk}/next")

    def submit(self, task, answer, **more):
        body = {"submission_id": str(uuid.uuid4()), "answer": answer, "active_seconds": 2.5} | more
        return self.post(f"assignments/{task['assignment']}/submit", body)


@pytest.mark.parametrize("slash", ["", "/"])
def test_the_promised_addresses_answer_with_and_without_a_slash(rating, slash):
    browser = Browser(new_annotator(rating).user)
    task = browser.post(f"campaigns/{rating.pk}/next{slash}").json()
    assert browser.post(f"assignments/{task['assignment']}/skip{slash}").status_code == 204
    task = browser.post(f"campaigns/{rating.pk}/next{slash}").json()
    body = {"submission_id": str(uuid.uuid4()), "answer": {"rating": 4}}
    assert browser.post(f"assignments/{task['assignment']}/submit{slash}", body).status_code == 200


def test_a_rating_is_saved_and_the_next_task_comes_with_the_answer(rating):
    anna = new_annotator(rating)
    browser = Browser(anna.user)
    task = browser.next(rating).json()
    assert len(task["attributes"]) == 1
    assert task["image"] is None
    assert task["progress"] == {"done": 0, "left": 6}
    saved = browser.submit(task, {"rating": 3, "justification": "It depends."}).json()
    kept = Annotation.objects.get(pk=saved["annotation"])
    assert (kept.annotator, kept.justification, kept.status) == (anna, "It depends.", "accepted")
    assert kept.judgements.get().rating == 3
    assert saved["next"]["assignment"] != task["assignment"]
    assert saved["next"]["progress"] == {"done": 1, "left": 5}


def test_nothing_left_is_204_and_the_last_answer_says_why(rating):
    browser = Browser(new_annotator(rating).user)
    task = browser.next(rating).json()
    while task is not None:
        saved = browser.submit(task, {"rating": 5}).json()
        task = saved["next"]
    assert saved["why"] == "nothing_left"
    assert browser.next(rating).status_code == 204


def test_a_retry_with_the_same_submission_id_is_one_annotation(rating):
    browser = Browser(new_annotator(rating).user)
    task = browser.next(rating).json()
    key = str(uuid.uuid4())
    first = browser.submit(task, {"rating": 5}, submission_id=key)
    again = browser.submit(task, {"rating": 5}, submission_id=key)
    assert first.status_code == again.status_code == 200
    assert first.json()["annotation"] == again.json()["annotation"]
    assert Annotation.objects.count() == 1


def test_an_answer_of_a_closed_campaign_is_saved_though_no_task_follows(rating, lead):
    browser = Browser(new_annotator(rating).user)
    task = browser.next(rating).json()
    lifecycle.close(campaign=rating, by=lead)
    saved = browser.submit(task, {"rating": 5})
    assert saved.status_code == 200
    assert (saved.json()["status"], saved.json()["next"]) == ("accepted", None)
    assert saved.json()["why"] == "campaign_not_open"


def test_the_task_of_another_is_not_found(rating):
    task = Browser(new_annotator(rating).user).next(rating).json()
    other = Browser(new_annotator(rating).user)
    assert other.submit(task, {"rating": 5}).status_code == 404
    assert other.post(f"assignments/{task['assignment']}/skip").status_code == 404
    assert Assignment.objects.get().state == "leased"


def test_a_campaign_of_others_is_not_found(rating, lead, annotator):
    assert Browser(annotator.user).next(rating).status_code == 404
    assert Browser(lead).next(rating).status_code == 404
    assert Browser(annotator.user, ["read"]).get(f"campaigns/{rating.pk}/").status_code == 404


def test_a_token_needs_the_scope(rating):
    user = new_annotator(rating).user
    refused = Browser(user, ["read"]).next(rating)
    assert refused.status_code == 403
    assert refused.json()["error"]["code"] == "permission_denied"


def test_nobody_labels_without_signing_in(rating, client):
    assert client.post(f"/api/v1/campaigns/{rating.pk}/next").status_code == 401


def test_a_browser_session_must_send_its_csrf_token(rating):
    client = Client(enforce_csrf_checks=True)
    client.force_login(new_annotator(rating).user)
    address = f"/api/v1/campaigns/{rating.pk}/next"
    assert client.post(address, content_type="application/json").status_code == 403
    client.cookies["stereoscope_csrf"] = token = "a" * 32
    answer = client.post(address, content_type="application/json", headers={"x-csrftoken": token})
    assert answer.status_code == 200


@pytest.mark.parametrize(
    ("body", "field"),
    [
        ({}, "submission_id"),
        ({"submission_id": "1"}, "submission_id"),
        ({"submission_id": str(uuid.uuid4())}, "answer"),
        ({"submission_id": str(uuid.uuid4()), "answer": {"rating": 6}}, "answer.rating"),
        ({"submission_id": str(uuid.uuid4()), "answer": {"rating": 3}}, "answer.justification"),
        (
            {"submission_id": str(uuid.uuid4()), "answer": {"rating": 4}, "active_seconds": -1},
            "active_seconds",
        ),
    ],
)
def test_a_wrong_submission_names_its_field_and_writes_nothing(rating, body, field):
    browser = Browser(new_annotator(rating).user)
    task = browser.next(rating).json()
    refused = browser.post(f"assignments/{task['assignment']}/submit", body)
    assert refused.status_code == 400
    assert list(refused.json()["error"]["fields"]) == [field]
    assert not Annotation.objects.exists()


@pytest.mark.parametrize("body", ["[]", "3", '"text"', "null"])
def test_a_body_that_is_no_object_is_refused(rating, body):
    browser = Browser(new_annotator(rating).user)
    task = browser.next(rating).json()
    answer = browser.client.post(
        f"/api/v1/assignments/{task['assignment']}/submit", body, content_type="application/json"
    )
    assert answer.status_code == 400


def test_invalid_numbers_are_refused_before_anything_is_read(rating):
    browser = Browser(new_annotator(rating).user)
    task = browser.next(rating).json()
    answer = browser.client.post(
        f"/api/v1/assignments/{task['assignment']}/submit",
        '{"active_seconds": NaN}',
        content_type="application/json",
    )
    assert answer.status_code == 400
    assert answer.json()["error"]["code"] == "parse_error"
