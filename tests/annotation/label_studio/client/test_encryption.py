"""Secrets of other servers are stored encrypted."""

import pytest

from annotation.label_studio.client.encryption import seal, unseal
from foundation.errors import DomainError

pytestmark = pytest.mark.database_free


def test_sealed_values_are_readable_and_differ_each_time():
    assert unseal(seal("a token")) == "a token"
    assert seal("a token") != seal("a token")
    assert "token" not in seal("a token")


def test_values_are_read_with_an_earlier_key_and_sealed_with_the_new_one(settings):
    settings.SECRET_KEY = "the earlier key"
    sealed = seal("a token")
    settings.SECRET_KEY, settings.SECRET_KEY_FALLBACKS = "the new key", ["the earlier key"]
    assert unseal(sealed) == "a token"
    resealed = seal("a token")
    settings.SECRET_KEY_FALLBACKS = []
    assert unseal(resealed) == "a token"


@pytest.mark.parametrize("sealed", ["", "nonsense", "gAAAAABnonsense", "ünläslich"])
def test_unreadable_values_are_refused_with_a_remedy(sealed):
    with pytest.raises(DomainError) as told:
        unseal(sealed)
    assert told.value.code == "sealed_unreadable"
    assert "SECRET_KEY_FALLBACKS" in told.value.message


def test_a_changed_key_cannot_read_sealed_values(settings):
    settings.SECRET_KEY = "the earlier key"
    sealed = seal("a token")
    settings.SECRET_KEY = "the new key"
    with pytest.raises(DomainError):
        unseal(sealed)
