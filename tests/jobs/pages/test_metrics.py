"""The metrics that a Prometheus scraper reads, and access to them."""

from datetime import timedelta

import pytest
from django.utils import timezone

from jobs.engine.workers import announced, busy
from jobs.models import Job, Worker


@pytest.fixture
def queued(db):
    return Job.objects.create(kind="draw", title="Draw", queue="gpu")


def test_a_scraper_with_the_token_reads_queues(client, settings, queued):
    settings.METRICS_TOKEN = "scrape-me"
    answer = client.get("/metrics", headers={"Authorization": "Bearer scrape-me"})
    lines = answer.content.decode().splitlines()
    assert answer["Content-Type"].startswith("text/plain; version=0.0.4")
    assert 'stereoscope_jobs{queue="gpu",state="queued"} 1.0' in lines
    assert 'stereoscope_jobs{queue="default",state="failed"} 0.0' in lines
    waited = next(line for line in lines if line.startswith('stereoscope_oldest_queued_seconds{queue="gpu"}'))
    assert float(waited.split()[-1]) >= 0


def test_a_signed_in_administrator_reads_the_metrics(admin_client, queued, django_assert_max_num_queries):
    with django_assert_max_num_queries(14):
        assert admin_client.get("/metrics").status_code == 200


@pytest.mark.parametrize("given", ["", "Bearer ", "Bearer guess", "scrape-me"])
def test_others_cannot_read_the_metrics(client, lead_client, settings, given):
    settings.METRICS_TOKEN = "scrape-me"
    assert client.get("/metrics", headers={"Authorization": given}).status_code == 403
    assert lead_client.get("/metrics").status_code == 403


def test_no_token_is_accepted_where_none_is_set(client, settings, db):
    settings.METRICS_TOKEN = ""
    assert client.get("/metrics", headers={"Authorization": "Bearer "}).status_code == 403


def read(admin_client) -> dict[str, str]:
    lines = admin_client.get("/metrics").content.decode().splitlines()
    return dict(line.rsplit(" ", 1) for line in lines if not line.startswith("#"))


def test_live_workers_are_counted_by_queue(admin_client, settings):
    with announced(["default", "gpu"]), announced(["gpu"]), busy():
        found = read(admin_client)
        assert found['stereoscope_workers{queue="default"}'] == "1.0"
        assert found['stereoscope_workers{queue="gpu"}'] == "2.0"
        assert found['stereoscope_workers_idle{queue="gpu"}'] == "1.0"
        silent = timezone.now() - timedelta(seconds=settings.JOB_LEASE_SECONDS + 1)
        Worker.objects.update(heartbeat_at=silent)
        assert read(admin_client)['stereoscope_workers{queue="gpu"}'] == "0.0"


def test_attempts_and_jobs_given_up_are_counted(admin_client):
    now = timezone.now()
    ended = {"kind": "draw", "title": "Draw", "queue": "gpu", "finished_at": now}
    Job.objects.create(**ended, state="failed", attempts=3, error_code="given_up")
    Job.objects.create(**ended, state="failed", attempts=2, error_code="unexpected")
    found = read(admin_client)
    assert found['stereoscope_job_attempts_total{queue="gpu"}'] == "5.0"
    assert found['stereoscope_jobs_given_up{queue="gpu"}'] == "1.0"
    assert found['stereoscope_jobs_given_up{queue="default"}'] == "0.0"


def test_durations_are_a_histogram_of_each_kind(admin_client):
    end = timezone.now()
    for seconds in (0.5, 30, 30.25, 100_000):
        Job.objects.create(
            kind="draw",
            title="Draw",
            state="succeeded",
            started_at=end - timedelta(seconds=seconds),
            finished_at=end,
        )
    found = read(admin_client)
    name = "stereoscope_job_duration_seconds"
    counts = [
        found[f'{name}_bucket{{kind="draw",le="{limit}"}}'] for limit in (1, 10, 60, 600, 86400, "+Inf")
    ]
    assert counts == ["1.0", "1.0", "3.0", "3.0", "3.0", "4.0"]
    assert found[f'{name}_sum{{kind="draw"}}'] == "100060.75"
    assert found[f'{name}_count{{kind="draw"}}'] == "4.0"


def test_the_waiting_time_restarts_when_a_job_is_queued_again(admin_client):
    now = timezone.now()
    job = Job.objects.create(kind="draw", title="Draw", queued_at=now)
    Job.objects.filter(pk=job.pk).update(created_at=now - timedelta(days=3))
    assert float(read(admin_client)['stereoscope_oldest_queued_seconds{queue="default"}']) < 3600
