"""Webhooks of Label Studio: accepted at once, only numbers are read, refused without a reason."""

import json
import uuid
from datetime import timedelta

import pytest
from django.core.cache import cache
from django.utils import timezone

from annotation.label_studio import background
from annotation.label_studio.base import job_queue
from annotation.label_studio.client.encryption import seal
from annotation.label_studio.models import LabelStudioBridge, LabelStudioEvent, LabelStudioServer
from annotation.label_studio.pull import webhooks
from annotation.label_studio.pull.webhooks import EVERYTHING
from jobs.models import Job
from tests.annotation.conftest import rating

__all__ = ["rating"]

ADDRESS = "/api/v1/webhooks/label-studio"
KEY, SECRET = "the secret of the address", "the secret of the header"
CREATED = {
    "action": "ANNOTATION_CREATED",
    "annotation": {"id": 11, "task": 7, "result": [{"value": "never read"}], "completed_by": 3},
    "task": {"id": 7, "data": {"ref": "never read"}},
    "project": {"id": 2, "title": "never read"},
}


@pytest.fixture(autouse=True)
def _empty_cache():
    cache.clear()


@pytest.fixture
def bridge(rating, study, lead) -> LabelStudioBridge:
    server = LabelStudioServer.objects.create(
        study=study, url="https://label.example.org", token=seal("token")
    )
    return LabelStudioBridge.objects.create(
        campaign=rating, server=server, address_secret=seal(KEY), header_secret=seal(SECRET), created_by=lead
    )


@pytest.fixture
def send(client, bridge):
    def send(body=CREATED, *, bridge=bridge.public_id, key=KEY, secret=SECRET, **options):
        content = body if isinstance(body, bytes) else json.dumps(body).encode()
        headers = {} if secret is None else {"X-Stereoscope-Secret": secret}
        asked = "&".join(
            f"{name}={value}" for name, value in (("bridge", bridge), ("key", key)) if value is not None
        )
        return client.post(
            f"{ADDRESS}?{asked}", content, content_type="application/json", headers=headers, **options
        )

    return send


def test_a_valid_webhook_is_stored_and_starts_a_job(send, bridge):
    answer = send()
    assert (answer.status_code, answer.json()) == (202, {})
    event = LabelStudioEvent.objects.get()
    assert (event.action, event.project, event.tasks, event.annotations) == (
        "ANNOTATION_CREATED",
        2,
        [7],
        [11],
    )
    assert event.done_at is None
    job = Job.objects.get()
    assert (job.kind, job.arguments, job.study_id) == (
        job_queue.EVENTS,
        {"bridge": bridge.pk},
        bridge.campaign.study_id,
    )
    bridge.refresh_from_db()
    assert timezone.now() - bridge.event_at < timedelta(minutes=1)


def test_a_second_webhook_shares_the_waiting_job(send):
    send()
    send()
    assert (LabelStudioEvent.objects.count(), Job.objects.count()) == (2, 1)
    Job.objects.update(state=Job.State.RUNNING)
    send()
    assert Job.objects.filter(state=Job.State.QUEUED).count() == 1


def test_no_session_and_no_csrf_token_is_needed_and_a_slash_does_not_matter(bridge):
    from django.test import Client

    client = Client(enforce_csrf_checks=True)
    for address in (ADDRESS, f"{ADDRESS}/"):
        answer = client.post(
            f"{address}?bridge={bridge.public_id}&key={KEY}",
            CREATED,
            content_type="application/json",
            headers={"X-Stereoscope-Secret": SECRET},
        )
        assert answer.status_code == 202


@pytest.mark.parametrize(
    "wrong",
    [
        {"bridge": None},
        {"bridge": "no-uuid"},
        {"bridge": uuid.UUID(int=7)},
        {"key": None},
        {"key": ""},
        {"key": SECRET},
        {"key": KEY[:-1]},
        {"secret": None},
        {"secret": ""},
        {"secret": KEY},
        {"secret": f"{SECRET}x"},
        {"key": "\u00e9"},
        {"body": b""},
        {"body": b"\xff\xfe"},
        {"body": b"no json"},
        {"body": b"[" * 100_000},
        {"body": []},
        {"body": {}},
        {"body": {"action": 7}},
        {"body": {"action": "ANNOTATION_CREATED\u0000"}},
        {"body": {"action": "A" * 61}},
        {"body": {"action": "drop table"}},
        {"body": {**CREATED, "much": "x" * webhooks.MAX_BYTES}},
    ],
    ids=str,
)
def test_invalid_webhooks_all_get_the_same_response_and_store_nothing(send, wrong):
    answer = send(**wrong)
    assert answer.status_code == 404
    assert answer.json()["error"] == {
        "code": "webhook_not_found",
        "message": "There is no such webhook.",
        "fields": {},
    }
    assert not LabelStudioEvent.objects.exists()
    assert not Job.objects.exists()


