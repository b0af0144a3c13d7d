"""Faults in Label Studio: the campaign keeps its labels, reports the problem, and recovers."""

import json
import threading
import time
from collections.abc import Callable
from contextlib import contextmanager
from datetime import timedelta
from http.server import BaseHTTPRequestHandler

import httpx
import pytest
from django.core.cache import cache
from django.utils import timezone

from annotation.campaigns import lifecycle
from annotation.kinds.registry import UNSURE
from annotation.label_studio import background
from annotation.label_studio.base import job_queue
from annotation.label_studio.client.rest import Client
from annotation.label_studio.models import (
    LabelStudioAnnotation,
    LabelStudioBridge,
    LabelStudioEvent,
    LabelStudioServer,
    LabelStudioTask,
    LabelStudioUser,
)
from annotation.label_studio.pull import problems
from annotation.models import Annotation
from jobs.models import Job
from tests.annotation.label_studio.client.stub_servers import Answer, hangs_up, says, serving, silent
from tests.services.label_studio.annotators import hands_of, rated
from tests.services.label_studio.study import Arrangement, bridged, do_jobs, four_people, known

pytestmark = [pytest.mark.services, pytest.mark.django_db(transaction=True)]
Status = Annotation.Status


@pytest.fixture
def hands(label_studio):
    with hands_of(label_studio, label_studio.annotators[:4]) as hands:
        yield hands


@pytest.fixture
def here(study, lead, label_studio, hands, settings) -> LabelStudioBridge:
    """Return a bridge with a rating campaign whose first three screens each have an answer that counts."""
    settings.SITE_URL = "http://127.0.0.1:9"  # no webhook arrives: changes are found by comparing
    settings.JOB_BACKOFF_SECONDS = 0
    settings.LABEL_STUDIO_TIMEOUT_SECONDS = 10
    draft = lifecycle.create(study=study, name="Ratings", kind="attribute_likert", by=lead)
    rating = lifecycle.open_(campaign=draft, by=lead)
    people = four_people([rating])
    owner = label_studio.owner
    bridge = bridged(rating, Arrangement.SHARED, url=label_studio.url, token=owner.token, lead=lead)
    for task in tasks(bridge)[:3]:
        hands[0].answer(task, rated(2))
    for hand in hands[1:]:
        hand.answer(tasks(bridge)[1], rated(4))
    pull(bridge)
    known([bridge], hands, people, lead)
    assert counted() == 5  # and one too many
    return bridge


def tasks(bridge: LabelStudioBridge) -> list[int]:
    sent = LabelStudioTask.objects.filter(project__bridge=bridge, project__gone_at=None)
    return list(sent.order_by("task").values_list("external_id", flat=True))


def pull(bridge: LabelStudioBridge) -> None:
    job_queue.start_reconcile(bridge=bridge, by=None)
    do_jobs()
    bridge.refresh_from_db()


def push(bridge: LabelStudioBridge) -> None:
    job_queue.start_push(bridge=bridge, by=None)
    do_jobs()
    bridge.refresh_from_db()


def by_itself(bridge: LabelStudioBridge) -> None:
    """Run what workers do periodically."""
    cache.clear()
    background.sweep()
    do_jobs()
    bridge.refresh_from_db()


def due(bridge: LabelStudioBridge) -> None:
    """Make the next full comparison due."""
    LabelStudioBridge.objects.filter(pk=bridge.pk).update(reconciled_at=timezone.now() - timedelta(days=1))


def counted() -> int:
    return Annotation.objects.filter(status=Status.ACCEPTED, is_latest=True).count()


@contextmanager
def answering(bridge: LabelStudioBridge, url: str):
    """Replace Label Studio's address by another server's."""
    before = bridge.server.url
    LabelStudioServer.objects.filter(pk=bridge.server_id).update(url=url)
    yield
    LabelStudioServer.objects.filter(pk=bridge.server_id).update(url=before)


def test_a_server_that_is_down_is_waited_for_and_nobody_has_to_do_anything(
    here, label_studio, hands, settings
):
    task = tasks(here)[4]
    made = hands[0].answer(task, rated(1))
    event = LabelStudioEvent.objects.create(
        bridge=here, action="ANNOTATION_CREATED", tasks=[task], annotations=[made]
    )
    label_studio.stop()
    due(here)
    by_itself(here)
    assert (here.problem, counted()) == ("unreachable", 5)
    assert label_studio.url.rpartition("/")[2] in here.problem_text
    # The pauses between attempts grow.
    settings.JOB_BACKOFF_SECONDS = 60
    failed = Job.objects.filter(kind=job_queue.RECONCILE, state=Job.State.FAILED)
    by_itself(here)
    assert failed.count() == 1
    now = timezone.now()
    failed.update(finished_at=now - timedelta(seconds=61))
    by_itself(here)
    assert failed.count() == 2
    assert not job_queue.may_try(here, job_queue.RECONCILE, now=now + timedelta(seconds=100))
    assert job_queue.may_try(here, job_queue.RECONCILE, now=now + timedelta(seconds=150))
    # While it starts, it sometimes answers, or answers with an error.
    settings.JOB_BACKOFF_SECONDS = 0
    starting = threading.Thread(target=label_studio.start)
    starting.start()
    end = time.monotonic() + 120
    while here.problem or counted() < 6:
        by_itself(here)
        assert time.monotonic() < end, here.problem_text
    starting.join()
    event.refresh_from_db()
    here.server.refresh_from_db()
    assert event.done_at is not None
    assert (here.problem_text, here.server.problem) == ("", "")


