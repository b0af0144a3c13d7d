"""Pictures in a real Label Studio get new addresses, despite losses there and interruptions."""

import pytest
from django.core.cache import cache
from django.test import Client as Browser

from annotation.label_studio import background
from annotation.label_studio.base import job_queue
from annotation.label_studio.models import LabelStudioBridge, LabelStudioTask
from annotation.label_studio.overview.queries import bridge_summary
from annotation.label_studio.push import image_access
from annotation.label_studio.push.sync import push
from annotation.models import Campaign
from foundation.errors import Conflict
from jobs.progress.reporter import Unwatched
from tests.services.label_studio.push.campaigns import SITE, ask, begun, marking_of, rating_of, there
from tests.services.label_studio.study import do_jobs

pytestmark = [pytest.mark.services, pytest.mark.django_db]


@pytest.fixture(autouse=True)
def _site(settings):
    settings.SITE_URL = SITE


@pytest.fixture
def marking(study, lead) -> Campaign:
    return marking_of(study, lead)


def statuses(label_studio, bridge: LabelStudioBridge) -> list[int]:
    """Return a browser's status for each picture in Label Studio."""
    held = there(label_studio, bridge).values()
    paths = [data["image"].removeprefix(SITE) for tasks in held for data in tasks.values()]
    return [Browser().get(path).status_code for path in paths]


class Interrupted(Unwatched):
    """Ends the work after a number of steps, as when somebody stops the job."""

    def __init__(self, steps: int) -> None:
        self.left = steps

    def check_cancelled(self) -> None:
        self.left -= 1
        if self.left < 0:
            raise InterruptedError


def test_a_task_that_is_gone_there_keeps_no_other_from_its_picture(label_studio, marking, lead):
    bridge = begun(label_studio, marking, lead, "shared")
    push(bridge=bridge, by=lead)
    first = LabelStudioTask.objects.order_by("external_id")[1]
    ask(label_studio, "DELETE", f"/api/tasks/{first.external_id}/")
    assert image_access.replace_addresses(bridge=bridge, by=lead) == marking.tasks.count() - 1
    assert set(statuses(label_studio, bridge)) == {200}
    assert not image_access.without_picture(LabelStudioBridge.objects.get()).exists()


def test_addresses_that_were_replaced_halfway_are_gone_on_with_and_not_made_void_again(
    label_studio, marking, lead
):
    bridge = begun(label_studio, marking, lead, "shared")
    push(bridge=bridge, by=lead)
    tasks = marking.tasks.count()
    with pytest.raises(InterruptedError):
        image_access.replace_addresses(bridge=bridge, by=lead, progress=Interrupted(3))
    bridge.refresh_from_db()
    assert (bridge.images_version, image_access.without_picture(bridge).count()) == (2, tasks - 3)
    assert f"{tasks - 3} screens show no picture in Label Studio." in bridge_summary(bridge).behind
    assert sorted(statuses(label_studio, bridge)) == [200] * 3 + [404] * (tasks - 3)
    cache.clear()
    background.sweep()
    assert job_queue.jobs_of(bridge, job_queue.ADDRESSES).count() == 1
    do_jobs()
    assert set(statuses(label_studio, bridge)) == {200}
    bridge.refresh_from_db()
    assert bridge.images_version == 2
    assert bridge_summary(bridge).behind == []
    assert image_access.replace_addresses(bridge=bridge, by=lead, finish=True) == 0
    assert image_access.replace_addresses(bridge=bridge, by=lead) == tasks
    bridge.refresh_from_db()
    assert bridge.images_version == 3
    # Tasks that exist only there: their pictures' addresses are unknown, so they get new ones.
    LabelStudioTask.objects.all().delete()
    assert push(bridge=bridge, by=lead).adopted == tasks
    assert not image_access.without_picture(bridge).exists()


def test_ratings_show_no_pictures(label_studio, study, lead):
    bridge = begun(label_studio, rating_of(study, lead), lead, "shared")
    assert bridge.images_until is None
    for verb in (image_access.renew, image_access.make_void, image_access.replace_addresses):
        with pytest.raises(Conflict) as refused:
            verb(bridge=bridge, by=lead)
        assert refused.value.code == "no_pictures"
