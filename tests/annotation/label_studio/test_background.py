"""Jobs of bridges: reported problems, coordination between jobs, and automatic runs."""

from datetime import timedelta

import pytest
from django.core.cache import cache
from django.utils import timezone

from annotation.campaigns import lifecycle
from annotation.label_studio import background
from annotation.label_studio.base import job_queue
from annotation.label_studio.base.connections import note_trouble
from annotation.label_studio.base.locks import reading_from
from annotation.label_studio.client import errors
from annotation.label_studio.models import LabelStudioBridge, LabelStudioEvent
from foundation.errors import DomainError
from jobs.models import Job
from jobs.progress.reporter import Unwatched
from jobs.run.execution import execute
from tests.annotation.assignment.test_concurrency import at_once
from tests.annotation.databases import shared_database
from tests.annotation.label_studio.rows import bridge_of

State = Job.State


@pytest.fixture
def bridge(rating) -> LabelStudioBridge:
    cache.clear()
    return bridge_of(rating, reconciled_at=timezone.now())


def swept(bridge: LabelStudioBridge) -> list[str]:
    """Return the kinds of jobs that are queued after a sweep."""
    cache.clear()
    background.sweep()
    return list(
        job_queue.jobs_of(bridge, *job_queue.KINDS).filter(state=State.QUEUED).values_list("kind", flat=True)
    )


def ended(
    bridge: LabelStudioBridge, kind: str, state: str = State.SUCCEEDED, *, code: str = "", ago=0
) -> Job:
    job = job_queue.start(kind, bridge, by=None)
    then = timezone.now() - timedelta(minutes=ago)
    Job.objects.filter(pk=job.pk).update(state=state, error_code=code, started_at=then, finished_at=then)
    return job


def test_an_unreadable_token_is_reported(bridge, settings):
    settings.SECRET_KEY, settings.SECRET_KEY_FALLBACKS = "another key, long enough to be one", []
    with pytest.raises(DomainError):
        job_queue.do_here(job_queue.RECONCILE, bridge=bridge, by=None, progress=Unwatched())
    bridge.refresh_from_db()
    assert bridge.problem == "sealed_unreadable"


def test_a_successful_job_clears_only_problems_of_its_kind(bridge):
    note_trouble(bridge=bridge, trouble=errors.refused("its configuration"))
    ended(bridge, job_queue.PUSH, State.FAILED, code="refused")
    # There is nothing to process, so no request is made.
    execute(job_queue.start(job_queue.EVENTS, bridge, by=None).pk)
    bridge.refresh_from_db()
    assert bridge.problem == "refused"
    ended(bridge, job_queue.PUSH)
    execute(job_queue.start(job_queue.EVENTS, bridge, by=None).pk)
    bridge.refresh_from_db()
    assert bridge.problem == ""


@pytest.mark.django_db(transaction=True)
def test_hints_are_left_to_the_job_that_is_already_reading(rating, tmp_path):
    with shared_database(tmp_path):
        bridge = bridge_of(rating)
        LabelStudioEvent.objects.create(bridge=bridge, action="ANNOTATION_CREATED", tasks=[1])
        job = job_queue.wake(bridge)
        with reading_from(bridge, seconds=0, progress=Unwatched()) as mine:
            assert mine
            assert at_once([lambda: execute(job.pk)]) == [None]
        job.refresh_from_db()
    assert job.state == State.SUCCEEDED
    assert (job.finished_at - job.started_at).total_seconds() < 4
    assert "Another job is already reading" in job.result["summary"]


def test_a_closed_campaign_is_compared_once_more(bridge, lead):
    assert swept(bridge) == []
    LabelStudioEvent.objects.create(bridge=bridge, action="ANNOTATION_CREATED", tasks=[1])
    ended(bridge, job_queue.RECONCILE, ago=1)
    lifecycle.close(campaign=bridge.campaign, by=lead)
    assert swept(bridge) == [job_queue.RECONCILE, job_queue.EVENTS]
    Job.objects.filter(state=State.QUEUED).delete()
    LabelStudioEvent.objects.all().delete()
    job = ended(bridge, job_queue.RECONCILE)
    # A comparison that began before closing may have read too early.
    Job.objects.filter(pk=job.pk).update(started_at=timezone.now() - timedelta(hours=1))
    assert swept(bridge) == [job_queue.RECONCILE]
    Job.objects.filter(state=State.QUEUED).delete()
    ended(bridge, job_queue.RECONCILE)
    assert swept(bridge) == []


def test_only_the_latest_jobs_of_each_kind_and_the_latest_events_are_kept(bridge, monkeypatch):
    for kind in (job_queue.RECONCILE, job_queue.EVENTS):
        for number in range(25):
            ended(bridge, kind, State.FAILED if number % 2 else State.SUCCEEDED, ago=100)
    monkeypatch.setattr(background, "_EVENTS_KEPT", 3)
    for _ in range(5):
        LabelStudioEvent.objects.create(bridge=bridge, action="A", done_at=timezone.now())
    last = list(LabelStudioEvent.objects.order_by("-pk").values_list("pk", flat=True)[:3])
    swept(bridge)
    assert job_queue.jobs_of(bridge, *job_queue.KINDS).count() == 40
    assert list(LabelStudioEvent.objects.order_by("-pk").values_list("pk", flat=True)) == last


def test_a_delayed_comparison_can_be_started_at_once(bridge):
    later = timezone.now() + timedelta(minutes=5)
    job = job_queue.start(job_queue.RECONCILE, bridge, by=None, not_before=later)
    assert job_queue.start(job_queue.RECONCILE, bridge, by=None, not_before=later) == job
    job.refresh_from_db()
    assert job.wait_until == later
    assert job_queue.start_reconcile(bridge=bridge, by=None) == job
    job.refresh_from_db()
    assert job.wait_until is None
