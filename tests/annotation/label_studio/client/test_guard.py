"""No connection is made to addresses inside our own network, by any name or redirect."""

import socket

import pytest

from annotation.label_studio.client import guard
from annotation.label_studio.client.errors import Trouble
from annotation.label_studio.client.rest import Client
from tests.annotation.label_studio.client.stub_servers import VERSION, says, serving

pytestmark = pytest.mark.database_free


def code_for(host: str) -> str:
    """Return the error code for a host, or '' if it may be connected to."""
    try:
        guard.addresses_of(host, 80)
    except Trouble as trouble:
        return trouble.code
    return ""


INSIDE = [
    *("127.0.0.1", "127.8.8.8", "10.1.2.3", "172.16.0.1", "192.168.1.1", "100.64.0.1"),
    *(
        "::1",
        "fc00::1",
        "fd12:3456::1",
        "::ffff:10.0.0.1",
        "::ffff:127.0.0.1",
        "2002:7f00:1::",
        "64:ff9b::a00:1",
        "fec0::1",
        "feff:ffff::1",
        "::10.0.0.1",
        "::127.0.0.1",
        "::8.8.8.8",
        "::ffff:0:10.0.0.1",
        "2001:0:808:808::f5ff:fffe",
        "2606:2800:21f:cb07:0:5efe:10.0.0.1",
        "2606:2800:21f:cb07:200:5efe:192.168.1.1",
    ),
]
NEVER = [
    *("169.254.169.254", "169.254.0.1", "fe80::1", "fd00:ec2::254", "100.100.100.200", "192.0.0.192"),
    *("168.63.129.16", "0.0.0.0", "::", "224.0.0.1", "ff02::1", "255.255.255.255", "240.0.0.1"),
    *("::ffff:169.254.169.254", "64:ff9b::a9fe:a9fe", "2002:a9fe:a9fe::"),
    *("2001:0:a00:1::1", "64:ff9b:1::a00:1", "64:ff9b:1:a00:0:100::"),
    *("::169.254.169.254", "64:ff9b:1::a9fe:a9fe", "64:ff9b:1:a9fe:a9:fe00::", "2001:0:a9fe:a9fe::1"),
    *("2606:2800:21f:cb07:0:5efe:169.254.169.254", "2001:0:808:808::5601:5601", "::ffff:0:169.254.169.254"),
]
OUTSIDE = [
    "93.184.215.14",
    "8.8.8.8",
    "2606:2800:21f:cb07:6820:80da:af6b:8b2c",
    "64:ff9b::808:808",
    "2002:808:808::1",
]


@pytest.mark.parametrize("address", INSIDE + NEVER)
def test_addresses_inside_are_refused(address):
    assert code_for(address) == "address_refused"


@pytest.mark.parametrize("address", OUTSIDE)
def test_addresses_outside_are_allowed(address):
    assert code_for(address) == ""


@pytest.mark.parametrize("written", ["2130706433", "0x7f.1", "127.1", "0177.0.0.1", "0"])
def test_other_ways_to_write_loopback_are_refused_too(written):
    assert code_for(written) == "address_refused"


@pytest.mark.parametrize("address", INSIDE)
def test_an_operator_may_allow_private_addresses(settings, address):
    settings.LABEL_STUDIO_ALLOW_PRIVATE = True
    assert code_for(address) == ""


@pytest.mark.parametrize("address", NEVER)
def test_cloud_metadata_addresses_stay_refused(settings, address):
    settings.LABEL_STUDIO_ALLOW_PRIVATE = True
    assert code_for(address) == "address_refused"


def test_an_operator_may_allow_one_host_by_name(settings):
    settings.LABEL_STUDIO_ALLOWED_HOSTS = ["LocalHost", "10.1.2.3"]
    assert [code_for(host) for host in ("localhost", "10.1.2.3", "127.0.0.1", "10.1.2.4")] == [
        *("", "", "address_refused", "address_refused")
    ]


def test_nothing_is_sent_to_an_address_that_is_refused():
    with serving(says(VERSION)) as served, Client(served.url, "a" * 40) as client:
        for ask in (client.version, client.whoami, lambda: client.import_tasks(1, [{"ref": "x"}])):
            with pytest.raises(Trouble) as told:
                ask()
            assert told.value.code == "address_refused"
    assert served.requests == []


def test_a_redirect_to_an_address_inside_is_not_followed(settings):
    settings.LABEL_STUDIO_ALLOWED_HOSTS = ["localhost"]  # 127.0.0.1 is not
    with serving(says(VERSION)) as inside:
        answer = says({}, status=302, Location=f"{inside.url}/api/version")
        with serving(answer) as outside:
            url = outside.url.replace("127.0.0.1", "localhost")
            with Client(url, "a" * 40) as client, pytest.raises(Trouble) as told:
                client.whoami()
    assert told.value.code == "wrong_url"
    assert "127.0.0.1" in told.value.message
    assert inside.requests == []


def test_a_name_is_connected_at_the_address_that_was_checked(settings, monkeypatch):
    settings.LABEL_STUDIO_ALLOWED_HOSTS = []
    connected: list[tuple] = []
    meant = ["93.184.215.14", "127.0.0.1"]
    asked: list[str] = []

    def getaddrinfo(host, port, *more, **options):
        if host != "rebinding.example":
            return system(host, port, *more, **options)
        asked.append(host)
        return [(socket.AF_INET, socket.SOCK_STREAM, 6, "", (meant[min(len(asked), 2) - 1], port))]

    def connect(sock, address):
        connected.append(address)
        raise ConnectionRefusedError

    # Stand-ins for public name servers and the network.
    system = socket.getaddrinfo
    monkeypatch.setattr(socket, "getaddrinfo", getaddrinfo)
    monkeypatch.setattr(socket.socket, "connect", connect)
    with Client("http://rebinding.example", "a" * 40) as client:
        codes = []
        for _ in range(2):
            with pytest.raises(Trouble) as told:
                client.version()
            codes.append(told.value.code)
    assert codes == ["unreachable", "address_refused"]
    assert {address[0] for address in connected} == {"93.184.215.14"}
    assert len(asked) == 2  # once for each request: the checked address is the one connected to
