"""The identity provider's metadata: its name, its sign-in address and its signing keys."""

import base64
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from cryptography.x509 import load_der_x509_certificate
from lxml import etree

from accounts.sign_in.providers.saml.errors import MetadataError
from web.checks import LOOPBACK

NAMESPACES = {
    "md": "urn:oasis:names:tc:SAML:2.0:metadata",
    "ds": "http://www.w3.org/2000/09/xmldsig#",
}
REDIRECT = "urn:oasis:names:tc:SAML:2.0:bindings:HTTP-Redirect"


@dataclass(frozen=True)
class IdentityProvider:
    """The identity provider. It has several certificates while it changes its key."""

    entity_id: str
    sign_in_address: str
    certificates: tuple[str, ...]


@lru_cache(maxsize=4)
def identity_provider(file: str, entity_id: str) -> IdentityProvider:
    """Read the provider from its metadata, or the one with this entity id if the file describes several."""
    descriptor = _chosen(_providers(file), file=file, entity_id=entity_id)
    name = descriptor.get("entityID") or ""
    role = descriptor.find("md:IDPSSODescriptor", NAMESPACES)
    addresses = [
        service.get("Location") or ""
        for service in role.findall("md:SingleSignOnService", NAMESPACES)
        if service.get("Binding") == REDIRECT
    ]
    if not name or not addresses:
        raise MetadataError(f"{file} names no sign-in address of {name or 'the provider'} for HTTP-Redirect.")
    address = urlsplit(addresses[0])
    if address.scheme != "https" and address.hostname not in LOOPBACK:
        raise MetadataError(f"The sign-in address {addresses[0]} in {file} is not encrypted.")
    certificates = tuple(_signing_certificates(role))
    if not certificates:
        raise MetadataError(f"{file} contains no certificate with which {name} signs.")
    if not all(map(_is_certificate, certificates)):
        raise MetadataError(f"A certificate of {name} in {file} cannot be read. Download the metadata again.")
    return IdentityProvider(entity_id=name, sign_in_address=addresses[0], certificates=certificates)


def _providers(file: str) -> list[Any]:
    parser = etree.XMLParser(resolve_entities=False, no_network=True, load_dtd=False, remove_comments=True)
    try:
        root = etree.fromstring(Path(file).read_bytes(), parser)
    except OSError as error:
        raise MetadataError(f"SAML_METADATA_FILE={file} cannot be read: {error.strerror}.") from error
    except etree.XMLSyntaxError as error:
        raise MetadataError(f"SAML_METADATA_FILE={file} is not XML.") from error
    entities = root.xpath("descendant-or-self::md:EntityDescriptor", namespaces=NAMESPACES)
    return [entity for entity in entities if entity.find("md:IDPSSODescriptor", NAMESPACES) is not None]


def _chosen(providers: list[Any], *, file: str, entity_id: str) -> Any:
    if not providers:
        raise MetadataError(f"SAML_METADATA_FILE={file} describes no identity provider.")
    if entity_id:
        providers = [entity for entity in providers if entity.get("entityID") == entity_id]
        if len(providers) != 1:
            raise MetadataError(f"SAML_METADATA_FILE={file} does not describe SAML_IDP={entity_id} once.")
    if len(providers) > 1:
        raise MetadataError(
            f"SAML_METADATA_FILE={file} describes {len(providers)} identity providers. Set SAML_IDP to the "
            "entity id of the provider that you use."
        )
    return providers[0]


def _signing_certificates(role: Any) -> list[str]:
    """Return the certificates for signatures; a key without a stated use serves every purpose."""
    return [
        "".join(certificate.text.split())
        for key in role.findall("md:KeyDescriptor", NAMESPACES)
        if key.get("use") in {None, "signing"}
        for certificate in key.findall("ds:KeyInfo/ds:X509Data/ds:X509Certificate", NAMESPACES)
        if certificate.text
    ]


def _is_certificate(text: str) -> bool:
    try:
        load_der_x509_certificate(base64.b64decode(text, validate=True))
    except ValueError:
        return False
    return True
