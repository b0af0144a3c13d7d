"""Secrets of other servers lie sealed in our database."""

import pytest

from annotation.label_studio.client.encryption import seal, unseal
from foundation.errors import DomainError

pytestmark = pytest.mark.database_free


def test_what_is_sealed_is_read_again_and_looks_different_each_time():
    assert unseal(seal("a token")) == "a token"
    assert seal("a token") != seal("a token")
    assert "token" not in seal("a token")


def test_it_is_read_with_an_earlier_key_and_sealed_with_the_new_one(settings):
    settings.SECRET_KEY = "the earlier key"
    sealed = seal("a token")
    settings.SECRET_KEY, settings.SECRET_KEY_FALLBACKS = "the new key", ["the earlier key"]
    assert unseal(sealed) == "a token"
    resealed = seal("a token")
    settings.SECRET_KEY_FALLBACKS = []
    assert unseal(resealed) == "a token"


@pytest.mark.parametrize("sealed", ["", "nonsense", "gAAAAABnonsense", "ünläslich"])
def test_what_cannot_be_read_is_refused_with_what_to_do(sealed):
    with pytest.raises(DomainError) as told:
        unseal(sealed)
    assert told.value.code == "sealed_unreadable"
    assert "SECRET_KEY_FALLBACKS" in told.value.message


def test_a_changed_key_does_not_read_it(settings):
    settings.SECRET_KEY = "the earlier key"
    sealed = seal("a token")
    settings.SECRET_KEY = "the new key"
    with pytest.raises(DomainError):
        unseal(sealed)
