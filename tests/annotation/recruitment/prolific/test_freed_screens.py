"""People who left at Prolific hold no screen, even if no job runs and Prolific does not answer."""

import pytest

from annotation.recruitment.models import PanelEvent
from annotation.recruitment.prolific import webhooks
from jobs.run import inboxes
from tests.annotation.recruitment.prolific.conftest import events_of
from tests.annotation.recruitment.prolific.test_reconcile import hold_a_screen, leased

pytestmark = pytest.mark.django_db


@pytest.fixture
def holder(visitor):
    """Somebody who holds a screen."""
    browser = visitor()
    hold_a_screen(browser)
    assert leased() == 1
    return browser


def say(fake, post, holder, status: str) -> None:
    event = events_of(fake, holder)[0]
    event["body"]["status"] = status
    post.store(event)


@pytest.mark.parametrize("status", ["RETURNED", "TIMED-OUT", "AWAITING REVIEW", "REJECTED", "SCREENED OUT"])
def test_screens_of_people_who_left_are_freed_before_any_job_is_done(fake, post, holder, status):
    fake.fault("*", "502", times=None)
    say(fake, post, holder, status)
    inboxes.read()
    assert leased() == 0


@pytest.mark.parametrize("status", ["RETURNED", "TIMED-OUT"])
def test_the_screen_of_who_left_is_free_when_the_event_is_acknowledged(fake, post, holder, status):
    event = events_of(fake, holder)[0]
    event["body"]["status"] = status
    assert post.bring(event) == 204
    assert (leased(), holder.place.state) == (0, "working")
    assert PanelEvent.objects.get().read_at is not None


@pytest.mark.parametrize("status", ["RESERVED", "ACTIVE", "A NEW ONE"])
def test_people_at_work_keep_their_screen(fake, post, holder, status):
    say(fake, post, holder, status)
    inboxes.read()
    assert leased() == 1


def test_only_the_screens_of_the_person_are_freed(fake, post, holder, visitor):
    other = visitor("5f3a0c77b1d2e4a6c8f00113")
    hold_a_screen(other)
    say(fake, post, holder, "RETURNED")
    inboxes.read()
    assert leased() == 1


def test_a_replayed_event_ends_no_place(fake, post, holder):
    """The person loses the held screen but may continue, because Prolific says that they still work."""
    say(fake, post, holder, "RETURNED")
    inboxes.read()
    assert holder.place.state == "working"
    hold_a_screen(holder)
    inboxes.read()
    webhooks.handle(post.provider)
    assert (holder.place.state, leased()) == ("working", 1)


def test_an_unreadable_event_does_not_block_others(fake, post, holder, caplog):
    say(fake, post, holder, "RESERVED")
    PanelEvent.objects.update(event_id="earlier", body_sealed="not sealed by us")
    say(fake, post, holder, "RETURNED")
    inboxes.read()
    assert leased() == 0
    assert "could not be read: sealed_unreadable" in caplog.text
    assert not PanelEvent.objects.filter(read_at=None).exists()
