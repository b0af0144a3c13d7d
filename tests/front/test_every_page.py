"""Every named page answers on each database, so that both engines run every query of a page at least once."""

import pytest
from allauth.mfa.models import Authenticator
from django.test import Client
from django.urls import reverse

from accounts import profiles
from annotation.campaigns import known_tasks
from annotation.label_studio.models import LabelStudioAnnotation
from annotation.people import invitations
from catalog.models import Attribute
from tests.accounts.sign_in.passkey_device import add_passkey
from tests.accounts.sign_in.totp import set_up_app, sign_in
from tests.annotation.factories import new_annotator
from tests.annotation.label_studio import rows
from tests.annotation.label_studio.scenario import told
from tests.e2e.annotator.steps import marking, rating
from tests.front import pages

__all__ = ["busy", "marking", "rating"]
pytestmark = pytest.mark.django_db
busy = pages.busy


def failures(client, addresses) -> dict[str, int]:
    """Return the status of each address that neither shows a page nor redirects to one."""
    statuses = {address: client.get(address).status_code for address in addresses}
    return {address: status for address, status in statuses.items() if status not in (200, 302)}


@pytest.fixture
def computed(busy, lead, client):
    """The busy study with results; its lead, who is staff and may see the gallery, is signed in."""
    lead.is_staff = True
    lead.save()
    client.force_login(lead)
    client.post(reverse("analysis:compute", kwargs=pages.S))
    return busy


def test_every_named_page_is_tested(computed, marking, lead):
    practice = pages.practice_pages(marking, "00000000-0000-0000-0000-000000000000")
    visited = {
        *practice,
        *pages.label_studio_pages(0, 0),
        *pages.annotator_pages(marking, None, "token"),
        *pages.panel_pages(marking, lead, Client()),
        *pages.lead_pages(),
        *pages.signed_out_pages(),
        *pages.administrator_pages(),
        *pages.second_factor_pages(),
        "home",
    }
    assert pages.named_pages() - pages.NOT_PAGES - visited == set()


def test_every_page_of_a_lead_answers(computed, client):
    addresses = [*pages.lead_pages().values(), *pages.more_lead_pages(), *pages.more_automated_pages()]
    assert failures(client, addresses) == {}


def test_every_page_of_an_administrator_answers(study, admin_client):
    assert failures(admin_client, pages.administrator_pages().values()) == {}


def test_every_page_before_signing_in_answers(db, client, settings):
    settings.EMAIL_HOST = "mail.example.org"
    assert failures(client, pages.signed_out_pages().values()) == {}


def test_every_page_of_a_second_factor_answers(lead, django_capture_on_commit_callbacks):
    client, browser = (Client(SERVER_NAME="localhost") for _ in range(2))
    sign_in(client)
    set_up_app(client, django_capture_on_commit_callbacks)
    add_passkey(client, django_capture_on_commit_callbacks)
    addresses = pages.second_factor_pages(Authenticator.objects.get(type="webauthn").pk)
    sign_in(browser)
    assert browser.get(addresses.pop("mfa_authenticate")).status_code == 200
    assert {client.get(address).status_code for address in addresses.values()} == {200}


def test_every_page_of_an_annotator_answers(busy, marking, rating, lead, client):
    token = invitations.invite(campaign=marking, by=None)[1]
    person = new_annotator(marking)
    profiles.describe(annotator=person)
    task = pages.add_check(marking, lead, "practice")
    drum = Attribute.objects.get(text="drum")
    known_tasks.add(
        campaign=rating,
        purpose="practice",
        by=lead,
        content=known_tasks.TaskContent(attributes=[drum]),
        answers={drum: [4, 5]},
    )
    client.force_login(person.user)
    practice = pages.practice_pages(marking, task.public_id)
    addresses = [*pages.annotator_pages(marking, person, token).values(), *practice.values()]
    assert failures(client, ["/", *addresses]) == {}


def test_every_page_of_somebody_from_a_panel_answers(marking, lead, client):
    addresses = pages.panel_pages(marking, lead, client)
    assert client.get(addresses.pop("panel:refused")).status_code == 409
    assert failures(client, addresses.values()) == {}


def test_every_page_about_label_studio_answers(marking, lead, client):
    client.force_login(lead)
    study = marking.study
    server = rows.server_of(study)
    bridge = rows.bridge_of(marking, server)
    user = rows.user_of(server, 1)
    named = rows.user_of(server, 2, state="mapped", annotator=new_annotator(marking))
    for state in rows.State.values:
        rows.seen(bridge, named, state=state, reason="Why it is so.")
    rows.in_trouble(bridge)
    told(bridge, marking.tasks.earliest("pk"), 901, 2, minute=1)
    answer = LabelStudioAnnotation.objects.get(external_id=901)
    addresses = pages.label_studio_pages(server.pk, user.pk, answer.pk, pages.looked_into(study).pk)
    assert failures(client, addresses.values()) == {}
