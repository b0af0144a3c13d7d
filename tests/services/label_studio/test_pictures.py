"""Pictures in a real Label Studio get other addresses, whatever is gone there and whoever interrupts it."""

import pytest
from django.core.cache import cache
from django.test import Client as Browser

from accounts.errors import Conflict
from annotation.bridge import background, images, queueing
from annotation.bridge.pushing import push
from annotation.bridge.shown import shown
from annotation.models import Campaign, LabelStudioBridge, LabelStudioTask
from jobs.progress import Unwatched
from tests.services.label_studio.pushed import SITE, ask, begun, marking_of, rating_of, there
from tests.services.label_studio.work import do_jobs

pytestmark = [pytest.mark.services, pytest.mark.django_db]


@pytest.fixture(autouse=True)
def _site(settings):
    settings.SITE_URL = SITE


@pytest.fixture
def marking(study, lead) -> Campaign:
    return marking_of(study, lead)


def statuses(label_studio, bridge: LabelStudioBridge) -> list[int]:
    """What a browser is answered for each picture over there."""
    held = there(label_studio, bridge).values()
    paths = [data["image"].removeprefix(SITE) for tasks in held for data in tasks.values()]
    return [Browser().get(path).status_code for path in paths]


class Interrupted(Unwatched):
    """Ends the work after so many steps, as when somebody stops the job."""

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
    assert images.replace_addresses(bridge=bridge, by=lead) == marking.tasks.count() - 1
    assert set(statuses(label_studio, bridge)) == {200}
    assert not images.without_picture(LabelStudioBridge.objects.get()).exists()


def test_addresses_that_were_replaced_halfway_are_gone_on_with_and_not_made_void_again(
    label_studio, marking, lead
):
    bridge = begun(label_studio, marking, lead, "shared")
    push(bridge=bridge, by=lead)
    tasks = marking.tasks.count()
    with pytest.raises(InterruptedError):
        images.replace_addresses(bridge=bridge, by=lead, progress=Interrupted(3))
    bridge.refresh_from_db()
    assert (bridge.images_version, images.without_picture(bridge).count()) == (2, tasks - 3)
    assert f"{tasks - 3} screens show no picture there." in shown(bridge).behind
    assert sorted(statuses(label_studio, bridge)) == [200] * 3 + [404] * (tasks - 3)
    cache.clear()
    background.sweep()
    assert queueing.jobs_of(bridge, queueing.ADDRESSES).count() == 1
    do_jobs()
    assert set(statuses(label_studio, bridge)) == {200}
    bridge.refresh_from_db()
    assert bridge.images_version == 2
    assert shown(bridge).behind == []
    assert images.replace_addresses(bridge=bridge, by=lead, finish=True) == 0
    assert images.replace_addresses(bridge=bridge, by=lead) == tasks
    bridge.refresh_from_db()
    assert bridge.images_version == 3
    # Found there without being known: which addresses they have nobody knows, so they are given new ones.
    LabelStudioTask.objects.all().delete()
    assert push(bridge=bridge, by=lead).adopted == tasks
    assert not images.without_picture(bridge).exists()


def test_ratings_show_no_pictures(label_studio, study, lead):
    bridge = begun(label_studio, rating_of(study, lead), lead, "shared")
    assert bridge.images_until is None
    for verb in (images.renew, images.make_void, images.replace_addresses):
        with pytest.raises(Conflict) as refused:
            verb(bridge=bridge, by=lead)
        assert refused.value.code == "no_pictures"
