"""A panel's ids are stored encrypted, and occur nowhere else: database, logs, pages, tables, sessions."""

import logging

import pytest
from django.apps import apps
from django.contrib.sessions.models import Session
from django.core.servers.basehttp import WSGIRequestHandler
from django.urls import reverse

from annotation.models import Task
from annotation.recruitment import identities
from annotation.recruitment.models import PanelPerson
from foundation.redaction import QueryFilter
from tests.annotation.recruitment.conftest import Guest

pytestmark = pytest.mark.django_db
PERSON, SESSION = "5f3a0c77b1d2e4a6c8f00112", "6a0b1c2d3e4f5a6b7c8d9e0f"


@pytest.fixture
def worked(recruitment):
    browser = Guest()
    browser.arrive(recruitment, PERSON, SESSION)
    browser.agree().answer(3)
    browser.get(browser.page("end"))
    return browser


def test_no_row_of_any_table_holds_an_id_in_clear(worked):
    for model in apps.get_models(include_auto_created=True):
        for row in model._default_manager.values():
            text = repr(row)
            assert PERSON not in text, model
            assert SESSION not in text, model
    for session in Session.objects.all():
        assert PERSON not in repr(session.get_decoded())
    person = PanelPerson.objects.get()
    assert identities.unseal(person.id_sealed) == PERSON


def test_no_page_or_file_of_the_study_holds_an_id(
    worked, recruitment, lead_client, django_capture_on_commit_callbacks
):
    at = {"study": "isles", "campaign": "marking"}
    addresses = [
        *(
            reverse(f"annotation:{name}", kwargs=at)
            for name in ("campaign", "annotators", "pay", "pay_table")
        ),
        *(
            reverse(f"annotation:{name}", kwargs=at)
            for name in ("annotations", "recruitments", "invitations")
        ),
        reverse("annotation:recruitment", kwargs={**at, "recruitment": recruitment.pk}),
        reverse(
            "annotation:panel_place", kwargs={**at, "recruitment": recruitment.pk, "place": worked.place.pk}
        ),
        reverse("studies:history", args=["isles"]),
        f"/api/v1/campaigns/{recruitment.campaign_id}/annotators/",
    ]
    for address in addresses:
        response = lead_client.get(address)
        assert response.status_code == 200, address
        assert PERSON.encode() not in response.content, address
        assert SESSION.encode() not in response.content, address


def test_an_id_is_written_to_no_log(recruitment, caplog):
    caplog.set_level(logging.DEBUG)
    browser = Guest()
    browser.arrive(recruitment, PERSON, SESSION)
    recruitment.state = "closed"
    recruitment.save()
    browser.arrive(recruitment, "other", SESSION)
    own = [record.getMessage() for record in caplog.records if record.name != "django.db.backends"]
    assert not any(PERSON in line or SESSION in line for line in own)


def test_the_server_log_omits_query_strings(capsys):
    record = logging.LogRecord(
        "django.server", logging.INFO, __file__, 1, '"%s" %s %s',
        (f"GET /annotate/panel/x/?pid={PERSON}&session={SESSION} HTTP/1.1", "303", "0"), None,
    )  # fmt: skip
    assert QueryFilter().filter(record)
    assert record.getMessage() == '"GET /annotate/panel/x/?[hidden] HTTP/1.1" 303 0'
    logger = logging.getLogger("django.server")
    assert any(isinstance(one, QueryFilter) for one in logger.filters)
    assert WSGIRequestHandler.log_message  # the server that writes these lines


def test_a_row_is_found_by_an_earlier_key_too(worked, recruitment, settings):
    settings.SECRET_KEY_FALLBACKS = [settings.SECRET_KEY]
    settings.SECRET_KEY = "a new key that is as long as keys have to be to be taken for one"
    assert identities.person_of(recruitment.provider, PERSON) == PanelPerson.objects.get()
    assert identities.unseal(PanelPerson.objects.get().id_sealed) == PERSON


def test_tasks_name_nobody(worked):
    assert PERSON not in repr(list(Task.objects.values()))