ANSWERS = {
    "server_error": says({"detail": "broken"}, status=500),
    "server_error again": says(b"<html>502</html>", status=502, kind="text/html"),
    "garbage": says(b"<html>Welcome</html>", kind="text/html"),
    "garbage again": says({"tasks": "none", "total": 3}),
    "garbage cut off": says(b'{"tasks": [{"id": 1'),
    "unreachable": hangs_up,
    "timeout": silent(30),
}


def test_what_is_no_answer_deletes_nothing(here, settings, monkeypatch):
    """A faulty server, another program in its place, and a listing that breaks off after one page or two."""
    monkeypatch.setattr("annotation.label_studio.pull.fetch.PAGE_SIZE", 1)
    before = list(LabelStudioAnnotation.objects.order_by("pk").values())
    breaking = {f"server_error after {number}": _forwarding(here.server.url, number) for number in (1, 3)}
    for said, answer in (ANSWERS | breaking).items():
        # Only a silent server is waited for until the time-out: a busy server may need more than a second.
        settings.LABEL_STUDIO_TIMEOUT_SECONDS = 1 if said == "timeout" else 30
        with serving(answer) as served, answering(here, served.url):
            pull(here)
        assert here.problem in (said.partition(" ")[0], "wrong_url"), said
        assert here.problem_text
        assert list(LabelStudioAnnotation.objects.order_by("pk").values()) == before, said
        assert counted() == 5
    settings.LABEL_STUDIO_TIMEOUT_SECONDS = 30
    due(here)
    by_itself(here)
    assert (here.problem, counted()) == ("", 5)


def _forwarding(url: str, pages: int) -> Answer:
    """Forward requests, but only for this number of pages of tasks."""
    left = [pages]

    def instead(path: str) -> Answer | None:
        left[0] -= "fields=all" in path
        return says({"detail": "broken"}, status=500) if left[0] < 0 else None

    return _before(url, instead)


def _before(url: str, instead: Callable[[str], Answer | None]) -> Answer:
    """Forward requests for paths without another response."""

    def answer(handler: BaseHTTPRequestHandler) -> None:
        if (other := instead(handler.path)) is not None:
            other(handler)
            return
        headers = {"Authorization": handler.headers["Authorization"]}
        asked = httpx.get(f"{url}{handler.path}", headers=headers, trust_env=False, timeout=60)
        says(asked.content, status=asked.status_code)(handler)

    return answer


def test_an_answer_that_the_server_cannot_show_keeps_no_other_from_coming(here, label_studio, hands):
    """It contains half a character, so that every page with it fails."""
    spoiled, other = tasks(here)[4:6]
    body = json.dumps({"result": rated(UNSURE, "\ud800"), "lead_time": 1})
    told = httpx.post(
        f"{label_studio.url}/api/tasks/{spoiled}/annotations/",
        content=body,
        headers={
            "Authorization": f"Token {label_studio.annotators[1].token}",
            "Content-Type": "application/json",
        },
        trust_env=False,
        timeout=60,
    )
    assert told.status_code == 500
    hands[1].answer(other, rated(1))
    before = list(LabelStudioAnnotation.objects.order_by("pk").values())
    pull(here)
    assert (here.problem, counted()) == (problems.TASKS_UNREADABLE, 6)
    assert f"task {spoiled} of project {here.projects.get().external_id}" in here.problem_text
    assert list(LabelStudioAnnotation.objects.order_by("pk").values())[: len(before)] == before
    # A webhook about it does not block the others.
    hands[2].answer(other, rated(2))
    for task in (spoiled, other):
        LabelStudioEvent.objects.create(bridge=here, action="ANNOTATION_CREATED", tasks=[task])
    job_queue.wake(here)
    do_jobs()
    assert not here.events.filter(done_at=None).exists()
    assert counted() == 7
    label_studio.execute("DELETE FROM task_completion WHERE task_id = ?", spoiled)
    pull(here)
    assert (here.problem, counted()) == ("", 7)


