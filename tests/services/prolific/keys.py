"""Signed links: RS256 tokens that are valid for two minutes, and the public keys that verify them."""

import base64
import json
import secrets
import time
from typing import Any
from urllib.parse import urlencode, urlsplit

import jwt
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric import rsa

from tests.services.prolific.states import World
from tests.services.prolific.store import Store

_SECONDS = 120


class Keys:
    """The current signing key, and the public keys of earlier ones unless they were dropped."""

    def __init__(self, store: Store) -> None:
        self._store = store

    def rotate(self) -> None:
        """Sign with another key from now on; the earlier one is no longer published."""
        for key in self._store.all("key"):
            self._store.delete("key", key["id"])

    def _current(self) -> dict[str, Any]:
        keys = self._store.all("key")
        if keys:
            return keys[-1]
        private = rsa.generate_private_key(public_exponent=65537, key_size=2048)
        pem = private.private_bytes(
            serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
        )
        key = {"id": secrets.token_hex(8), "pem": pem.decode()}
        self._store.put("key", key["id"], key)
        return key

    def public(self) -> dict[str, Any]:
        key = self._current()
        private = serialization.load_pem_private_key(key["pem"].encode(), None)
        public = json.loads(jwt.algorithms.RSAAlgorithm.to_jwk(private.public_key()))  # type: ignore[union-attr, arg-type]
        return {
            "keys": [
                {**public, "kid": key["id"], "alg": "RS256", "use": "sig", "key_ops": ["verify"]},
            ]
        }

    def signed_link(self, world: World, submission: str, **changes: Any) -> str:
        """Return the link of a submission in a workspace with signed links; `changes` spoil the token."""
        row = world._submission(submission)
        address = world._link(world._study(row["study_id"]), row)
        parts = urlsplit(address)
        now = int(time.time())
        claims = {
            "aud": changes.get("aud", f"{parts.scheme}://{parts.netloc}"),
            "iat": now,
            "exp": now + changes.get("seconds", _SECONDS),
            "prolific": {
                "PROLIFIC_PID": changes.get("participant", row["participant"]),
                "STUDY_ID": changes.get("study", row["study_id"]),
                "SESSION_ID": changes.get("session", row["id"]),
                "workspace_id": world.settings["workspace"],
            },
        }
        key = self._current()
        if changes.get("algorithm") == "none":
            token = f"{_part({'alg': 'none', 'kid': key['id']})}.{_part(claims)}."
        else:
            pem = changes.get("pem", key["pem"])
            token = jwt.encode(claims, pem, algorithm="RS256", headers={"kid": key["id"]})
        return f"{parts.scheme}://{parts.netloc}{parts.path}?{urlencode({'prolific_token': token})}"


def _part(value: dict[str, Any]) -> str:
    return base64.urlsafe_b64encode(json.dumps(value).encode()).rstrip(b"=").decode()
