"""A failing Label Studio, or another server in its place: each fault has a code and a sentence, without delay."""

import json
import logging
import time
import traceback

import pytest

from annotation.label_studio.client import rest as client_module
from annotation.label_studio.client.errors import Trouble
from annotation.label_studio.client.rest import Client
from tests.annotation.label_studio.client.stub_servers import (
    VERSION,
    by_path,
    endless,
    hangs_up,
    nobody_listens,
    says,
    serving,
    silent,
    trickling,
)

pytestmark = pytest.mark.database_free
TOKEN = "0123456789abcdef0123456789abcdef01234567"
PERSONAL = "eyJhbGciOiJIUzI1NiJ9.eyJ0b2tlbl90eXBlIjoicmVmcmVzaCJ9.c2lnbmF0dXJlb2Z0aGV0b2tlbg"
HTML = b"<!doctype html><title>Welcome</title>"


@pytest.fixture(autouse=True)
def _loopback_allowed(settings):
    settings.LABEL_STUDIO_ALLOWED_HOSTS = ["127.0.0.1"]


def trouble_of(answer, ask=Client.whoami, *, seconds: float = 30) -> Trouble:
    """Return the error raised when a server gives this answer."""
    with serving(answer) as served, Client(served.url, TOKEN, seconds=seconds) as client:
        with pytest.raises(Trouble) as told:
            ask(client)
        return told.value


def test_an_unreachable_server_is_reported():
    with Client(nobody_listens(), TOKEN) as client, pytest.raises(Trouble) as told:
        client.whoami()
    assert (told.value.code, told.value.passing) == ("unreachable", True)


def test_an_unknown_host_name_is_reported(monkeypatch):
    with Client("http://no-such-host.invalid", TOKEN) as client, pytest.raises(Trouble) as told:
        client.whoami()
    assert told.value.code == "unreachable"
    assert "no-such-host.invalid" in told.value.message


@pytest.mark.parametrize("answer", [silent(30), trickling(30)], ids=["silent", "trickling"])
def test_a_server_that_takes_too_long_times_out(answer):
    began = time.monotonic()
    trouble = trouble_of(answer, seconds=0.5)
    assert (trouble.code, trouble.passing) == ("timeout", True)
    assert time.monotonic() - began < 10


@pytest.mark.parametrize(
    ("answer", "code", "passing"),
    [
        (says({"detail": "oops"}, status=500), "server_error", True),
        (says(HTML, status=502, kind="text/html"), "server_error", True),
        (says({}, status=503), "server_error", True),
        (says({"detail": "slow down"}, status=429), "busy", True),
        (says({"detail": "Invalid token."}, status=401), "token_wrong", False),
        (
            says({"detail": "legacy token authentication has been disabled"}, status=401),
            "legacy_tokens_off",
            False,
        ),
        (says({"detail": "no"}, status=403), "forbidden", False),
        (says({"detail": "No Project matches."}, status=404), "gone", False),
        (says(HTML, status=404, kind="text/html"), "wrong_url", False),
        (says({}, status=301, Location="https://elsewhere.example/"), "wrong_url", False),
        (says(HTML, kind="text/html"), "garbage", False),
        (says(b"{'single': 'quotes'}"), "garbage", False),
        (says(b'{"id": 1'), "garbage", False),
        (says(b"\xff\xfe\x00"), "garbage", False),
        (says(b""), "garbage", False),
        (says([1, 2, 3]), "garbage", False),
        (says(b"\x1f\x8b", Content_Encoding="gzip"), "garbage", False),
        (hangs_up, "unreachable", True),
    ],
)
def test_each_answer_has_its_code(answer, code, passing):
    trouble = trouble_of(answer)
    assert (trouble.code, trouble.passing) == (code, passing)
    assert trouble.message.endswith(".")
    assert len(trouble.message) < 300


def test_a_refusal_is_reported_with_the_servers_text_without_the_token():
    trouble = trouble_of(says({"detail": f"Only owners may.\n<b>{TOKEN}</b>"}, status=403))
    assert trouble.message.endswith("to do this. Label Studio’s answer: Only owners may. <b>[hidden]</b>.")


@pytest.mark.parametrize(
    "ask",
    [
        Client.version,
        Client.whoami,
        Client.users,
        lambda client: client.project(1),
        lambda client: client.update_project(1, title="Campaign"),
        lambda client: client.create_project(
            title="Campaign", configuration="<View/>", annotations_per_task=1, instructions=""
        ),
        lambda client: client.import_tasks(1, [{"ref": "a"}]),
        lambda client: client.task(1),
        lambda client: client.annotations_of(1),
        lambda client: list(client.task_refs(1)),
        lambda client: list(client.tasks_with_annotations(1)),
        lambda client: client.webhooks(1),
        lambda client: client.create_webhook(project=1, url="http://a.example", headers={}, actions=[]),
    ],
)
@pytest.mark.parametrize(
    "content", [[["garbage"]], {"tasks": 5, "release": 7, "task_ids": "x"}, "text", 7, None]
)
def test_nonsensical_responses_are_reported_for_every_request(ask, content):
    assert trouble_of(says(content), ask).code in ("garbage", "wrong_url")


