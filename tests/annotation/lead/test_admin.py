"""An operator reads studies, campaigns and the audit log, and changes none of them there."""

import pytest
from django.test import Client

from accounts.models import User

pytestmark = pytest.mark.django_db


@pytest.fixture
def operator() -> Client:
    client = Client()
    client.force_login(User.objects.create_superuser("olga", password="a long password"))
    return client


@pytest.mark.parametrize("model", ["studies/study", "studies/auditentry", "annotation/campaign"])
def test_rows_are_listed_and_shown_and_never_changed(operator, answered, model):
    listed = operator.get(f"/admin/{model}/")
    assert listed.status_code == 200
    row = listed.context["cl"].result_list[0]
    assert operator.get(f"/admin/{model}/{row.pk}/change/").status_code == 200
    assert operator.get(f"/admin/{model}/add/").status_code == 403
    assert operator.post(f"/admin/{model}/{row.pk}/change/", {"name": "x"}).status_code == 403
    assert operator.post(f"/admin/{model}/{row.pk}/delete/", {"post": "yes"}).status_code == 403


def test_an_administrator_who_is_no_member_neither_opens_nor_changes_campaigns(operator, answered):
    assert operator.get("/studies/isles/").status_code == 200
    assert operator.get("/studies/isles/campaigns/marking/").status_code == 403
    assert operator.post("/studies/isles/campaigns/marking/pause/").status_code == 403
    answered.refresh_from_db()
    assert answered.state == "open"
