"""Every address of the API that takes a body refuses fields that it does not know, and names them."""

import pytest

from annotation.campaigns import known_tasks
from annotation.label_studio.models import LabelStudioAnnotation
from annotation.models import Annotation, Campaign, Task
from catalog.models import Attribute
from jobs.models import Job
from tests.annotation.api.test_labelling import Browser
from tests.annotation.conftest import marking
from tests.annotation.factories import new_annotator
from tests.annotation.label_studio.rows import bridge_of, seen, user_of
from tests.front.test_hostile_requests import endpoints, probe_answer, root, sent

__all__ = ["marking", "root"]
pytestmark = pytest.mark.django_db

# Label Studio decides what its webhooks contain.
BODIES = [(method, path) for method, path in endpoints() if "webhooks" not in path]


@pytest.fixture
def practice_task(marking, lead) -> Task:
    hat = Attribute.objects.get(text="tall hat")
    return known_tasks.add(
        campaign=marking,
        purpose=Task.Purpose.PRACTICE,
        by=lead,
        content=known_tasks.TaskContent(image=marking.study.images.first(), attributes=[hat]),
        answers={hat: True},
    )


def address_of(path: str, marking: Campaign, labeller: Browser) -> str:
    """Return an address of this form whose objects exist."""
    if "{public_id}" in path:
        step = "practice/next" if "practice" in path else "next"
        task = labeller.post(f"campaigns/{marking.pk}/{step}").json()
        return path.replace("{public_id}", task.get("assignment") or task["task"])
    if "probe-runs/" in path or "v1/answers/" in path:
        answer = probe_answer(marking.study)
        number = answer.run_id if "probe-runs/" in path else answer.pk
        return path.replace("{slug}", marking.study.slug).replace("{id}", str(number))
    bridge = bridge_of(marking)
    worker = user_of(bridge.server, 5)
    (answer,) = seen(bridge, worker, state=LabelStudioAnnotation.State.FLAGGED)
    id_of = {"campaigns/": marking.pk, "people/": worker.pk, "answers/": answer.pk}
    number = next((pk for part, pk in id_of.items() if f"{part}{{id}}" in path), bridge.server_id)
    return path.replace("{slug}", marking.study.slug).replace("{id}", str(number))


@pytest.mark.parametrize(("method", "path"), BODIES, ids=lambda value: str(value))
def test_an_unknown_field_is_refused_by_name(method, path, marking, root, request):
    if "practice" in path:
        request.getfixturevalue("practice_task")
    marking.study.memberships.create(user=root.user, role="lead")
    labeller = Browser(new_annotator(marking).user)
    address = address_of(path, marking, labeller)
    browser = labeller if "{public_id}" in path else root
    answer = sent(browser.client, method, address, '{"no_such_field": 1, "nor_this": null}')
    error = answer.json()["error"]
    assert (answer.status_code, error["code"]) == (400, "field_unknown"), error
    assert error["fields"].keys() == {"no_such_field", "nor_this"}
    assert "no_such_field" in error["message"]
    assert not Annotation.objects.exists()
    assert not Job.objects.exists()


def test_the_schema_lists_all_that_is_tested():
    assert len(BODIES) > 15
