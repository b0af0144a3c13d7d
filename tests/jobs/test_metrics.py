"""What a Prometheus scraper reads, and who may."""

import pytest

from jobs.models import Job


@pytest.fixture
def queued(db):
    return Job.objects.create(kind="draw", title="Draw", queue="gpu")


def test_a_scraper_with_the_token_reads_queues(client, settings, queued):
    settings.METRICS_TOKEN = "scrape-me"
    answer = client.get("/metrics", headers={"Authorization": "Bearer scrape-me"})
    lines = answer.content.decode().splitlines()
    assert answer["Content-Type"].startswith("text/plain; version=0.0.4")
    assert 'stereoscope_jobs{queue="gpu",state="queued"} 1' in lines
    assert 'stereoscope_jobs{queue="default",state="failed"} 0' in lines
    waited = next(line for line in lines if line.startswith('stereoscope_oldest_queued_seconds{queue="gpu"}'))
    assert float(waited.split()[-1]) >= 0


def test_an_administrator_reads_them_signed_in(admin_client, queued, django_assert_max_num_queries):
    with django_assert_max_num_queries(5):
        assert admin_client.get("/metrics").status_code == 200


@pytest.mark.parametrize("given", ["", "Bearer ", "Bearer guess", "scrape-me"])
def test_nobody_else_does(client, lead_client, settings, given):
    settings.METRICS_TOKEN = "scrape-me"
    assert client.get("/metrics", headers={"Authorization": given}).status_code == 403
    assert lead_client.get("/metrics").status_code == 403


def test_without_a_token_set_no_token_opens_it(client, settings, db):
    settings.METRICS_TOKEN = ""
    assert client.get("/metrics", headers={"Authorization": "Bearer "}).status_code == 403
