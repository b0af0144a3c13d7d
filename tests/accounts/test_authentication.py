"""Authentication by key: the values that one statement reads are those stored."""

from datetime import timedelta

import pytest
from django.utils import timezone

from accounts import tokens
from accounts.models import ApiToken, User
from foundation.database.statements import known
from foundation.errors import DomainError

pytestmark = pytest.mark.django_db


@pytest.mark.parametrize("flag", ["is_lead", "is_analyst", "is_staff", "is_superuser", None])
def test_a_key_finds_its_person_as_they_are_stored(flag):
    person = User.objects.create(
        username="ana", display_name="Ana", email="a@example.org", **({flag: True} if flag else {})
    )
    issued, key = tokens.issue(
        user=person, name="x", scopes=["read", "annotate"], expires_at=timezone.now() + timedelta(days=1)
    )
    found = tokens.find(key)
    for model, one, stored in ((ApiToken, found, issued), (User, found.user, person)):
        stored.refresh_from_db()
        for field in model._meta.concrete_fields:
            assert getattr(one, field.attname) == getattr(stored, field.attname), field
    assert found.user.leads == (flag in {"is_lead", "is_superuser"})


def test_an_inactive_person_is_not_found():
    person = User.objects.create(username="ana")
    _, key = tokens.issue(user=person, name="x", scopes=["read"])
    User.objects.filter(pk=person.pk).update(is_active=False)
    assert tokens.find(key) is None


def test_a_key_that_was_revoked_or_has_expired_is_not_found():
    person = User.objects.create(username="ana")
    revoked, key = tokens.issue(user=person, name="x", scopes=["read"])
    tokens.revoke(token=revoked)
    assert tokens.find(key) is None
    _, key = tokens.issue(user=person, name="x", scopes=["read"], expires_at=timezone.now())
    assert tokens.find(key) is None


@pytest.mark.parametrize("scopes", [[], ["read", "everything"]])
def test_a_token_has_scopes_and_only_known_ones(scopes):
    user = User.objects.create(username="ada")
    with pytest.raises(DomainError) as refusal:
        tokens.issue(user=user, name="Notebook", scopes=scopes)
    assert refusal.value.code == "scopes_invalid"
    assert not ApiToken.objects.exists()


def test_values_read_by_a_statement_are_assigned_by_name():
    person = User.objects.create(username="ana", is_lead=True)
    found = known(User, is_lead=True, username="ana", id=person.pk)
    assert (found.pk, found.username, found.is_lead, found.is_superuser) == (person.pk, "ana", True, False)
    with pytest.raises(TypeError, match="User has no column"):
        known(User, id=person.pk, rank="all")
