"""Counters at /metrics include all processes of a web server, even killed ones."""

import os
import urllib.request
from collections import Counter
from pathlib import Path

import pytest
from prometheus_client.parser import text_string_to_metric_families

from tests.foundation.database.own_database import own_server
from tests.services.annotators import wait_until, web_server

pytestmark = [pytest.mark.services, pytest.mark.slow]
REQUESTS = 60


def healthy(port: int) -> float:
    """Return the number of responses of /healthz, as a scraper reads it."""
    request = urllib.request.Request(
        f"http://127.0.0.1:{port}/metrics", headers={"Authorization": "Bearer scrape-me"}
    )
    with urllib.request.urlopen(request, timeout=30) as answer:
        text = answer.read().decode()
    return sum(
        sample.value
        for family in text_string_to_metric_families(text)
        for sample in family.samples
        if sample.name == "stereoscope_requests_total" and sample.labels["route"] == "healthz"
    )


def test_requests_to_all_processes_are_counted_once_also_after_one_was_killed(tmp_path):
    with own_server(tmp_path) as server:
        server.env.update({"METRICS_TOKEN": "scrape-me", "TMPDIR": str(tmp_path)})
        with web_server(server, tmp_path) as web:
            before = healthy(web.port)
            statuses = Counter(web.get("/healthz") for _ in range(REQUESTS))
            assert statuses == {200: REQUESTS}
            assert healthy(web.port) == before + REQUESTS
            workers = web.workers()
            os.kill(workers[0], 9)
            wait_until(lambda: len(web.workers()) == len(workers) and workers[0] not in web.workers())
            assert healthy(web.port) == before + REQUESTS
            (folder,) = Path(tmp_path).glob("stereoscope-counters-*")
            assert len({path.stem.rpartition("_")[2] for path in folder.iterdir()}) >= 2
            web.process.terminate()
            web.process.wait(timeout=120)
            web.process = None
            assert not folder.exists()
