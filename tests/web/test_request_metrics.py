"""Requests are counted and timed by the pattern of their address; addresses and the names in them are not reported."""

import pytest
from prometheus_client.parser import text_string_to_metric_families


def requests(client) -> dict[tuple[str, str, str], float]:
    """Return the number of requests by method, route and status."""
    text = client.get("/metrics").content.decode()
    assert "client" not in text
    return {
        (sample.labels["method"], sample.labels["route"], sample.labels["status"]): sample.value
        for family in text_string_to_metric_families(text)
        for sample in family.samples
        if sample.name == "stereoscope_requests_total"
    }


@pytest.mark.parametrize(
    ("method", "address", "route", "status"),
    [
        ("GET", "/studies/no-such-study-anywhere/", "studies/<slug:study>/", "404"),
        ("POST", "/language/", "language/", "302"),
        ("GET", "/no/such/address?name=client", "other", "404"),
        ("BREW", "/healthz", "healthz", "405"),
    ],
)
def test_a_request_is_counted_by_its_route(admin_client, method, address, route, status):
    label = (method if method != "BREW" else "other", route, status)
    before = requests(admin_client).get(label, 0)
    admin_client.generic(method, address)
    after = requests(admin_client)
    assert after[label] == before + 1
    assert "no-such-study-anywhere" not in str(after)


def test_an_error_of_ours_is_counted(admin_client, monkeypatch):
    admin_client.raise_request_exception = False
    monkeypatch.setattr("web.views.render", lambda *args, **kwargs: 1 / 0)
    before = requests(admin_client).get(("GET", "gallery/", "500"), 0)
    assert admin_client.get("/gallery/").status_code == 500
    assert requests(admin_client)["GET", "gallery/", "500"] == before + 1


def test_requests_are_timed(admin_client):
    admin_client.get("/healthz")
    text = admin_client.get("/metrics").content.decode()
    buckets = [
        sample.value
        for family in text_string_to_metric_families(text)
        for sample in family.samples
        if sample.name == "stereoscope_request_duration_seconds_bucket"
        and (sample.labels["route"], sample.labels["method"]) == ("healthz", "GET")
    ]
    assert len(buckets) == 12
    assert buckets == sorted(buckets)
    assert buckets[-1] >= 1
