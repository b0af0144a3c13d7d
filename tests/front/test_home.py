"""The landing page, and its redirects for people who are signed in."""

import pytest
from django.template.loader import render_to_string

from accounts.models import User
from accounts.rights import Role
from studies.models import StudyMembership


def test_the_landing_page_explains_the_site_and_how_to_get_in():
    html = render_to_string("front/landing.html")
    assert "/account/sign-in/" in html
    assert "demo" not in html.lower()


def test_a_demo_shows_its_sign_ins_and_that_nothing_in_it_is_real():
    accounts = [{"role": "lead", "username": "lead", "password": "a-demo-password"}]
    html = render_to_string("front/landing.html", {"demo_accounts": accounts})
    assert "invented peoples, simulated annotators" in html
    assert "<code>a-demo-password</code>" in html


@pytest.mark.django_db
@pytest.mark.parametrize(
    ("roles", "work"),
    [
        ({}, "/annotate/"),
        ({"is_staff": True}, "/annotate/"),
        ({"is_lead": True}, "/studies/"),
        ({"is_analyst": True}, "/studies/"),
        ({"is_superuser": True}, "/studies/"),
    ],
)
def test_someone_signed_in_goes_to_their_work(client, roles, work):
    client.force_login(User.objects.create_user("someone", **roles))
    assert client.get("/").headers["Location"] == work


@pytest.mark.django_db
@pytest.mark.parametrize("role", Role)
def test_members_go_to_their_studies_whatever_their_account(client, study, role):
    member = User.objects.create_user("someone")
    StudyMembership.objects.create(study=study, user=member, role=role)
    client.force_login(member)
    assert client.get("/").headers["Location"] == "/studies/"
    assert "web/base.html" in [template.name for template in client.get("/account/").templates]


@pytest.mark.django_db
def test_everyone_else_sees_the_landing_page(client):
    answer = client.get("/")
    assert answer.status_code == 200
    assert "front/landing.html" in [template.name for template in answer.templates]
