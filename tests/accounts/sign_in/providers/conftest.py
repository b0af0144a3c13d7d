import json
import subprocess
import sys
import time
from pathlib import Path

import httpx
import pytest
from django.core.cache import cache
from django.test import Client
from django.urls import reverse

from tests.accounts.sign_in.providers import oidc_server
from tests.accounts.sign_in.providers.visits import Visit
from tests.foundation.database.own_database import ROOT
from tests.jobs.brokers import free_port

HOST = "http://testserver"


class Provider:
    """An identity provider in a separate process."""

    def __init__(self, folder: Path, port: int) -> None:
        self.folder = folder
        self.issuer = f"http://127.0.0.1:{port}/o"

    def describe(self, **people: dict[str, object]) -> None:
        """Set the claims that each person has from now on."""
        everybody = {name: {} for name in oidc_server.PEOPLE}
        (self.folder / "people.json").write_text(json.dumps(everybody | people))


@pytest.fixture(scope="session")
def oidc_process(tmp_path_factory):
    folder, port = tmp_path_factory.mktemp("provider"), free_port()
    command = [sys.executable, "-m", "tests.accounts.sign_in.providers.oidc_server", str(port), str(folder)]
    process = subprocess.Popen([*command, f"{HOST}/account/oidc/callback/"], cwd=ROOT)
    provider = Provider(folder, port)
    try:
        wait_for(f"{provider.issuer}/.well-known/openid-configuration", process)
        yield provider
    finally:
        process.terminate()
        process.wait()


def wait_for(address: str, process: "subprocess.Popen[bytes]") -> None:
    deadline = time.monotonic() + 60
    while time.monotonic() < deadline:
        assert process.poll() is None, "the provider ended"
        try:
            httpx.get(address, timeout=5)
        except httpx.TransportError:
            time.sleep(0.1)
        else:
            return
    raise AssertionError("the provider does not answer")


@pytest.fixture
def provider(oidc_process, settings):
    """The provider, trusted by this server for people in two groups; nobody has claims yet."""
    settings.OIDC_ISSUER = oidc_process.issuer
    settings.OIDC_CLIENT_ID, settings.OIDC_CLIENT_SECRET = oidc_server.CLIENT, oidc_server.SECRET
    settings.OIDC_NAME = "Velmar University"
    settings.SSO_NEW_ACCOUNTS = True
    settings.SSO_GROUPS = [("lead", "heads"), ("analyst", "statistics")]
    settings.SSO_REQUIRE_GROUP = True
    cache.clear()
    oidc_process.describe()
    return oidc_process


@pytest.fixture
def visit(provider):
    """Sign in a person at the provider in a new browser, and come back."""

    def go(name: str = "mira", client: Client | None = None, **more: object) -> Visit:
        return Visit(client or Client(), reverse("oidc_sign_in")).go(name, **more)

    return go