def test_only_numbers_are_read_from_a_webhook(send):
    numbers = [
        {"id": 1},
        {"id": True},
        {"id": "2"},
        {"id": -3},
        {"id": 2**63},
        {"id": 4.0},
        {},
        5,
        None,
        {"id": 6},
    ]
    send({"action": "ANNOTATIONS_DELETED", "annotations": numbers, "project": {"id": "9"}, "task": [1]})
    event = LabelStudioEvent.objects.get()
    assert (event.annotations, event.tasks, event.project) == ([1, 6], [], None)


def test_several_created_at_once_name_all_their_tasks(send):
    send(
        {
            "action": "ANNOTATIONS_CREATED",
            "annotation": [{"id": 1, "task": 5}, {"id": 2, "task": 6}],
            "task": [{"id": 5}, {"id": 6}],
        }
    )
    assert LabelStudioEvent.objects.get().tasks == [5, 6]


def test_unknown_actions_are_stored_too(send):
    assert send({"action": "SOMETHING_NEW", "project": {"id": 12345}}).status_code == 202
    assert LabelStudioEvent.objects.get().action == "SOMETHING_NEW"


def test_a_flood_of_webhooks_becomes_one_full_comparison(send, bridge, monkeypatch):
    monkeypatch.setattr(webhooks, "MOST_WAITING", 3)
    for _ in range(10):
        assert send().status_code == 202
    actions = LabelStudioEvent.objects.order_by("pk").values_list("action", flat=True)
    assert list(actions) == ["ANNOTATION_CREATED"] * 3 + [EVERYTHING]


def test_a_webhook_with_very_many_rows_requests_a_full_comparison(send, monkeypatch):
    monkeypatch.setattr(webhooks, "MOST_ROWS", 3)
    send({"action": "ANNOTATIONS_DELETED", "annotations": [{"id": n} for n in range(1, 6)]})
    event = LabelStudioEvent.objects.get()
    assert (event.action, event.annotations) == (EVERYTHING, [])


def test_repeated_invalid_webhooks_do_not_block_valid_ones(send):
    """Behind a proxy, all senders share one address."""
    for _ in range(130):
        assert send(secret="guess").status_code == 404
    assert send().status_code == 202


def test_no_job_is_started_right_after_such_jobs_failed(send, bridge, settings):
    settings.JOB_BACKOFF_SECONDS = 60
    send()
    job = Job.objects.get()
    Job.objects.update(state=Job.State.FAILED, finished_at=timezone.now())
    assert send().status_code == 202
    assert Job.objects.get() == job
    Job.objects.update(finished_at=timezone.now() - timedelta(seconds=61))
    send()
    assert Job.objects.count() == 2


def test_webhooks_are_refused_after_a_change_of_the_secret_key(send, settings):
    settings.SECRET_KEY = "another key, long enough to be one"
    assert send().status_code == 404


def test_a_webhook_takes_few_queries(send, django_assert_max_num_queries):
    send()
    Job.objects.all().delete()
    with django_assert_max_num_queries(14):
        send()


def test_other_methods_are_refused_and_the_webhook_is_documented(client, bridge):
    assert client.get(ADDRESS).status_code in (401, 403, 404, 405)
    schema = client.get("/api/schema/?format=json").json()
    assert set(schema["paths"][ADDRESS]["post"]["responses"]) == {"202", "404"}


def test_the_sweep_removes_old_events_and_processes_waiting_ones(bridge):
    now = timezone.now()
    kept = LabelStudioEvent.objects.create(bridge=bridge, action="A", done_at=now)
    old = LabelStudioEvent.objects.create(bridge=bridge, action="A", done_at=now - timedelta(days=15))
    waiting = LabelStudioEvent.objects.create(bridge=bridge, action="A")
    background.sweep()
    assert set(LabelStudioEvent.objects.values_list("pk", flat=True)) == {kept.pk, waiting.pk}, old
    assert list(Job.objects.values_list("kind", flat=True)) == [job_queue.EVENTS]
