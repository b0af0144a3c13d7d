"""Access to pages: leads change, analysts read, strangers and annotators get 404."""

import pytest
from django.test import Client
from django.urls import reverse

from annotation.models import Annotation, Invitation
from annotation.people import invitations
from studies.models import StudyMembership

pytestmark = pytest.mark.django_db

READ = [
    ("studies:detail", {}),
    ("studies:members", {}),
    ("studies:consent", {}),
    ("studies:history", {}),
    ("annotation:campaigns", {}),
    ("annotation:campaign", {"campaign": "marking"}),
    ("annotation:campaign_progress", {"campaign": "marking"}),
    ("annotation:preview", {"campaign": "marking"}),
    ("annotation:annotators", {"campaign": "marking"}),
    ("annotation:coverage", {"campaign": "marking"}),
    ("annotation:quality", {"campaign": "marking"}),
    ("annotation:screens", {"campaign": "marking"}),
    ("annotation:invitations", {"campaign": "marking"}),
    ("annotation:annotations", {"campaign": "marking"}),
    ("annotation:scenarios", {}),
    ("annotation:languages", {"campaign": "marking"}),
    ("annotation:translations_file", {"campaign": "marking"}),
    ("annotation:kinds", {}),
    ("annotation:kind", {"key": "rubric"}),
    ("annotation:kind_file", {"key": "rubric"}),
]
CHANGE = [
    ("annotation:campaign_new", {}),
    ("annotation:personal_links", {"campaign": "marking"}),
    ("annotation:letters_again", {"campaign": "marking"}),
    ("annotation:kind_new", {}),
    ("annotation:scenarios_redraw", {}),
    ("studies:own_words", {}),
    ("annotation:campaign_close_confirm", {"campaign": "marking"}),
]
POST = [
    ("annotation:languages", {"campaign": "marking"}),
    ("annotation:language_add", {"campaign": "marking"}),
    ("annotation:language_remove", {"campaign": "marking", "language": "de"}),
    ("annotation:language_untranslated", {"campaign": "marking", "language": "de"}),
    ("annotation:campaign_pause", {"campaign": "marking"}),
    ("annotation:campaign_close", {"campaign": "marking"}),
    ("studies:members", {}),
    ("studies:own_words", {}),
    ("studies:consent", {}),
    ("annotation:invitations", {"campaign": "marking"}),
    ("annotation:personal_links", {"campaign": "marking"}),
    ("annotation:letters_again", {"campaign": "marking"}),
    ("annotation:kinds", {}),
    ("annotation:kind_remove", {"key": "own"}),
    ("annotation:kind_new", {}),
    ("annotation:kind_edit", {"key": "own"}),
]


def address(name, kwargs):
    return reverse(name, kwargs={"study": "isles", **kwargs})


@pytest.mark.parametrize(("name", "kwargs"), READ)
def test_a_reading_page_is_for_members_only(
    answered, lead_client, analyst_client, stranger_client, annotator_client, name, kwargs
):
    url = address(name, kwargs)
    statuses = [
        c.get(url).status_code for c in (lead_client, analyst_client, stranger_client, annotator_client)
    ]
    assert statuses == [200, 200, 404, 404]


@pytest.mark.parametrize(("name", "kwargs"), CHANGE)
def test_a_changing_page_is_for_leads_only(
    answered, lead_client, analyst_client, stranger_client, annotator_client, name, kwargs
):
    url = address(name, kwargs)
    statuses = [
        c.get(url).status_code for c in (lead_client, analyst_client, stranger_client, annotator_client)
    ]
    assert statuses == [200, 403, 404, 404]


@pytest.mark.parametrize(("name", "kwargs"), POST)
def test_a_change_is_refused_to_everybody_but_leads(
    answered, analyst_client, stranger_client, annotator_client, name, kwargs
):
    url = address(name, kwargs)
    statuses = [c.post(url).status_code for c in (analyst_client, stranger_client, annotator_client)]
    assert statuses == [403, 404, 404]
    answered.refresh_from_db()
    assert answered.state == "open"


@pytest.mark.parametrize("move", ["open", "pause", "resume", "close", "reopen"])
def test_a_campaign_changes_by_post_only(marking, lead_client, move):
    assert lead_client.get(address(f"annotation:campaign_{move}", {"campaign": "marking"})).status_code == 405


def test_visitors_are_asked_to_sign_in_first(marking):
    answer = Client().get(address("annotation:campaign", {"campaign": "marking"}))
    assert answer.status_code == 302
    assert "sign" in answer["Location"]


def test_a_form_without_its_token_is_refused(marking, lead):
    client = Client(enforce_csrf_checks=True)
    client.force_login(lead)
    assert client.post(address("annotation:campaign_pause", {"campaign": "marking"})).status_code == 403


def test_an_analyst_sees_no_button_that_changes_anything(answered, analyst_client):
    for name, kwargs in READ:
        if name == "annotation:preview":  # it shows a form that is disabled: see test_preview
            continue
        page = analyst_client.get(address(name, kwargs)).content.decode()
        forms = [
            part.split(">")[0] for part in page.split("<form")[1:] if 'method="post"' in part.split(">")[0]
        ]
        assert [form for form in forms if "sign-out" not in form and "sign_out" not in form] == [], name


def test_rows_of_another_study_are_not_found_by_its_address(answered, stranger, stranger_client, lead):
    """The lead of another study cannot reach an annotation, link or membership through that study's address."""
    from studies.protocol.creation import create_study

    resource = answered.study.resource
    create_study(name="Mine", resource=resource, groups=resource.groups.all(), by=stranger)
    invitation, _ = invitations.invite(campaign=answered, by=lead)
    annotation = Annotation.objects.filter(campaign=answered).first()
    membership = StudyMembership.objects.get(study=answered.study, user=lead)
    assert (
        stranger_client.get(f"/studies/mine/campaigns/marking/annotations/{annotation.pk}/").status_code
        == 404
    )
    url = f"/studies/mine/campaigns/marking/invitations/{invitation.pk}/revoke/"
    assert stranger_client.post(url).status_code == 404
    assert stranger_client.post(f"/studies/mine/members/{membership.pk}/remove/").status_code == 404
    assert Invitation.objects.get().revoked_at is None
    assert StudyMembership.objects.filter(pk=membership.pk).exists()
