"""A SAML identity provider: a key made for the test, metadata, and signed answers, valid and forged.

    python -m tests.accounts.sign_in.providers.saml.identity_provider PORT FOLDER ANSWER_ADDRESS ENTITY_ID

serves its sign-in page, for a browser. FOLDER holds the key and, in person.json, the attributes of the person.
"""

import base64
import json
import sys
import zlib
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from urllib.parse import parse_qs, urlsplit
from xml.sax.saxutils import escape

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import rsa
from cryptography.x509.oid import NameOID
from lxml import etree
from onelogin.saml2.constants import OneLogin_Saml2_Constants as Saml2
from onelogin.saml2.utils import OneLogin_Saml2_Utils

NAME = "https://login.velmar.example/saml"
PAIRWISE = "urn:oasis:names:tc:SAML:attribute:pairwise-id"
MAIL = "urn:oid:0.9.2342.19200300.100.1.3"
DISPLAY_NAME = "urn:oid:2.16.840.1.113730.3.1.241"
AFFILIATION = "urn:oid:1.3.6.1.4.1.5923.1.1.1.1"
SUCCESS = "urn:oasis:names:tc:SAML:2.0:status:Success"
PASSWORD = "urn:oasis:names:tc:SAML:2.0:ac:classes:PasswordProtectedTransport"


class Key:
    """A private key and its certificate."""

    def __init__(self) -> None:
        private = rsa.generate_private_key(public_exponent=65537, key_size=2048)
        name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "login.velmar.example")])
        now = datetime(2020, 1, 1, tzinfo=UTC)
        certificate = (
            x509.CertificateBuilder(name, name, private.public_key(), x509.random_serial_number())
            .not_valid_before(now)
            .not_valid_after(now + timedelta(days=20 * 365))
            .sign(private, hashes.SHA256())
        )
        pem, pkcs8 = serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8
        self.private = private.private_bytes(pem, pkcs8, serialization.NoEncryption()).decode()
        self.certificate = certificate.public_bytes(pem).decode()

    @property
    def body(self) -> str:
        """The certificate without its first and last line, as metadata have it."""
        return "".join(self.certificate.splitlines()[1:-1])


@dataclass(frozen=True)
class Answer:
    """The content of an answer. A forged answer is a valid one in which something was replaced."""

    request_id: str
    destination: str
    audience: str
    issuer: str = NAME
    subject: str = "of-this-visit"
    subject_format: str = Saml2.NAMEID_TRANSIENT
    attributes: dict[str, list[str]] = field(default_factory=dict)
    status: str = SUCCESS
    context: str = PASSWORD
    valid_from: timedelta = timedelta(minutes=-1)
    valid_until: timedelta = timedelta(minutes=5)
    confirmed_until: timedelta | None = timedelta(minutes=5)
    # None: as in the answer; "": left out.
    recipient: str | None = None
    confirmed_request: str | None = None

    def assertion(self) -> str:
        """Return the unsigned assertion."""
        recipient = self.destination if self.recipient is None else self.recipient
        request_id = self.request_id if self.confirmed_request is None else self.confirmed_request
        attributes = "".join(
            f'<saml:Attribute Name="{name}" NameFormat="urn:oasis:names:tc:SAML:2.0:attrname-format:uri">'
            + "".join(f"<saml:AttributeValue>{value}</saml:AttributeValue>" for value in values)
            + "</saml:Attribute>"
            for name, values in self.attributes.items()
        )
        audience = f"<saml:Audience>{self.audience}</saml:Audience>"
        audience = f"<saml:AudienceRestriction>{audience}</saml:AudienceRestriction>"
        until = _time(self.confirmed_until) if self.confirmed_until else ""
        return f"""<saml:Assertion xmlns:saml="{Saml2.NS_SAML}" ID="{_new_id()}" Version="2.0" \
IssueInstant="{_time()}"><saml:Issuer>{self.issuer}</saml:Issuer><saml:Subject>\
<saml:NameID Format="{self.subject_format}">{self.subject}</saml:NameID>\
<saml:SubjectConfirmation Method="{Saml2.CM_BEARER}"><saml:SubjectConfirmationData\
{_attribute("InResponseTo", request_id)}{_attribute("Recipient", recipient)}\
{_attribute("NotOnOrAfter", until)}/></saml:SubjectConfirmation></saml:Subject>\
<saml:Conditions NotBefore="{_time(self.valid_from)}" NotOnOrAfter="{_time(self.valid_until)}">\
{audience if self.audience else ""}</saml:Conditions>\
<saml:AuthnStatement AuthnInstant="{_time()}" SessionIndex="{_new_id()}"><saml:AuthnContext>\
<saml:AuthnContextClassRef>{self.context}</saml:AuthnContextClassRef></saml:AuthnContext></saml:AuthnStatement>\
<saml:AttributeStatement>{attributes}</saml:AttributeStatement></saml:Assertion>"""

    def around(self, assertion: str) -> str:
        """Return the answer that contains this assertion."""
        return f"""<samlp:Response xmlns:samlp="{Saml2.NS_SAMLP}" xmlns:saml="{Saml2.NS_SAML}" ID="{_new_id()}" \
Version="2.0" IssueInstant="{_time()}"{_attribute("Destination", self.destination)}\
{_attribute("InResponseTo", self.request_id)}><saml:Issuer>{self.issuer}</saml:Issuer><samlp:Status>\
<samlp:StatusCode Value="{self.status}"/></samlp:Status>{assertion}</samlp:Response>"""


