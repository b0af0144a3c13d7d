"""A browser that goes to an identity provider and comes back."""

from urllib.parse import parse_qs, urlsplit

import httpx
from django.test import Client
from django.urls import reverse

from tests.accounts.sign_in.providers import oidc_server


class Visit:
    """Steps of one sign-in: through Django's test client here, over HTTP at the provider."""

    def __init__(self, client: Client, start: str) -> None:
        self.client, self.start = client, start

    def go(self, name: str, **fields: str) -> "Visit":
        return self.come_back(self.sign_in_there(self.begin(**fields), name))

    def begin(self, **fields: str) -> str:
        """Press the button; return where the page leads."""
        page = self.client.post(self.start, fields)
        assert page.status_code == 200, page.content.decode()
        return page["Refresh"].partition("url=")[2]

    def sign_in_there(self, address: str, name: str) -> str:
        """Give the password at the provider; return where it sends the browser."""
        with httpx.Client(timeout=30) as browser:
            asked = browser.get(address)
            if "/login/" not in asked.headers["Location"]:
                return asked.headers["Location"]
            form = str(asked.url.join(asked.headers["Location"]))
            browser.get(form)
            fields = {"username": name, "password": oidc_server.PASSWORD}
            answer = browser.post(form, data={**fields, "csrfmiddlewaretoken": browser.cookies["csrftoken"]})
            answer = browser.get(str(answer.url.join(answer.headers["Location"])))
            return answer.headers["Location"]

    def come_back(self, address: str) -> "Visit":
        parts = urlsplit(address)
        self.page = self.client.get(parts.path, parse_qs(parts.query))
        return self

    @property
    def text(self) -> str:
        return " ".join(self.page.content.decode().split())

    @property
    def is_signed_in(self) -> bool:
        return self.client.get(reverse("accounts:profile")).status_code == 200
