"""Nobody can tell a gold task or a repeat from another: same fields, same shapes, same headers, same words."""

import json
import uuid
from datetime import timedelta

import pytest
from django.test import Client
from django.utils import timezone

from accounts import tokens
from annotation.answers.submission_rules import shown_status
from annotation.models import Annotation, Assignment
from tests.annotation.assignment.test_gold_and_repeats import opened
from tests.annotation.factories import new_annotator

pytestmark = pytest.mark.django_db


# Headers that differ for each response: its length, and its id in the logs.
OF_EACH_ANSWER = {"Content-Length", "X-Request-ID"}


def shape(value):
    """Return the fields and their types, without the values."""
    if isinstance(value, dict):
        return {name: shape(one) for name, one in value.items()}
    if isinstance(value, list):
        return [shape(value[0])] if value else []
    return type(value).__name__


class Watched:
    """A client that records shape and headers of every response about a task, by the purpose of the task."""

    def __init__(self, user):
        _, key = tokens.issue(user=user, name="test", scopes=["annotate"])
        self.client = Client(headers={"authorization": f"Bearer {key}"})
        self.seen = {"label": set(), "gold": set(), "repeat": set()}
        self.bytes = b""

    def post(self, path, body=None):
        answer = self.client.post(f"/api/v1/{path}", body, content_type="application/json")
        headers = {name: value for name, value in answer.items() if name not in OF_EACH_ANSWER}
        self.bytes += answer.content + json.dumps(headers).encode()
        return answer, headers

    def keep(self, assignment, what, told, headers):
        purpose = str(Assignment.objects.get(public_id=assignment).purpose)
        self.seen[purpose].add(json.dumps([what, told, headers], sort_keys=True))


def test_checks_look_like_any_other_task(study, lead):
    campaign = opened(study, lead, gold=6, gold_share=0.25, repeat_share=0.25, repeat_after=2)
    anna = new_annotator(campaign)
    browser = Watched(anna.user)
    answer, headers = browser.post(f"campaigns/{campaign.pk}/next")
    task = answer.json()
    while task is not None:
        mine = task["assignment"]
        again, told = browser.post(f"campaigns/{campaign.pk}/next")
        assert again.json()["assignment"] == mine
        browser.keep(mine, "asked", shape(again.json()), told)
        browser.keep(mine, "given", shape(task), {})
        sent = {"submission_id": str(uuid.uuid4()), "answer": {"none_of_the_above": True}}
        answer, headers = browser.post(f"assignments/{mine}/submit", sent)
        saved = answer.json()
        if saved["next"] is not None:
            browser.keep(mine, "saved", shape(saved | {"next": None}), headers)
            browser.keep(mine, "status", saved["status"], {})
            ref = task["attributes"][0]["ref"]
            box = {"attribute": ref, "x": 0.1, "y": 0.1, "width": 0.2, "height": 0.2}
            sent = {
                "submission_id": str(uuid.uuid4()),
                "answer": {"ticked": [ref], "boxes": [box], "none_of_the_above": False},
            }
            answer, headers = browser.post(f"assignments/{mine}/submit", sent)
            browser.keep(mine, "corrected", shape(answer.json() | {"next": None}), headers)
            browser.keep(mine, "status again", answer.json()["status"], {})
        task = saved["next"]
    assert browser.seen["label"]
    assert browser.seen["gold"] == browser.seen["label"] == browser.seen["repeat"]
    assert not any(word in browser.bytes for word in (b"gold", b"repeat", b"purpose"))
    assert {"gold", "repeat"} <= set(Annotation.objects.values_list("status", flat=True))


def test_the_lists_of_an_annotator_name_no_check(study, lead, client):
    campaign = opened(study, lead, gold=6, gold_share=0.4, repeat_share=0.3, repeat_after=1)
    anna = new_annotator(campaign)
    browser = Watched(anna.user)
    task = browser.post(f"campaigns/{campaign.pk}/next")[0].json()
    while task is not None:
        sent = {"submission_id": str(uuid.uuid4()), "answer": {"none_of_the_above": True}}
        task = browser.post(f"assignments/{task['assignment']}/submit", sent)[0].json()["next"]
    client.force_login(anna.user)
    for page in ("", f"{campaign.pk}/answers/", f"{campaign.pk}/previous/", f"{campaign.pk}/done/"):
        text = client.get(f"/annotate/{page}").text.lower()
        assert not any(word in text for word in ("gold", "repeat", "purpose"))


@pytest.mark.parametrize(
    ("status", "told"),
    [("accepted", "accepted"), ("gold", "accepted"), ("repeat", "accepted"), ("surplus", "surplus")],
)
def test_the_outcome_of_an_answer_is_reported_without_revealing_checks(status, told):
    now = timezone.now()
    assert shown_status(status, ended_at=now, expires_at=now, closed_at=None) == told


@pytest.mark.parametrize("status", ["gold", "repeat"])
def test_a_late_check_after_closing_is_reported_like_any_task(status):
    closed = timezone.now()
    moments = {"ended_at": closed + timedelta(minutes=1), "closed_at": closed}
    assert shown_status(status, expires_at=closed, **moments) == "surplus"
    assert shown_status(status, expires_at=closed + timedelta(minutes=2), **moments) == "accepted"
    # A lease has run out at its last moment, as for a label.
    assert shown_status(status, ended_at=closed, expires_at=closed, closed_at=closed) == "surplus"


def test_a_reached_daily_cap_is_reported_over_http(study, lead):
    campaign = opened(study, lead, tasks_per_day=1)
    browser = Watched(new_annotator(campaign).user)
    task = browser.post(f"campaigns/{campaign.pk}/next")[0].json()
    sent = {"submission_id": str(uuid.uuid4()), "answer": {"none_of_the_above": True}}
    saved = browser.post(f"assignments/{task['assignment']}/submit", sent)[0].json()
    assert (saved["status"], saved["next"], saved["why"]) == ("accepted", None, "enough_for_today")
    assert browser.post(f"campaigns/{campaign.pk}/next")[0].status_code == 204
