"""Codes of an authenticator app, by RFC 6238, and people who have one."""

import base64
import hashlib
import hmac
import re
import struct
import time

from django.urls import reverse

PASSWORD = "a long password"


def code_at(secret: str, moment: float | None = None) -> str:
    """Return the code that an app with this secret shows at a moment, by default now."""
    counter = int((time.time() if moment is None else moment) // 30)
    digest = hmac.new(base64.b32decode(secret), struct.pack(">Q", counter), hashlib.sha1).digest()
    start = digest[-1] & 15
    return f"{(struct.unpack('>I', digest[start : start + 4])[0] & 0x7FFFFFFF) % 10**6:06}"


def sign_in(client, name="lena", **more):
    return client.post(reverse("accounts:sign_in"), {"username": name, "password": PASSWORD}, **more)


def set_up_app(client, capture) -> str:
    """Set up an app for whom `client` has signed in; return its secret."""
    page = client.get(reverse("mfa_activate_totp")).content.decode()
    secret = re.search(r'data-copy="([A-Z2-7]{32})"', page)[1]
    with capture(execute=True):
        answer = client.post(reverse("mfa_activate_totp"), {"code": code_at(secret)})
    assert answer.status_code == 302, answer.content.decode()
    return secret
