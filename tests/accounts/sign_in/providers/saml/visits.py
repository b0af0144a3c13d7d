"""A browser that goes to a SAML identity provider and comes back with its form."""

from urllib.parse import parse_qs, urlsplit

from django.test import Client
from django.urls import reverse

from tests.accounts.sign_in.providers.saml.identity_provider import (
    AFFILIATION,
    DISPLAY_NAME,
    PAIRWISE,
    IdentityProvider,
    encoded,
    request_in,
)

MIRA = {PAIRWISE: ["mira@velmar.example"], DISPLAY_NAME: ["Mira Tal"], AFFILIATION: ["heads"]}


class Visit:
    """Steps of one sign-in. The answer comes with the cookies that a browser sends with another server's form."""

    def __init__(self, client: Client, idp: IdentityProvider, start: str = "saml_sign_in") -> None:
        self.client, self.idp, self.start = client, idp, reverse(start)

    def go(self, **changes: object) -> "Visit":
        return self.come_back(self.answer(self.begin(), **changes))

    def begin(self, **fields: str) -> str:
        """Press the button; return the id of the request to which the page leads."""
        page = self.client.post(self.start, fields)
        assert page.status_code == 200, page.content.decode()
        self.address = page["Refresh"].partition("url=")[2]
        return request_in(self.address).get("ID")

    def answer(self, request_id: str, **changes: object) -> str:
        """Return a valid answer about Mira with these changes."""
        return encoded(self.idp.signed(self.idp.answer(request_id, **{"attributes": MIRA, **changes})))

    def come_back(self, answer: str) -> "Visit":
        self.send(answer)
        self.page = self.client.get(self.arrival["Location"])
        return self

    def send(self, answer: str) -> dict[str, list[str]]:
        """Send the answer; return the query parameters of the address to which the browser is redirected."""
        form = Client(enforce_csrf_checks=True)
        for name, cookie in self.client.cookies.items():
            if cookie["samesite"] == "None" and reverse("saml_acs").startswith(cookie["path"]):
                form.cookies[name] = cookie.value
        self.arrival = form.post(reverse("saml_acs"), {"SAMLResponse": answer}, headers={"Origin": "null"})
        assert self.arrival.status_code == 303, self.arrival
        # Nothing else is set: it would take the place of cookies that the browser has and did not send.
        assert all(name.startswith("stereoscope_saml_") for name in self.arrival.cookies)
        for name in self.arrival.cookies:
            del self.client.cookies[name]
        return parse_qs(urlsplit(self.arrival["Location"]).query)

    @property
    def text(self) -> str:
        return " ".join(self.page.content.decode().split())

    @property
    def is_signed_in(self) -> bool:
        return self.client.get(reverse("accounts:profile")).status_code == 200