def test_a_project_in_trouble_keeps_no_other_from_being_counted(here, study, lead, label_studio, hands):
    draft = lifecycle.create(study=study, name="Again", kind="attribute_likert", by=lead)
    again = lifecycle.open_(campaign=draft, by=lead)
    owner = label_studio.owner
    bridge = bridged(again, Arrangement.PER_SLOT, url=label_studio.url, token=owner.token, lead=lead)
    first, *_, last = bridge.projects.order_by("slot")
    hands[0].answer(last.tasks.earliest("pk").external_id, rated(2))
    for trouble in (says({"detail": "broken"}, status=500), says({"tasks": 1}), says({}, status=404)):
        broken = _before(
            label_studio.url,
            lambda path, other=trouble: other if f"project={first.external_id}&" in path else None,
        )
        LabelStudioAnnotation.objects.filter(project=last).delete()
        with serving(broken) as served, answering(bridge, served.url):
            pull(bridge)
        assert bridge.problem
        assert not Job.objects.filter(error_code="unexpected").exists()
        row = LabelStudioAnnotation.objects.get(project=last)
        assert row.state != LabelStudioAnnotation.State.NEW


def test_a_token_that_may_not_list_users_still_brings_answers(here, label_studio, hands):
    LabelStudioUser.objects.create(server=here.server, external_id=4711)  # not yet matched with a person
    hands[1].answer(tasks(here)[4], rated(1))
    forbidden = says({"detail": "forbidden"}, status=403)
    proxy = _before(label_studio.url, lambda path: forbidden if path.startswith("/api/users") else None)
    with serving(proxy) as served, answering(here, served.url):
        pull(here)
    assert (here.problem, counted()) == ("", 6)


def test_a_database_that_was_set_back_takes_no_label_along(here, label_studio, lead):
    """Everything there is gone, and the number of our project soon belongs to another one."""
    label_studio.reset_database()
    with Client.of(here.server) as client:
        number = here.projects.get().external_id
        made = 0
        while made < number:
            made = client.create_project(
                title="Another team", configuration="<View/>", annotations_per_task=1, instructions=""
            )
        client.import_tasks(made, [{"text": f"{n}"} for n in range(12)])
    pull(here)
    assert (here.problem, counted()) == (problems.PROJECT_STRANGE, 5)
    assert not LabelStudioAnnotation.objects.filter(deleted_at__isnull=False).exists()
    push(here)
    assert here.problem == ""
    assert here.projects.count() == 2
    assert counted() == 5
    pull(here)
    assert (here.problem, counted()) == ("", 5)


def test_a_project_that_was_deleted_takes_no_label_along(here, hands):
    project, named = here.projects.get(), tasks(here)[0]
    with Client.of(here.server) as client:
        client.delete_project(project.external_id)
    LabelStudioEvent.objects.create(
        bridge=here, action="TASKS_DELETED", project=project.external_id, tasks=[named]
    )
    job_queue.wake(here)
    do_jobs()
    here.refresh_from_db()
    assert (here.problem, counted()) == (problems.PROJECT_GONE, 5)
    pull(here)
    assert (here.problem, counted()) == (problems.PROJECT_GONE, 5)
    assert "Push again" in here.problem_text
    push(here)
    assert (here.problem, counted()) == ("", 5)
    # Screens that still lack answers are in a new project.
    hands[1].answer(tasks(here)[-1], rated(5))
    pull(here)
    assert (here.problem, counted()) == ("", 6)


def test_a_configuration_edited_by_hand_is_said_and_set_back(here, hands):
    project = here.projects.get()
    with Client.of(here.server) as client:
        shown = client.project(project.external_id)["label_config"]
        edited = shown.replace("</Choices>", '<Choice value="Never mind" alias="9"/></Choices>')
        client.update_project(project.external_id, label_config=edited)
        pull(here)
        assert (here.problem, counted()) == (problems.CONFIGURATION_EDITED, 5)
        hands[1].answer(tasks(here)[4], rated(9))
        pull(here)
        refused = LabelStudioAnnotation.objects.get(state=LabelStudioAnnotation.State.REFUSED)
        assert refused.reason
        assert counted() == 5
        hands[1].change(refused.external_id, rated(1))
        push(here)
        assert (here.problem, counted()) == ("", 6)
        assert "Never mind" not in client.project(project.external_id)["label_config"]


def test_what_is_done_by_hand_over_there_is_not_mistaken(here, label_studio, hands):
    # A wrong clock puts no answer into the future.
    made = hands[1].answer(tasks(here)[4], rated(5))
    label_studio.execute(
        "UPDATE task_completion SET created_at = ?, updated_at = ? WHERE id = ?",
        "2099-01-01 00:00:00",
        "2099-01-01 00:00:00",
        made,
    )
    pull(here)
    assert (here.problem, counted()) == ("", 6)
    assert Annotation.objects.latest("pk").submitted_at <= timezone.now()
    # A deleted answer disappears from the results, and another takes its place.
    [mirrored] = LabelStudioAnnotation.objects.filter(task=here.campaign.tasks.order_by("pk")[2])
    hands[0].delete(mirrored.external_id)
    pull(here)
    assert counted() == 5
    hands[0].answer(tasks(here)[2], rated(4))
    pull(here)
    assert counted() == 6
    # An answer to changed data does not answer our question.
    task = tasks(here)[5]
    with Client.of(here.server) as client:
        client.update_task_data(task, {"ref": "something else", "attribute": "something else"})
    hands[1].answer(task, rated(5))
    pull(here)
    assert (here.problem, counted()) == (problems.TASKS_CHANGED, 6)
