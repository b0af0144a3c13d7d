"""While a campaign is labelled in Label Studio, our own pages give out no task and explain why."""

import uuid

import pytest
from django.test import Client

from accounts import profiles
from annotation.answers.submission import SentAnswer, submit_and_next
from annotation.assignment import leases
from annotation.assignment.eligibility import refusal_to_give
from annotation.models import Annotation
from tests.annotation.factories import new_annotator
from tests.annotation.label_studio.rows import bridge_of

pytestmark = pytest.mark.django_db


@pytest.fixture
def anna(marking):
    return new_annotator(marking)


@pytest.fixture
def pages(anna) -> Client:
    client = Client()
    client.force_login(anna.user)
    return client


@pytest.mark.parametrize(
    ("language", "words", "row"),
    [
        ("en", "Your tasks are in Label Studio", "in Label Studio"),
        ("de", "Ihre Aufgaben sind in Label Studio", "in Label Studio"),
    ],
)
def test_annotators_are_directed_to_label_studio(marking, anna, pages, language, words, row):
    bridge_of(marking)
    profiles.describe(annotator=anna, gender="woman")
    shown = pages.get(f"/annotate/{marking.pk}/", follow=True, headers={"accept-language": language})
    assert shown.redirect_chain[-1][0].endswith("/done/")
    assert words in shown.content.decode()
    home = pages.get("/annotate/", headers={"accept-language": language}).content.decode()
    assert row in home


def test_the_api_refuses_tasks_of_a_bridged_campaign(marking, pages):
    bridge_of(marking)
    refused = pages.post(f"/api/v1/campaigns/{marking.pk}/next", headers={"x-requested-with": "fetch"})
    assert refused.status_code == 409, refused.content
    assert refused.json()["error"]["code"] == "labelled_in_label_studio"


def test_an_open_task_can_still_be_answered_and_none_follows(marking, anna):
    leased = leases.next_assignment(campaign=marking, annotator=anna)
    bridge_of(marking)
    answer = {"none_of_the_above": True}
    saved = submit_and_next(SentAnswer(anna.user_id, leased.public_id, uuid.uuid4(), answer))
    assert (saved.status, saved.following, saved.why) == ("accepted", None, "labelled_in_label_studio")
    assert Annotation.objects.get().status == "accepted"


def test_without_a_bridge_no_query_is_added(marking, anna, django_assert_num_queries):
    enrolment = leases.lock_enrolment(marking, anna)
    with django_assert_num_queries(0):
        assert refusal_to_give(enrolment.campaign) is None
    bridge_of(marking)
    enrolment = leases.lock_enrolment(marking, anna)
    with django_assert_num_queries(0):
        assert refusal_to_give(enrolment.campaign).code == "labelled_in_label_studio"