@dataclass
class IdentityProvider:
    """The provider: its key, and where it and the server under test are."""

    answer_address: str
    service: str
    address: str = "https://login.velmar.example/sso"
    key: Key = field(default_factory=Key)
    name: str = NAME

    def metadata(self, *, name: str = "", certificates: tuple[str, ...] = ()) -> str:
        """Return the metadata that operators store on their server."""
        keys = "".join(
            f'<md:KeyDescriptor use="signing"><ds:KeyInfo xmlns:ds="{Saml2.NS_DS}"><ds:X509Data>'
            f"<ds:X509Certificate>{body}</ds:X509Certificate></ds:X509Data></ds:KeyInfo></md:KeyDescriptor>"
            for body in certificates or (self.key.body,)
        )
        return f"""<md:EntityDescriptor xmlns:md="{Saml2.NS_MD}" entityID="{name or self.name}">\
<md:IDPSSODescriptor protocolSupportEnumeration="{Saml2.NS_SAMLP}">{keys}\
<md:SingleSignOnService Binding="{Saml2.BINDING_HTTP_POST}" Location="{self.address}/post"/>\
<md:SingleSignOnService Binding="{Saml2.BINDING_HTTP_REDIRECT}" Location="{self.address}"/>\
</md:IDPSSODescriptor></md:EntityDescriptor>"""

    def answer(self, request_id: str, **changes: object) -> Answer:
        """Return a valid answer with these changes."""
        honest = Answer(request_id=request_id, destination=self.answer_address, audience=self.service)
        return replace(honest, **changes)

    def signed(
        self, answer: Answer, *, what: str = "assertion", key: Key | None = None, sha: str = "256"
    ) -> str:
        """Return the answer as XML, with the assertion, the whole answer or both signed."""
        assertion = answer.assertion()
        if what in {"assertion", "both"}:
            assertion = self.sign(assertion, key=key, sha=sha)
        whole = answer.around(assertion)
        return self.sign(whole, key=key, sha=sha) if what in {"response", "both"} else whole

    def sign(self, xml: str, *, key: Key | None = None, sha: str = "256") -> str:
        """Sign the outermost element."""
        key = key or self.key
        weak = sha == "1"
        signed = OneLogin_Saml2_Utils.add_sign(
            xml,
            key.private,
            key.certificate,
            sign_algorithm=Saml2.RSA_SHA1 if weak else Saml2.RSA_SHA256,
            digest_algorithm=Saml2.SHA1 if weak else Saml2.SHA256,
        )
        return signed.decode() if isinstance(signed, bytes) else signed


def encoded(xml: "str | bytes | etree._Element") -> str:
    """Return an answer as it is encoded in the form field."""
    if isinstance(xml, etree._Element):
        xml = etree.tostring(xml)
    return base64.b64encode(xml if isinstance(xml, bytes) else xml.encode()).decode()


def request_in(address: str) -> "etree._Element":
    """Return the request in the address to which a browser is led."""
    packed = parse_qs(urlsplit(address).query)["SAMLRequest"][0]
    return etree.fromstring(zlib.decompress(base64.b64decode(packed), -15))


def _new_id() -> str:
    return OneLogin_Saml2_Utils.generate_unique_id()


def _time(later: timedelta = timedelta()) -> str:
    return (datetime.now(UTC) + later).strftime("%Y-%m-%dT%H:%M:%SZ")


def _attribute(name: str, value: str) -> str:
    return f' {name}="{escape(value)}"' if value else ""


PAGE = """<form method=post action="{address}"><input type=hidden name=SAMLResponse value="{answer}">
<button>Sign in at Velmar</button></form>"""


def main() -> None:
    port, folder, answer_address, service = sys.argv[1:]
    place = Path(folder)
    provider = IdentityProvider(answer_address, service, address=f"http://127.0.0.1:{port}/sso")

    class Page(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            body = b"ready"
            if self.path == "/lure":
                body = PAGE.format(address=answer_address, answer="bm90aGluZw==").encode()
            if self.path.startswith("/sso?"):
                request_id = request_in(self.path).get("ID")
                attributes = json.loads((place / "person.json").read_text())
                answer = provider.signed(provider.answer(request_id, attributes=attributes))
                body = PAGE.format(address=answer_address, answer=encoded(answer)).encode()
            self.send_response(200)
            self.send_header("Content-Type", "text/html")
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *args: object) -> None:
            """Keep request lines out of the test output."""

    (place / "metadata.xml").write_text(provider.metadata())
    with ThreadingHTTPServer(("127.0.0.1", int(port)), Page) as server:
        server.serve_forever()


if __name__ == "__main__":
    main()
