"""Sixty people behind the shipped proxy, with and without TLS: each has their own address, which cannot be forged."""

import datetime
import re
import ssl
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

import httpx
import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

from tests.foundation.database.own_database import ROOT, Server, own_server
from tests.services.annotators import web_server
from tests.services.test_proxy import free_port, proxy_to

pytestmark = [pytest.mark.services]

PEOPLE = 60
CAMPAIGN = """
from annotation.kinds.registry import MARKING
from accounts.models import User
from annotation.models import Campaign
from annotation.people import invitations
lead = User.objects.create_user("lena", password="a long password", is_lead=True)
for number in range(60):
    User.objects.create_user(f"person-{number}", password="a long password")
study = Study.objects.create(name="Isles", slug="isles", seed=1)
campaign = Campaign.objects.create(study=study, name="Signs", slug="signs", kind=MARKING.key, state="open",
    opened_at=study.created_at, seed=1)
answer = invitations.invite(campaign=campaign, by=lead, limit=100)[1]
"""
DOUBLES = """
from annotation.models import Campaign, Enrolment
from annotation.people import doubles
joined = Enrolment.objects.count()
prints = len(set(Enrolment.objects.values_list("joined_print", flat=True)))
answer = [joined, prints, len(doubles.suspected_doubles(Campaign.objects.get()))]
"""


@pytest.fixture
def served(tmp_path) -> Iterator[tuple[Server, int]]:
    """Return the platform and its port; it trusts only a proxy at 127.0.0.1."""
    with ExitStack() as stack:
        server = stack.enter_context(own_server(tmp_path, TRUSTED_PROXIES="127.0.0.1/32"))
        yield server, stack.enter_context(web_server(server, tmp_path)).port


def person(port: int, address: str) -> httpx.Client:
    """Return a browser at an address of this machine."""
    transport = httpx.HTTPTransport(local_address=address)
    return httpx.Client(base_url=f"http://127.0.0.1:{port}", transport=transport, timeout=30)


def send(client: httpx.Client, path: str, **fields: str) -> httpx.Response:
    """Open a page with a form and submit it."""
    page = client.get(path)
    token = re.search(r'name="csrfmiddlewaretoken" value="([^"]+)"', page.text)
    assert token, page.text
    return client.post(
        path, data={"csrfmiddlewaretoken": token[1], **fields}, headers={"Referer": str(page.url)}
    )


def sign_in(client: httpx.Client, name: str, password: str = "a long password") -> int:
    return send(client, "/account/sign-in/", username=name, password=password).status_code


def test_sixty_people_are_no_doubles_and_lock_nobody_out(served):
    server, port = served
    link = f"/annotate/i/{server.ask(CAMPAIGN)}/"
    with proxy_to(port) as proxy, ExitStack() as stack:
        people = [stack.enter_context(person(proxy, f"127.0.1.{number + 1}")) for number in range(PEOPLE)]
        assert {send(client, link).status_code for client in people} == {302}
        assert server.ask(DOUBLES) == [PEOPLE, PEOPLE, 0]

        attacker = stack.enter_context(person(proxy, "127.0.2.1"))
        attempts = [sign_in(attacker, "person-0", "wrong") for _ in range(11)]
        assert attempts[-1] == 429
        visitors = [stack.enter_context(person(proxy, f"127.0.3.{number + 1}")) for number in range(PEOPLE)]
        assert {sign_in(client, f"person-{number}") for number, client in enumerate(visitors)} == {302}


def test_who_reaches_the_server_without_the_proxy_makes_up_no_address(served):
    server, port = served
    server.ask(CAMPAIGN)
    with person(port, "127.0.2.1") as attacker:
        codes = []
        for number in range(11):
            attacker.headers["X-Forwarded-For"] = f"203.0.113.{number}"
            codes.append(sign_in(attacker, "lena", "wrong"))
        assert codes[-1] == 429
    with person(port, "127.0.2.2") as lena:
        lena.headers["X-Forwarded-For"] = "127.0.2.1"
        assert sign_in(lena, "lena") == 302


@pytest.fixture
def certificate(tmp_path) -> tuple[Path, Path]:
    """Return a certificate for 127.0.0.1 that only this test trusts, and its key."""
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "localhost")])
    now = datetime.datetime.now(datetime.UTC)
    signed = (
        x509.CertificateBuilder()
        .subject_name(name)
        .issuer_name(name)
        .public_key(key.public_key())
        .serial_number(1)
        .not_valid_before(now - datetime.timedelta(minutes=1))
        .not_valid_after(now + datetime.timedelta(hours=1))
        .add_extension(x509.SubjectAlternativeName([x509.DNSName("localhost")]), critical=False)
        .sign(key, hashes.SHA256())
    )
    files = tmp_path / "certificate.pem", tmp_path / "key.pem"
    files[0].write_bytes(signed.public_bytes(serialization.Encoding.PEM))
    private = serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
    files[1].write_bytes(key.private_bytes(serialization.Encoding.PEM, *private))
    return files


def test_the_shipped_tls_front_redirects_plain_requests_and_serves_the_rest(tmp_path, certificate):
    secure = free_port()
    tls = (ROOT / "docker" / "nginx-tls.conf").read_text(encoding="utf-8")
    for before, after in (
        ("8443", f"127.0.0.1:{secure}"),
        ("/run/secrets/tls_certificate;", f"{certificate[0]};"),
        ("/run/secrets/tls_key;", f"{certificate[1]};"),
    ):
        assert before in tls
        tls = tls.replace(before, after)
    with ExitStack() as stack:
        server = stack.enter_context(own_server(tmp_path, TRUSTED_PROXIES="127.0.0.1/32", HTTPS="yes"))
        web = stack.enter_context(web_server(server, tmp_path))
        assert web.get("/healthz") == 200  # a health check of the container needs no TLS
        proxy = stack.enter_context(proxy_to(web.port, tls=tls))
        plain = httpx.get(f"http://127.0.0.1:{proxy}/account/sign-in/")
        assert (plain.status_code, plain.headers["Location"][:8]) == (301, "https://")
        trust = ssl.create_default_context(cafile=str(certificate[0]))
        page = httpx.get(f"https://localhost:{secure}/account/sign-in/", verify=trust)
        assert page.status_code == 200
        assert "max-age" in page.headers["Strict-Transport-Security"]
        assert all("Secure" in cookie for cookie in page.headers.get_list("Set-Cookie"))
