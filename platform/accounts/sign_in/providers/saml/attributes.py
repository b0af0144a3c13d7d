"""The identity of a person in the attributes of a SAML assertion."""

from collections.abc import Mapping

from allauth.account.internal.emailkit import valid_email_or_none
from django.conf import settings
from onelogin.saml2.constants import OneLogin_Saml2_Constants as Saml2

from accounts.sign_in.providers.identity import LONGEST_NAME, Identity
from accounts.sign_in.providers.saml.errors import AnswerRefused
from accounts.sign_in.providers.saml.provider import PROVIDER

# In SAML_SUBJECT_ATTRIBUTE: the subject of the assertion, which is not an attribute.
NAME_ID = "NameID"
# The length of django-allauth's column.
LONGEST_SUBJECT = 191

Attributes = Mapping[str, list[str]]


def identity_of(attributes: Attributes, *, name_id: tuple[str, str] | None, contexts: list[str]) -> Identity:
    """Return the person. `name_id` is the format and text of the subject, `contexts` how they authenticated."""
    email = valid_email_or_none(_first(attributes, settings.SAML_EMAIL_ATTRIBUTE)) or ""
    return Identity(
        provider=PROVIDER,
        subject=_subject(attributes, name_id),
        email=email,
        is_email_verified=bool(email) and _is_trusted(email),
        name=_first(attributes, settings.SAML_NAME_ATTRIBUTE)[:LONGEST_NAME],
        groups=frozenset(
            group for name in settings.SAML_GROUPS_ATTRIBUTE for group in _values(attributes, name)
        ),
        has_second_factor=bool(set(contexts) & set(settings.SSO_SECOND_FACTOR)),
    )


def _subject(attributes: Attributes, name_id: tuple[str, str] | None) -> str:
    """Return an identifier that the provider never reassigns, which excludes a transient or unspecified NameID."""
    for name in settings.SAML_SUBJECT_ATTRIBUTE:
        values = _values(attributes, name)
        if name == NAME_ID and name_id is not None and name_id[0] == Saml2.NAMEID_PERSISTENT:
            values = [name_id[1]]
        if not values:
            continue
        if len(values) > 1 or len(values[0]) > LONGEST_SUBJECT:
            raise AnswerRefused("subject_unclear")
        return values[0]
    raise AnswerRefused("no_lasting_subject")


def _first(attributes: Attributes, names: list[str]) -> str:
    return next((value for name in names for value in _values(attributes, name)), "")


def _values(attributes: Attributes, name: str) -> list[str]:
    values = attributes.get(name, [])
    return [value.strip() for value in values if isinstance(value, str) and value.strip()]


def _is_trusted(email: str) -> bool:
    """Return whether the operator vouches for the domain of an address; SAML does not say whether it was verified."""
    domain = email.rpartition("@")[2].lower()
    return domain in {trusted.lower() for trusted in settings.SAML_EMAIL_DOMAINS}
