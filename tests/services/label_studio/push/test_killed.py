"""Pushes that are killed at the worst moment, and two at once: each task and each project exists there once."""

from collections import Counter

import pytest

from annotation.label_studio.client.rest import Client
from tests.foundation.database.own_database import own_server
from tests.services.annotators import campaign
from tests.services.label_studio.push.campaigns import recorded

pytestmark = [pytest.mark.services, pytest.mark.slow]
TASKS = 1300  # more than one request sends
BEGIN = """
from annotation.label_studio.base import connections
from annotation.label_studio.push import lifecycle
from annotation.models import Campaign
campaign = Campaign.objects.get(pk={campaign})
server = connections.connect(study=campaign.study, url="{url}", token="{token}", by=None)
lifecycle.begin(campaign=campaign, server=server, arrangement="per_slot", by=None)
answer = None
"""
PUSH = """
from foundation.errors import Conflict
from annotation.label_studio.push.sync import push
from annotation.label_studio.models import LabelStudioBridge
try:
    report = push(bridge=LabelStudioBridge.objects.get(), by=None)
except Conflict as refused:
    answer = refused.code
else:
    answer = {"sent": report.sent, "adopted": report.adopted, "present": report.present}
"""
KNOWN = (
    "SELECT p.external_id, t.external_id FROM annotation_labelstudiotask t"
    " JOIN annotation_labelstudioproject p ON p.id = t.project_id"
)


@pytest.fixture
def bridged(label_studio, tmp_path):
    """The platform with a campaign that will be labelled in a Label Studio behind a proxy."""
    with (
        recorded(label_studio.url) as proxy,
        own_server(
            tmp_path, SITE_URL="https://stereoscope.example.org", LABEL_STUDIO_ALLOWED_HOSTS="127.0.0.1"
        ) as server,
    ):
        made = campaign(server, tasks=TASKS, annotators=1)
        server.ask(BEGIN.format(campaign=made["campaign"], url=proxy.url, token=label_studio.owner.token))
        yield server, proxy


def there(label_studio, server) -> dict[int, list[tuple[int, str]]]:
    """Return (number, ref) of every task in each of the campaign's projects, including unknown projects."""
    with Client(label_studio.url, label_studio.owner.token) as client:
        known = {number for (number,) in server.rows("SELECT external_id FROM annotation_labelstudioproject")}
        titles = {client.project(number)["title"] for number in known}
        ours = [one["id"] for one in client.projects() if one["title"] in titles]
        return {number: list(client.task_refs(number)) for number in ours}


def check(label_studio, server) -> None:
    """Check that every task is in each of three projects once, with its stored number."""
    held = there(label_studio, server)
    assert [len(tasks) for tasks in held.values()] == [TASKS] * 3
    assert max(Counter(ref for tasks in held.values() for _, ref in tasks).values()) == 1
    numbers = {(project, number) for project, tasks in held.items() for number, _ in tasks}
    assert set(server.rows(KNOWN)) == numbers


def killed_after(server, proxy, method: str, part: str, times: int) -> None:
    """Kill a push after Label Studio has executed the `times`-th such request, and before its response arrives."""
    with server.start("shell", "-v", "0", "-c", PUSH) as process:
        seen = []

        def look(asked: str, path: str) -> None:
            if asked == method and part in path:
                seen.append(path)
                if len(seen) == times:
                    process.kill()

        proxy.before_answer = look
        said = process.communicate(timeout=300)[0]
        proxy.before_answer = lambda asked, path: None
    assert process.returncode == -9, said


@pytest.mark.database_free
def test_a_push_that_is_killed_again_and_again_sends_nothing_twice(label_studio, bridged):
    server, proxy = bridged
    killed_after(server, proxy, "POST", "/api/projects/", 2)  # a project exists that is not stored
    killed_after(server, proxy, "POST", "/import", 1)
    killed_after(server, proxy, "POST", "/import", 2)
    killed_after(server, proxy, "GET", "/api/tasks/", 1)  # while it compares
    last = server.ask(PUSH)
    assert sum(last.values()) == 3 * TASKS
    check(label_studio, server)
    assert server.ask(PUSH) == {"sent": 0, "adopted": 0, "present": 3 * TASKS}


@pytest.mark.database_free
def test_two_pushes_at_once_send_each_task_once(label_studio, bridged):
    server, proxy = bridged
    others = []

    def look(method: str, path: str) -> None:
        if "/import" in path and not others:
            others.append(None)
            others.append(server.ask(PUSH))

    proxy.before_answer = look
    first = server.ask(PUSH)
    assert others == [None, "label_studio_push_under_way"]
    assert first == {"sent": 3 * TASKS, "adopted": 0, "present": 0}
    check(label_studio, server)
