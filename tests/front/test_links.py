"""Pages contain no link and no form that their reader may not use."""

from html.parser import HTMLParser
from urllib.parse import urljoin, urlsplit

import pytest
from django.test import Client
from django.urls import Resolver404, resolve

from accounts.models import User
from accounts.rights import CAPABILITIES, OF_PERSONS, Role, person_may, rights_of
from studies.models import Study, StudyMembership
from tests.annotation.label_studio import rows
from tests.e2e.annotator.steps import marking, rating
from tests.front import pages

__all__ = ["busy", "marking", "rating"]
pytestmark = pytest.mark.django_db
busy = pages.busy


class _Links(HTMLParser):
    """Collects the links and forms of a page as method and address."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.targets: set[tuple[str, str]] = set()
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        values = dict(attrs)
        if tag == "a" and values.get("href"):
            self.targets.add(("GET", values["href"]))
        if tag in {"img", "iframe"} and values.get("src"):
            self.targets.add(("GET", values["src"]))
        if tag == "form":
            self.targets.add(((values.get("method") or "get").upper(), values.get("action") or ""))


def refused_targets(path: str, text: str, capabilities, user) -> set[str]:
    """Return the links and forms of a page that the person may not use."""
    refused = set()
    for method, address in _Links(text).targets:
        place = urlsplit(urljoin(path, address))
        if place.netloc or not place.path.startswith("/") or place.path.startswith("/static/"):
            continue
        try:
            match = resolve(place.path)
        except Resolver404:
            refused.add(f"{method} {place.path} leads nowhere")
            continue
        capability = rights_of(match.func, match.namespaces).get(method)
        allowed = person_may(user, capability) if capability in OF_PERSONS else capability in capabilities
        if not allowed:
            refused.add(f"{method} {place.path}: {capability}")
    return refused


@pytest.fixture
def computed(busy, marking, lead, client):
    """The busy study with results and a Label Studio; returns every page that a lead may open."""
    client.force_login(lead)
    client.post("/studies/isles/results/compute/")
    server = rows.server_of(busy)
    user = rows.user_of(server, 1)
    bridge_pages = pages.label_studio_pages(server.pk, user.pk)
    bridge_pages = {
        name: url for name, url in bridge_pages.items() if "campaign" not in name and "answer" not in name
    }
    return [*pages.lead_pages().values(), *pages.more_lead_pages(), *bridge_pages.values()]


def members(role: Role) -> User:
    user = User.objects.create_user(f"the-{role}")
    for study in Study.objects.all():
        StudyMembership.objects.create(study=study, user=user, role=role)
    return user


@pytest.mark.slow
@pytest.mark.parametrize("role", Role)
def test_no_page_leads_a_member_to_a_refusal(computed, role):
    user = members(role)
    client = Client()
    client.force_login(user)
    capabilities = CAPABILITIES[role]
    wrong: dict[str, set[str]] = {}
    opened = 0
    for path in ["/", *computed]:
        response = client.get(path, follow=True)
        if response.status_code != 200:
            continue
        opened += 1
        if refused := refused_targets(path, response.content.decode(), capabilities, user):
            wrong[path] = refused
    assert opened > 8
    assert wrong == {}, "\n".join(
        f"{path}\n   " + "\n   ".join(sorted(refused)) for path, refused in wrong.items()
    )
