"""A push finds copies, gaps and unneeded tasks in a real Label Studio, and deletes no answer with any of them."""

import httpx
import pytest
from django.utils import timezone

from annotation.campaigns import extension
from annotation.label_studio.base import job_queue
from annotation.label_studio.models import LabelStudioProject, LabelStudioTask
from annotation.label_studio.push import drift
from annotation.label_studio.push.sync import push
from annotation.models import Campaign
from tests.services.label_studio.push.campaigns import (
    SITE,
    answer_there,
    ask,
    begun,
    rating_of,
    recorded,
    there,
    written_down,
)
from tests.services.label_studio.study import do_jobs

pytestmark = [pytest.mark.services, pytest.mark.django_db]


@pytest.fixture(autouse=True)
def _site(settings):
    settings.SITE_URL = SITE


@pytest.fixture
def rating(study, lead) -> Campaign:
    return rating_of(study, lead)


def copied(label_studio, project: int, data: dict) -> int:
    """Create another task with the same data, as an import does whose response was lost."""
    ask(label_studio, "POST", f"/api/projects/{project}/import", [{"data": data}])
    said = ask(label_studio, "GET", f"/api/tasks/?project={project}&page_size=100")["tasks"]
    return max(one["id"] for one in said)


def test_nobody_can_answer_a_task_that_was_seen_unanswered_long_ago_and_is_removed(
    label_studio, rating, lead, monkeypatch
):
    monkeypatch.setattr(drift, "REMOVED_AT_ONCE", 2)
    answers: list[tuple[int, int]] = []
    with recorded(label_studio.url) as proxy:
        bridge = begun(label_studio, rating, lead, url=proxy.url)
        extension.extend(campaign=rating, by=lead, annotators_per_task=3)
        push(bridge=bridge, by=lead)
        numbers = sorted(bridge.projects.get(slot=3).tasks.values_list("external_id", flat=True))
        extension.extend(campaign=rating, by=lead, annotators_per_task=2)

        def look(method: str, path: str) -> None:
            if method == "GET" and f"/api/tasks/{numbers[-1]}/" in path and not answers:
                token = label_studio.annotators[0].token
                for number in (numbers[0], numbers[-1]):
                    said = httpx.post(
                        f"{label_studio.url}/api/tasks/{number}/annotations/",
                        headers={"Authorization": f"Token {token}"},
                        json={"result": [], "lead_time": 1.0},
                        timeout=60,
                    )
                    answers.append((number, said.status_code))
                    proxy.before_answer = lambda method, path: None
                    break

        proxy.before_answer = look
        assert push(bridge=bridge, by=lead).taken_back == len(numbers)
    assert answers == [(numbers[0], 404)]  # the task was gone, so no answer was accepted and then removed


def test_of_a_task_that_stands_there_twice_the_answered_one_stays(label_studio, rating, lead):
    bridge = begun(label_studio, rating, lead, "shared")
    push(bridge=bridge, by=lead)
    project = bridge.projects.get()
    (held,) = there(label_studio, bridge).values()
    first, *_ = known = sorted(held)
    copy = copied(label_studio, project.external_id, held[first])
    answer_there(label_studio, copy, label_studio.annotators[0])
    assert push(bridge=bridge, by=lead).sent == 0
    assert written_down(bridge) == {project.external_id: {copy, *known[1:]}}
    assert set(there(label_studio, bridge)[project.external_id]) == {copy, *known[1:]}
    job_queue.start_reconcile(bridge=bridge, by=None)
    do_jobs()
    assert project.annotations.get().external_task == copy


def test_answers_to_both_copies_of_a_task_stay_and_that_is_said(label_studio, rating, lead):
    bridge = begun(label_studio, rating, lead, "shared")
    push(bridge=bridge, by=lead)
    project = bridge.projects.get()
    (held,) = there(label_studio, bridge).values()
    copy = copied(label_studio, project.external_id, held[min(held)])
    for number, person in zip((min(held), copy), label_studio.annotators, strict=False):
        answer_there(label_studio, number, person)
    report = push(bridge=bridge, by=lead)
    assert "1 task is in a project twice, and both copies were answered" in str(report)
    assert set(there(label_studio, bridge)[project.external_id]) == {copy, *held}


def test_as_many_tasks_as_were_sent_are_looked_at_where_some_are_known_to_be_missing(
    label_studio, rating, lead
):
    bridge = begun(label_studio, rating, lead, "shared")
    push(bridge=bridge, by=lead)
    project = bridge.projects.get()
    lost = project.tasks.order_by("pk").last()
    ask(label_studio, "DELETE", f"/api/tasks/{lost.external_id}/")
    copied(label_studio, project.external_id, {"ref": "", "attribute": "of somebody else"})
    job_queue.start_reconcile(bridge=bridge, by=None)
    do_jobs()
    assert push(bridge=bridge, by=lead).sent == 1
    assert LabelStudioTask.objects.filter(project=project, task=lost.task_id).exclude(pk=lost.pk).exists()


def test_a_project_that_could_not_be_seen_for_a_while_is_gone_on_with(label_studio, rating, lead):
    bridge = begun(label_studio, rating, lead)
    push(bridge=bridge, by=lead)
    before = there(label_studio, bridge)
    project = bridge.projects.get(slot=1)
    answer_there(label_studio, min(before[project.external_id]), label_studio.annotators[0])
    job_queue.start_reconcile(bridge=bridge, by=None)
    do_jobs()
    # As after a push that is killed after the project was marked as gone.
    LabelStudioProject.objects.filter(pk=project.pk).update(gone_at=timezone.now())
    project.tasks.all().delete()
    report = push(bridge=bridge, by=lead)
    assert (report.sent, report.remade, report.adopted) == (0, 0, len(before[project.external_id]))
    again = bridge.projects.get(slot=1)
    assert (again.pk, again.gone_at) == (project.pk, None)
    assert there(label_studio, bridge) == before
