"""Every download of a study's file is recorded in the audit trail."""

import re
from pathlib import Path

import pytest
from django.test import Client
from django.urls import reverse

from accounts import profiles
from accounts.models import User
from annotation.assignment import leases
from annotation.people import invitations
from studies.models import AuditEntry
from tests.annotation.factories import new_annotator, submit, ticking
from tests.e2e.annotator.steps import marking, rating
from tests.front import pages
from tests.front.addresses import addresses
from tests.front.studies import visits

__all__ = ["busy", "marking", "rating"]
pytestmark = pytest.mark.django_db
busy = pages.busy

ROOT = Path(__file__).resolve().parents[3]
# Responses for machines and browsers without data of a study, or a single picture of a page.
NO_FILES = {
    "annotate/your-data/download": "one's own data, recorded as such (tests/privacy/test_own_data.py)",
    "account/second-factor/codes/file": "one's own recovery codes",
    "account/oidc/callback": "signs in",
    "account/saml/finish": "signs in",
    "account/saml/metadata": "describes the server to identity providers",
    "pictures/<str:token>": "one picture, for a page of another labelling tool",
    "images/<str:token>": "one picture of a page",
    "api/schema": "describes the API",
    "api/docs": "shows that",
    "healthz": "of the server",
    "readyz": "of the server",
    "metrics": "of the server",
    "admin/login": "leads to the page for signing in",
    "admin/password_change": "leads to the page for a new password",
}
# Forms without a page of their own answer 405; the page for people refused by a panel's link answers 409.
REFUSALS = {405, 409}
# The only modules that send files: the first records it, the second records an action of its own.
SENDING = {"platform/studies/audit/files.py", "platform/privacy/pages/own_data.py"}
SENDS = re.compile(r"""["']attachment;|as_attachment=|FileResponse\(""")


def is_file(answer) -> bool:
    """Return whether a browser would save the response, or a program gets neither a page nor JSON."""
    content_type = answer.headers.get("Content-Type", "").partition(";")[0]
    is_saved = answer.headers.get("Content-Disposition", "").startswith("attachment")
    return is_saved or content_type not in {"text/html", "application/json"}


@pytest.fixture
def report(busy, lead_client):
    return visits.compute(busy, lead_client)


@pytest.mark.slow
def test_every_file_of_a_study_is_recorded(busy, report, lead, lead_client):
    for url, name in visits.files(busy, report).items():
        earlier = AuditEntry.objects.latest("pk").pk
        answer = lead_client.get(url)
        assert (url, answer.status_code, is_file(answer)) == (url, 200, True)
        answer.close()
        entries = AuditEntry.objects.filter(pk__gt=earlier, action="file.downloaded")
        assert [(url, entry.actor, entry.study, entry.details) for entry in entries] == [
            (url, lead, busy, {"file": name})
        ]


def opened(busy, marking, lead, lead_client) -> dict[Client, list[str]]:
    """Return all other addresses with content, by the client of somebody who may open them."""
    token = invitations.invite(campaign=marking, by=None)[1]
    person = new_annotator(marking)
    profiles.describe(annotator=person)
    leased = leases.next_assignment(campaign=marking, annotator=person)
    submit(leased, ticking(leased, leased.task.task_attributes.earliest("position").attribute.text))
    annotator, administrator, panel, nobody = Client(), Client(), Client(), Client()
    annotator.force_login(person.user)
    administrator.force_login(User.objects.create_superuser("ada", password="not-tested"))
    practice = pages.add_check(marking, lead, "practice").public_id
    of_panel = pages.panel_pages(marking, lead, panel)
    of_lead = [*pages.lead_pages().values(), *pages.more_lead_pages()]
    keys = visits.label_studio_rows(marking)
    return {
        lead_client: [
            *of_lead,
            *pages.label_studio_pages(*keys).values(),
            *visits.by_scripts(busy, *keys),
            *visits.api_answers(busy, server=keys[0], answer=keys[2]),
        ],
        annotator: [
            *pages.annotator_pages(marking, person, token).values(),
            *pages.practice_pages(marking, practice).values(),
            *visits.of_annotator(marking, leased),
        ],
        administrator: [*pages.administrator_pages().values()],
        panel: [*of_panel.values(), *visits.of_panel(of_panel)],
        nobody: [
            "/",
            reverse("mfa_login_webauthn"),
            *pages.signed_out_pages().values(),
            *pages.second_factor_pages().values(),
        ],
    }


@pytest.mark.slow
def test_no_other_address_answers_with_a_file(busy, report, marking, lead, lead_client, settings):
    settings.EMAIL_HOST = "mail.example.org"
    lead.is_staff = True
    lead.save()
    files = {url.partition("?")[0] for url in visits.files(busy, report)}
    visited = {visits.route_of(url) for url in files} | set(NO_FILES)
    wrong = []
    for browser, urls in opened(busy, marking, lead, lead_client).items():
        for url in set(urls) - files:
            visited.add(visits.route_of(url))
            format = "json" if url.startswith("/api/") else "csv"
            answer = browser.get(url, QUERY_STRING=f"{url.partition('?')[2]}&format={format}")
            if is_file(answer) or (answer.status_code >= 400 and answer.status_code not in REFUSALS):
                wrong.append((url, answer.status_code, answer.headers.get("Content-Type")))
    assert wrong == []
    routes = {visits.plain(address.path) for address in addresses() if "GET" in address.rights}
    assert routes - visited == set()


def test_no_module_sends_a_file_by_itself():
    sources = [
        path
        for app in ("platform", "annotation", "analysis", "generation")
        for path in (ROOT / app).rglob("*.py")
        if SENDS.search(path.read_text(encoding="utf-8"))
    ]
    assert {str(path.relative_to(ROOT)) for path in sources} - SENDING == set()
