"""A device with passkeys, by WebAuthn: https://www.w3.org/TR/webauthn-3/. It signs whatever a test gives it."""

import hashlib
import json
import re
import secrets
import struct
from dataclasses import dataclass, field
from html import unescape

from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec
from django.urls import reverse
from fido2 import cbor
from fido2.cose import ES256
from fido2.utils import websafe_encode

ADD = reverse("mfa_add_webauthn")
SIGN_IN = reverse("mfa_login_webauthn")
LOCAL = "http://localhost"
PRESENT, CHECKED, KEY_INCLUDED = 1, 4, 64


@dataclass
class Device:
    """One passkey; with `checks_owner`, it verifies the person, as by a PIN or a finger."""

    origin: str = LOCAL
    site_name: str = "localhost"
    checks_owner: bool = True
    keeps_it: bool = True
    number: bytes = field(default_factory=lambda: secrets.token_bytes(16))
    owner: str = ""

    def __post_init__(self):
        self.key = ec.generate_private_key(ec.SECP256R1())

    def create(self, options: dict, **more) -> dict:
        """Return what a browser sends for `navigator.credentials.create`."""
        self.owner = options["user"]["id"]
        public = cbor.encode(ES256.from_cryptography_key(self.key.public_key()))
        attested = bytes(16) + struct.pack(">H", len(self.number)) + self.number + public
        statement = {"fmt": "none", "attStmt": {}, "authData": self._data(KEY_INCLUDED) + attested}
        return {
            **self._named(),
            "clientExtensionResults": {"credProps": {"rk": self.keeps_it}},
            "response": {
                "clientDataJSON": websafe_encode(self._client("webauthn.create", options)),
                "attestationObject": websafe_encode(cbor.encode(statement)),
            },
            **more,
        }

    def use(self, options: dict) -> dict:
        """Return what a browser sends for `navigator.credentials.get`."""
        client, data = self._client("webauthn.get", options), self._data(0)
        signed = self.key.sign(data + hashlib.sha256(client).digest(), ec.ECDSA(hashes.SHA256()))
        return {
            **self._named(),
            "clientExtensionResults": {},
            "response": {
                "clientDataJSON": websafe_encode(client),
                "authenticatorData": websafe_encode(data),
                "signature": websafe_encode(signed),
                "userHandle": self.owner,
            },
        }

    def _named(self):
        number = websafe_encode(self.number)
        return {"id": number, "rawId": number, "type": "public-key"}

    def _client(self, kind, options):
        return json.dumps({"type": kind, "challenge": options["challenge"], "origin": self.origin}).encode()

    def _data(self, more):
        flags = PRESENT | more | (CHECKED if self.checks_owner else 0)
        return hashlib.sha256(self.site_name.encode()).digest() + bytes([flags]) + bytes(4)


def options_on(page) -> dict:
    """Return the options that a page sends to a device."""
    return json.loads(unescape(re.search(r'data-options="([^"]*)"', page.content.decode())[1]))["publicKey"]


def add_passkey(client, capture, device=None, **posted) -> Device:
    """Add a passkey for whom `client` has signed in."""
    device = device or Device()
    credential = json.dumps(device.create(options_on(client.get(ADD))))
    with capture(execute=True):
        answer = client.post(ADD, {"name": "work laptop", "credential": credential, **posted})
    assert answer.status_code == 302, answer.content.decode()
    return device


def sign_in_with(client, device, **posted):
    """Sign in with a passkey alone; `posted` may hold a false credential."""
    options = client.get(SIGN_IN, HTTP_ACCEPT="application/json").json()["request_options"]["publicKey"]
    return client.post(SIGN_IN, {"credential": json.dumps(device.use(options)), **posted})
