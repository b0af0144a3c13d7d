"""A server is connected only if it works, and its problems are reported in one sentence."""

import time

import pytest
from django.core import serializers

from annotation.label_studio.base import connections
from annotation.label_studio.client import errors
from annotation.label_studio.client.encryption import seal
from annotation.label_studio.client.rest import Client
from annotation.label_studio.models import LabelStudioBridge, LabelStudioServer
from annotation.models import Campaign
from foundation.errors import Conflict, DomainError
from studies.models import AuditEntry
from tests.annotation.label_studio.client.stub_servers import (
    VERSION,
    by_path,
    nobody_listens,
    says,
    serving,
)

TOKEN = "0123456789abcdef0123456789abcdef01234567"
HTML = says(b"<!doctype html><title>Welcome</title>", kind="text/html")
WORKS = by_path(version=says(VERSION), whoami=says({"id": 1, "email": "owner@isles.example"}))


@pytest.fixture(autouse=True)
def _loopback_allowed(settings):
    settings.LABEL_STUDIO_ALLOWED_HOSTS = ["127.0.0.1"]


@pytest.fixture
def server(study, lead):
    return LabelStudioServer.objects.create(
        study=study, url=nobody_listens(), token=seal(TOKEN), version="1.23.2", created_by=lead
    )


def refusal(study, lead, url: str, token: str = TOKEN) -> DomainError:
    with pytest.raises(DomainError) as told:
        connections.connect(study=study, url=url, token=token, by=lead)
    assert not LabelStudioServer.objects.exists()
    return told.value


def test_a_server_is_connected_with_its_token_sealed_and_an_entry_in_the_history(study, lead):
    with serving(WORKS) as served:
        server = connections.connect(study=study, url=f" {served.url}/ ", token=f" {TOKEN}\n", by=lead)
        server.refresh_from_db()
        assert (server.url, server.version, server.problem) == (served.url, "1.23.2", "")
        assert (server.checked_at is not None, server.created_by) == (True, lead)
        with Client.of(server) as client:
            assert client.whoami()["id"] == 1
    assert TOKEN not in serializers.serialize("json", LabelStudioServer.objects.all())
    assert TOKEN not in serializers.serialize("json", AuditEntry.objects.all())
    entry = AuditEntry.objects.get(action="label_studio.connected")
    assert (entry.actor, entry.details) == (lead, {"url": served.url})


def test_a_server_is_connected_once_in_a_study(study, lead):
    with serving(WORKS) as served:
        connections.connect(study=study, url=served.url, token=TOKEN, by=lead)
        with pytest.raises(Conflict) as told:
            connections.connect(study=study, url=f"{served.url}/", token=TOKEN, by=lead)
    assert told.value.code == "label_studio_connected"


@pytest.mark.parametrize(
    ("answer", "code", "words"),
    [
        (HTML, "wrong_url", "does not answer like Label Studio"),
        (says({"hello": "world"}), "wrong_url", "does not answer like Label Studio"),
        (says({"release": "unknown"}), "wrong_url", "does not answer like Label Studio"),
        (says({"detail": "Not found."}, status=404), "wrong_url", "does not answer like Label Studio"),
        (says({"detail": "Who are you?"}, status=401), "wrong_url", "does not answer like Label Studio"),
        (says({}, status=302, Location="https://sign-in.example/?next=/"), "wrong_url", "sign-in.example"),
        (says({"release": "1.9.2"}), "too_old", "1.9.2. Version 1.16 or later"),
        (says({}, status=500), "server_error", "status 500"),
        (
            by_path(version=says(VERSION), whoami=says({"detail": "Invalid token."}, status=401)),
            "token_wrong",
            "does not know this token",
        ),
        (
            by_path(
                version=says(VERSION),
                whoami=says({"detail": "legacy token authentication has been disabled"}, status=401),
            ),
            "legacy_tokens_off",
            "Use a personal access token",
        ),
        (by_path(version=says(VERSION), whoami=HTML), "garbage", "gave an unexpected answer"),
    ],
)
def test_problems_are_named(study, lead, answer, code, words):
    with serving(answer) as served:
        refused = refusal(study, lead, served.url)
    assert refused.code == code
    assert words in refused.message
    assert TOKEN not in refused.message


def test_unreachable_and_refused_addresses_are_reported(study, lead, settings):
    assert refusal(study, lead, nobody_listens()).code == "unreachable"
    settings.LABEL_STUDIO_ALLOWED_HOSTS = []
    assert refusal(study, lead, nobody_listens()).code == "address_refused"
    assert refusal(study, lead, "http://169.254.169.254").code == "address_refused"
    assert refusal(study, lead, "label.example.org").code == "wrong_url"
    assert refusal(study, lead, nobody_listens(), token="  ").code == "token_wrong"