def test_error_texts_too_long_too_deep_or_unstorable_are_cut():
    deep = b'{"more": [' * 450 + b"]}" * 450
    others: list[object] = [{"title": ["a\0b\u202ec"] * 500}, ["x" * 5000, {"0": None}]]
    for errors in (deep, *(json.dumps(one).encode() for one in others)):
        trouble = trouble_of(says(b'{"validation_errors": ' + errors + b"}", status=400))
        assert trouble.code == "refused"
        assert trouble.message.isprintable()
        assert len(trouble.message) < 400


def test_a_huge_answer_is_not_read(monkeypatch):
    monkeypatch.setattr(client_module, "LARGEST_ANSWER", 4 * 1024 * 1024)
    trouble = trouble_of(endless())
    assert trouble.code == "garbage"
    assert "4 MiB" in trouble.message


def test_broken_reads_are_retried_once_and_writes_are_not():
    with serving(hangs_up) as served, Client(served.url, TOKEN) as client:
        with pytest.raises(Trouble):
            client.whoami()
        with pytest.raises(Trouble) as told:
            client.import_tasks(1, [{"ref": "a"}])
    assert [request.method for request in served.requests] == ["GET", "GET", "POST"]
    assert told.value.code == "unreachable"


def test_a_server_error_is_not_retried_again_and_again():
    with serving(says({}, status=500)) as served, Client(served.url, TOKEN) as client, pytest.raises(Trouble):
        client.users()
    assert len(served.requests) == 1


def test_no_cookie_is_kept_and_no_token_goes_where_none_is_needed():
    answer = says({**VERSION, "id": 1}, Set_Cookie="sessionid=abc; Path=/")
    with serving(answer) as served, Client(served.url, TOKEN) as client:
        client.version()
        client.whoami()
        client.whoami()
    version, *others = served.requests
    assert "Authorization" not in version.headers
    assert {request.headers["Authorization"] for request in others} == {f"Token {TOKEN}"}
    assert all("Cookie" not in request.headers for request in served.requests)


def test_an_access_token_is_obtained_and_renewed_when_it_is_refused():
    made = []

    def refresh(handler):
        made.append(f"access-{len(made)}")
        says({"access": made[-1]})(handler)

    def whoami(handler):
        # The second one is accepted three times; no clock is asked.
        good = handler.headers["Authorization"] == "Bearer access-1"
        says({"id": 1} if good else {"detail": "Token is expired"}, status=200 if good else 401)(handler)

    with serving(by_path(refresh=refresh, whoami=whoami)) as served, Client(served.url, PERSONAL) as client:
        with pytest.raises(Trouble) as told:
            client.whoami()
        assert told.value.code == "token_wrong"  # refused at once: it was new
        assert client.whoami() == client.whoami() == {"id": 1}
    assert made == ["access-0", "access-1"]
    assert all(request.headers.get("Authorization", "").count(PERSONAL) == 0 for request in served.requests)


@pytest.mark.parametrize(
    ("answer", "code"),
    [
        (says({"detail": "Token is blacklisted"}, status=401), "token_wrong"),
        (says({"detail": "oops"}, status=500), "server_error"),
        (says({"tokens": []}), "garbage"),
        (says(HTML, kind="text/html"), "garbage"),
    ],
)
def test_a_personal_token_that_yields_no_access_token_is_reported(answer, code):
    with serving(answer) as served, Client(served.url, PERSONAL) as client, pytest.raises(Trouble) as told:
        client.whoami()
    assert told.value.code == code


@pytest.mark.parametrize("token", ["", "two words", "tökén", "line\nbreak", PERSONAL.rpartition(".")[0]])
def test_an_incomplete_token_is_refused_before_anything_is_sent(token):
    with serving(says(VERSION)) as served, pytest.raises(Trouble) as told:
        Client(served.url, token)
    assert told.value.code == "token_wrong"
    assert served.requests == []


@pytest.mark.parametrize(
    "url",
    [
        *("", "label.example.org", "ftp://label.example.org", "http://", "http://ana:pw@label.example.org"),
        *("http://label.example.org/?a=b", "http://label.example.org/#x", "http://[::1", "http://a:99999"),
        *("javascript:alert(1)", "file:///etc/passwd", "http://a b.example"),
    ],
)
def test_invalid_addresses_are_refused(url):
    with pytest.raises(Trouble) as told, Client(url, TOKEN) as client:
        client.version()
    assert told.value.code == "wrong_url"


@pytest.mark.parametrize("token", [TOKEN, PERSONAL])
@pytest.mark.parametrize(
    "answer",
    [
        silent(30),
        says({"detail": f"unknown: {TOKEN} {PERSONAL}"}, status=400),
        says({"detail": "Invalid token."}, status=401),
        says({}, status=500),
        says({}, status=302, Location=f"http://a.example/?token={TOKEN}"),
        says(b"no json"),
        hangs_up,
    ],
)
def test_no_token_is_in_an_error_its_trace_or_a_log(token, answer, caplog):
    caplog.set_level(logging.DEBUG)
    with serving(answer) as served:
        for ask in (Client.whoami, lambda client: client.import_tasks(1, [{"ref": "a"}])):
            with Client(served.url, token, seconds=0.5) as client, pytest.raises(Trouble) as told:
                ask(client)
            shown = "".join(traceback.format_exception(told.value)) + repr(vars(told.value)) + caplog.text
            assert token not in shown
            assert token.rpartition(".")[2] not in shown
