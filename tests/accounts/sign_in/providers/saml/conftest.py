import pytest
from django.core.cache import cache
from django.test import Client

HOST = "https://testserver"
ANSWERS = f"{HOST}/account/saml/acs/"
SERVICE = f"{HOST}/account/saml/metadata/"


@pytest.fixture(scope="session")
def saml_key():
    # Here and below: without the packages of requirements/saml.txt, the tests are skipped one module at a time.
    from tests.accounts.sign_in.providers.saml.identity_provider import Key

    return Key()


@pytest.fixture(scope="session")
def other_key():
    from tests.accounts.sign_in.providers.saml.identity_provider import Key

    return Key()


@pytest.fixture
def idp(saml_key, settings, tmp_path):
    """A provider, trusted by this server for people in two groups."""
    from tests.accounts.sign_in.providers.saml.identity_provider import IdentityProvider

    provider = IdentityProvider(ANSWERS, SERVICE, key=saml_key)
    file = tmp_path / "metadata.xml"
    file.write_text(provider.metadata())
    settings.SAML_METADATA_FILE = str(file)
    settings.SAML_NAME = "Velmar University"
    settings.SITE_URL = HOST
    settings.SSO_NEW_ACCOUNTS = True
    settings.SSO_GROUPS = [("lead", "heads"), ("analyst", "statistics")]
    settings.SSO_REQUIRE_GROUP = True
    cache.clear()
    return provider


@pytest.fixture
def visit(idp):
    """Sign in a person at the provider in a new browser, and come back."""

    from tests.accounts.sign_in.providers.saml.visits import Visit

    def go(client: Client | None = None, **changes: object) -> Visit:
        return Visit(client or Client(), idp).go(**changes)

    return go