def test_a_check_stores_a_problem_until_it_is_solved(server):
    result = connections.check(server=server)
    assert (result.ok, result.code, result.version) == (False, "unreachable", "1.23.2")
    server.refresh_from_db()
    assert (server.problem, server.problem_text) == ("unreachable", result.sentence)
    newer = by_path(version=says({"release": "1.24.0"}), whoami=says({"id": 1}))
    with serving(newer) as served:
        LabelStudioServer.objects.update(url=served.url)
        server.refresh_from_db()
        assert connections.check(server=server) == connections.CheckResult(True, "", "", "1.24.0")
    server.refresh_from_db()
    assert (server.problem, server.problem_text, server.version) == ("", "", "1.24.0")


def test_a_token_sealed_with_another_key_is_reported(server, settings):
    settings.SECRET_KEY = "quite another key"
    assert connections.check(server=server).code == "sealed_unreadable"


def test_a_token_is_changed_only_for_one_that_works(server, lead):
    def whoami(handler):
        good = handler.headers["Authorization"] == "Token another-token"
        says({"id": 1} if good else {"detail": "Invalid token."}, status=200 if good else 401)(handler)

    with serving(by_path(version=says(VERSION), whoami=whoami)) as served:
        LabelStudioServer.objects.update(url=served.url)
        server.refresh_from_db()
        before = server.token
        with pytest.raises(DomainError) as told:
            connections.change_token(server=server, token="wrong-token", by=lead)
        assert told.value.code == "token_wrong"
        server.refresh_from_db()
        assert server.token == before
        connections.note_trouble(server=server, trouble=errors.token_wrong(served.url))
        connections.change_token(server=server, token="another-token", by=lead)
        server.refresh_from_db()
        assert server.problem == ""
        with Client.of(server) as client:
            client.whoami()
    assert AuditEntry.objects.filter(action="label_studio.token_changed").count() == 1


@pytest.fixture
def bridge(study, server, lead):
    campaign = Campaign.objects.create(
        study=study, name="Isles", slug="isles", kind="stereotype_marking", seed=1
    )
    return LabelStudioBridge.objects.create(
        campaign=campaign, server=server, address_secret=seal("a"), header_secret=seal("b")
    )


def test_a_server_that_a_campaign_is_labelled_in_is_not_disconnected(server, bridge, lead):
    with pytest.raises(Conflict) as told:
        connections.disconnect(server=server, by=lead)
    assert told.value.code == "label_studio_in_use"
    assert not AuditEntry.objects.filter(action="label_studio.disconnected").exists()
    bridge.delete()
    connections.disconnect(server=server, by=lead)
    assert not LabelStudioServer.objects.exists()
    assert AuditEntry.objects.get(action="label_studio.disconnected").actor == lead


def test_problems_of_the_server_are_reported_for_server_and_campaign(server, bridge):
    connections.note_trouble(bridge=bridge, trouble=errors.timeout(server.url, 60))
    bridge.refresh_from_db()
    server.refresh_from_db()
    assert (bridge.problem, server.problem) == ("timeout", "timeout")
    assert bridge.problem_at is not None
    connections.clear_trouble(bridge=bridge)
    bridge.refresh_from_db()
    server.refresh_from_db()
    assert (bridge.problem, bridge.problem_at, server.problem) == ("", None, "")


def test_problems_of_one_project_are_not_reported_for_the_server(server, bridge):
    connections.note_trouble(bridge=bridge, trouble=errors.no_longer_there("such project"))
    connections.note_trouble(
        bridge=bridge, trouble=DomainError("configuration_edited", "Somebody edited it. " * 90)
    )
    bridge.refresh_from_db()
    server.refresh_from_db()
    assert (bridge.problem, len(bridge.problem_text), server.problem) == ("configuration_edited", 500, "")


def test_the_total_wait_for_a_page_is_limited(study, lead, monkeypatch):
    monkeypatch.setattr(connections, "_SECONDS", 1.0)

    def slow(handler):
        time.sleep(0.6)
        WORKS(handler)

    began = time.monotonic()
    with serving(slow) as served:
        assert refusal(study, lead, served.url).code == "timeout"
    assert time.monotonic() - began < 25  # each request has half a minute


@pytest.mark.parametrize("release", ["1.23.2\0", "1.23\u202e2", "1.23" + "\0" * 500])
def test_an_unstorable_version_is_made_storable(study, lead, release):
    answer = by_path(version=says({"release": release}), whoami=says({"id": 1}))
    with serving(answer) as served:
        server = connections.connect(study=study, url=served.url, token=TOKEN, by=lead)
    server.refresh_from_db()
    assert server.version.isprintable()
    assert server.version.startswith("1.23")


def test_texts_from_the_server_are_made_storable(server):
    connections.note_trouble(server=server, trouble=DomainError("refused", "No\0thing \u202edone\n\x1b[0m"))
    server.refresh_from_db()
    assert server.problem_text == "Nothing done [0m"
