"""Connecting to a real Label Studio, and to a faulty one."""

import pytest

from annotation.label_studio.base import connections
from annotation.label_studio.client.errors import Trouble
from annotation.label_studio.client.rest import Client
from annotation.label_studio.models import LabelStudioServer

pytestmark = pytest.mark.services


@pytest.fixture
def server(label_studio, study, lead):
    return connections.connect(
        study=study, url=f"{label_studio.url}/", token=label_studio.owner.token, by=lead
    )


def test_it_is_connected_and_stays_so_over_a_restart(server, label_studio):
    assert server.version.startswith("1.")
    for end in (label_studio.stop, label_studio.kill):
        end()
        found = connections.check(server=server)
        assert (found.ok, found.code) == (False, "unreachable")
        label_studio.start()
        assert connections.check(server=server).ok
    server.refresh_from_db()
    assert server.problem == ""


def test_a_connection_that_was_open_goes_on_after_a_restart(label_studio):
    with Client(label_studio.url, label_studio.owner.token) as client:
        client.whoami()
        label_studio.restart()
        assert client.whoami()["id"] == label_studio.owner.id
        label_studio.stop()
        with pytest.raises(Trouble) as told:
            client.whoami()
        assert told.value.passing
        label_studio.start()
        assert client.whoami()["id"] == label_studio.owner.id


def test_a_token_that_nobody_has(label_studio, study, lead):
    for token in ("0" * 40, label_studio.owner.personal_token[:-4] + "AAAA"):
        with pytest.raises(Trouble) as told:
            connections.connect(study=study, url=label_studio.url, token=token, by=lead)
        assert told.value.code == "token_wrong"
    assert not LabelStudioServer.objects.exists()


def test_a_page_of_label_studio_is_not_its_address(label_studio, study, lead):
    for path in ("/user/login", "/projects/1/data", "/no/such/page"):
        with pytest.raises(Trouble) as told:
            connections.connect(study=study, url=label_studio.url + path, token="0" * 40, by=lead)
        assert told.value.code == "wrong_url", path


def test_legacy_tokens_switched_off_there(server, label_studio, lead):
    label_studio.execute("UPDATE jwt_auth_jwtsettings SET legacy_api_tokens_enabled = 0")
    try:
        found = connections.check(server=server)
        assert (found.code, "personal access token" in found.sentence) == ("legacy_tokens_off", True)
        # One click solves it: a personal access token in place of the legacy one.
        connections.change_token(server=server, token=label_studio.owner.personal_token, by=lead)
        assert connections.check(server=server).ok
    finally:
        label_studio.execute("UPDATE jwt_auth_jwtsettings SET legacy_api_tokens_enabled = 1")


def test_personal_tokens_switched_off_there(label_studio, study, lead):
    label_studio.execute("UPDATE jwt_auth_jwtsettings SET api_tokens_enabled = 0")
    try:
        with pytest.raises(Trouble) as told:
            connections.connect(
                study=study, url=label_studio.url, token=label_studio.owner.personal_token, by=lead
            )
        assert told.value.code == "token_wrong"
    finally:
        label_studio.execute("UPDATE jwt_auth_jwtsettings SET api_tokens_enabled = 1")


def test_a_database_set_back_knows_the_token_still_and_the_project_no_more(server, label_studio):
    with Client.of(server) as client:
        made = client.create_project(
            title="Campaign", configuration="<View/>", annotations_per_task=1, instructions=""
        )
        label_studio.reset_database()
        assert connections.check(server=server).ok
        with pytest.raises(Trouble) as told:
            client.project(made)
        assert told.value.code == "gone"
