"""Rows that a server has but does not list are not lost here."""

import pytest
from django.test import override_settings

from annotation.label_studio.client.errors import Trouble
from annotation.label_studio.client.rest import Client
from annotation.label_studio.models import LabelStudioProject
from annotation.label_studio.push.drift import take_stock
from jobs.progress.reporter import Unwatched
from tests.annotation.label_studio.client.stub_servers import by_path, says, serving
from tests.annotation.label_studio.rows import bridge_of

pytestmark = pytest.mark.django_db
TOKEN = "a" * 40


@pytest.fixture(autouse=True)
def _here():
    with override_settings(LABEL_STUDIO_ALLOWED_HOSTS=["127.0.0.1"]):
        yield


@pytest.mark.parametrize("total", [0, 50])
def test_tasks_that_a_project_does_not_list_are_not_forgotten(rating, total):
    bridge_of(rating)
    project = LabelStudioProject.objects.select_related("bridge__campaign").get(slot=1)
    sent = project.tasks.count()
    project_says = says({"id": 11, "title": "Campaign", "task_number": sent + 1})
    listing = says({"tasks": [], "total": total})
    with (
        serving(by_path(tasks=listing, **{"11": project_says})) as served,
        Client(served.url, TOKEN) as client,
        pytest.raises(Trouble) as told,
    ):
        take_stock(client, project, sent + 1, Unwatched())
    assert told.value.code == "garbage"
    assert project.tasks.count() == sent


@pytest.mark.parametrize("further", [[], [{"id": 3}]])
def test_an_endless_list_of_projects_is_not_followed(further):
    listing = says({"results": further, "next": "/api/projects/?page=2"})
    with serving(listing) as served, Client(served.url, TOKEN) as client, pytest.raises(Trouble) as told:
        list(client.projects(title="Campaign"))
    assert told.value.code == "garbage"
    assert len(served.requests) <= 2
