"""This server as a SAML service provider: its names, addresses and metadata."""

from typing import Any
from urllib.parse import urlencode, urlsplit

from django.conf import settings
from django.urls import reverse
from onelogin.saml2.authn_request import OneLogin_Saml2_Authn_Request
from onelogin.saml2.constants import OneLogin_Saml2_Constants as Saml2
from onelogin.saml2.settings import OneLogin_Saml2_Settings

from accounts.sign_in.providers.saml.errors import MetadataError
from accounts.sign_in.providers.saml.metadata import identity_provider


def entity_id() -> str:
    """Return the name of this server among identity providers: the address of its metadata."""
    return f"{settings.SITE_URL}{reverse('saml_metadata')}"


def answer_address() -> str:
    """Return the address to which an identity provider sends answers, regardless of a request's headers."""
    return f"{settings.SITE_URL}{reverse('saml_acs')}"


def request_data() -> dict[str, Any]:
    """Return the toolkit's description of a request to this address."""
    address = urlsplit(answer_address())
    return {
        "https": "on" if address.scheme == "https" else "off",
        "http_host": address.netloc,
        "script_name": address.path,
        "get_data": {},
        "post_data": {},
    }


def toolkit_settings() -> OneLogin_Saml2_Settings:
    """Return the toolkit's settings for writing requests and checking answers."""
    provider = identity_provider(settings.SAML_METADATA_FILE, settings.SAML_IDP)
    idp = {
        "entityId": provider.entity_id,
        "singleSignOnService": {"url": provider.sign_in_address, "binding": Saml2.BINDING_HTTP_REDIRECT},
        "x509certMulti": {"signing": list(provider.certificates)},
    }
    return OneLogin_Saml2_Settings({**_shared_settings(want_assertions_signed=False), "idp": idp})


def metadata() -> bytes:
    """Return the metadata of this server, with which it is registered at an identity provider."""
    # Answers that are signed as a whole are also accepted, but a provider should sign the assertion.
    toolkit = _shared_settings(want_assertions_signed=True)
    document = OneLogin_Saml2_Settings(toolkit, sp_validation_only=True).get_sp_metadata()
    return document if isinstance(document, bytes) else document.encode()


def sign_in_request() -> tuple[str, str]:
    """Return the id of a new sign-in request, and the address that takes it to the identity provider."""
    toolkit = toolkit_settings()
    # Without a policy on names: providers refuse unknown ones, and the metadata states our preference.
    request = OneLogin_Saml2_Authn_Request(toolkit, set_nameid_policy=False)
    address = toolkit.get_idp_data()["singleSignOnService"]["url"]
    query = urlencode({"SAMLRequest": request.get_request()})
    return request.get_id(), f"{address}{'&' if '?' in address else '?'}{query}"


def _shared_settings(*, want_assertions_signed: bool) -> dict[str, Any]:
    if not settings.SITE_URL:
        raise MetadataError("SITE_URL is not set, so identity providers cannot recognise this server.")
    return {
        "strict": True,
        "debug": False,
        "sp": {
            "entityId": entity_id(),
            "assertionConsumerService": {"url": answer_address(), "binding": Saml2.BINDING_HTTP_POST},
            "NameIDFormat": Saml2.NAMEID_PERSISTENT,
        },
        "security": {
            "wantAssertionsSigned": want_assertions_signed,
            "wantAttributeStatement": False,
            "wantNameId": False,
            "allowRepeatAttributeName": True,
            "allowSingleLabelDomains": True,
            "rejectDeprecatedAlgorithm": True,
            "requestedAuthnContext": False,
            # An empty text omits the limit: metadata that expire after two days would need another
            # registration.
            "metadataValidUntil": "",
            "metadataCacheDuration": "",
        },
    }
