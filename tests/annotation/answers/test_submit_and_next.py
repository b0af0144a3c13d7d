"""Submitting and getting the next task in one request: few statements, and the payload of the task's page."""

import uuid

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from accounts import tokens
from annotation.annotator.payload import leased_payload, task_payload
from annotation.answers.submission import SentAnswer, submit_and_next
from annotation.models import Annotation, Assignment, Box, Judgement
from tests.annotation.assignment.test_leases import next_for, slots_are_counted
from tests.annotation.factories import new_annotator

pytestmark = pytest.mark.django_db


def answered(task, *, rating=False):
    if rating:
        return {"rating": 4}
    ref = task["attributes"][0]["ref"]
    box = {"attribute": ref, "x": 0.1, "y": 0.2, "width": 0.3, "height": 0.4}
    return {"ticked": [ref], "boxes": [box], "none_of_the_above": False}


@pytest.fixture
def post(client):
    def send(annotator, path, body=None):
        _, key = tokens.issue(user=annotator.user, name="test", scopes=["annotate"])
        headers = {"authorization": f"Bearer {key}"}
        return client.post(f"/api/v1/{path}", body, content_type="application/json", headers=headers)

    return send


@pytest.mark.parametrize("kind", ["marking", "rating"])
def test_the_whole_answer_is_stored(request, post, kind):
    campaign = request.getfixturevalue(kind)
    anna = new_annotator(campaign)
    task = post(anna, f"campaigns/{campaign.pk}/next").json()
    sent = {"submission_id": str(uuid.uuid4()), "answer": answered(task, rating=kind == "rating")}
    saved = post(anna, f"assignments/{task['assignment']}/submit", {**sent, "active_seconds": 0}).json()
    kept = Annotation.objects.get(pk=saved["annotation"])
    assert (str(kept.submission_id), kept.status, kept.revision) == (sent["submission_id"], "accepted", 1)
    assert (kept.is_latest, kept.instrument, kept.active_seconds) == (True, campaign.instruments.get(), 0)
    assert kept.submitted_at is not None
    assert Judgement.objects.filter(annotation=kept).count() == kept.task.task_attributes.count()
    assert Box.objects.filter(judgement__annotation=kept, judgement__present=True).count() == (
        kind == "marking"
    )
    assert saved["next"]["assignment"] != task["assignment"]
    following = Assignment.objects.get(public_id=saved["next"]["assignment"])
    assert (following.state, following.slot) == ("leased", 0)
    assert slots_are_counted()
    assert post(anna, f"assignments/{task['assignment']}/submit", sent).json()["annotation"] == kept.pk


def test_both_ways_to_build_the_payload_agree(marking):
    anna = new_annotator(marking)
    leased = next_for(anna, marking)
    assert leased_payload(leased, marking) == task_payload(Assignment.objects.get(pk=leased.pk))


def test_a_submission_needs_few_statements(marking):
    anna = new_annotator(marking)
    leased = next_for(anna, marking)
    for at_most in (None, 13):
        with CaptureQueriesContext(connection) as statements:
            answer = {"none_of_the_above": True}
            saved = submit_and_next(SentAnswer(anna.user_id, leased.public_id, uuid.uuid4(), answer))
            leased_payload(saved.following, marking)
        leased = saved.following
        # In the first round, the process also reads the campaign, which it then caches.
        assert at_most is None or len(statements) <= at_most, [one["sql"] for one in statements]
