"""Whether a person who comes by a link really has the place that it names: Prolific confirms it or signed the link."""

from typing import Any
from urllib.parse import urlsplit

import jwt
from django.conf import settings
from django.core.cache import cache

from annotation.recruitment.models import PanelPlace, Recruitment
from annotation.recruitment.prolific import access
from annotation.recruitment.prolific.client import ProlificClient
from annotation.recruitment.prolific.connection import SHORT
from annotation.recruitment.prolific.errors import ProlificError
from annotation.recruitment.prolific.results import Status
from foundation.errors import Conflict, DomainError

TOKEN_PARAMETER = "prolific_token"  # noqa: S105 - the name of a parameter
_KEYS_SECONDS = 24 * 3600
_LONGEST_TOKEN = 4096
_LEEWAY = 30  # seconds by which two clocks may differ


def confirm(recruitment: Recruitment, *, person: str, submission: str) -> str:
    """Ask Prolific whether the person has the place; return how it was confirmed.

    Raises Conflict `panel_not_confirmed`, or `panel_unreachable` if Prolific does not answer.
    """
    try:
        with access.client_of(recruitment.provider, patience=SHORT) as client:
            answer = client.submission(submission)
    except ProlificError as error:
        if error.code == "prolific_missing":
            raise _not_confirmed() from None
        raise Conflict("panel_unreachable", "The panel does not answer at the moment.") from None
    except ValueError:
        raise _not_confirmed() from None
    matches = (answer.study, answer.participant, answer.id) == (recruitment.remote_study, person, submission)
    if not matches or answer.status not in Status.WORKING:
        raise _not_confirmed()
    return PanelPlace.Verified.ASKED


def signed_ids(recruitment: Recruitment, token: str) -> tuple[str, str]:
    """Return person and place from a signed link (RS256, two minutes); raise an error if anything about it is wrong."""
    provider = recruitment.provider
    if not token or len(token) > _LONGEST_TOKEN:
        raise _not_confirmed()
    claims = _claims(token)
    ids = claims.get("prolific")
    if not isinstance(ids, dict):
        raise _not_confirmed()
    person, study, submission = (
        ids.get(name)
        for name in (provider.person_parameter, provider.study_parameter, provider.place_parameter)
    )
    right = study == recruitment.remote_study and ids.get("workspace_id") == provider.workspace
    if not right or not isinstance(person, str) or not isinstance(submission, str):
        raise _not_confirmed()
    return person, submission


def _claims(token: str) -> dict[str, Any]:
    try:
        key_id = jwt.get_unverified_header(token).get("kid")
        key = _key(key_id) if isinstance(key_id, str) else None
        if key is None:
            raise _not_confirmed()
        claims: dict[str, Any] = jwt.decode(
            token,
            key,
            algorithms=["RS256"],
            audience=_audiences(),
            leeway=_LEEWAY,
            options={"require": ["exp", "aud"]},
        )
    except jwt.PyJWTError:
        raise _not_confirmed() from None
    return claims


def _audiences() -> list[str]:
    """Return the forms in which our domain may be named."""
    parts = urlsplit(settings.SITE_URL)
    if not parts.netloc:
        raise DomainError(
            "site_url_missing", "Signed links need SITE_URL. Ask the operator of this server to set SITE_URL."
        )
    return [f"{parts.scheme}://{parts.netloc}", parts.netloc, parts.hostname or parts.netloc]


def _key(key_id: str) -> jwt.PyJWK | None:
    """Return one of Prolific's public keys; they are requested once a day, and if a key is missing."""
    name = "annotation.recruitment.prolific.keys"
    keys = cache.get(name)
    if keys is None or key_id not in keys:
        # An invented key id causes at most one request per minute.
        if keys is not None and not cache.add(f"{name}.asked", 1, timeout=60):
            return None
        keys = _fetch()
        cache.set(name, keys, timeout=_KEYS_SECONDS)
    return None if key_id not in keys else jwt.PyJWK(keys[key_id])


def _fetch() -> dict[str, dict[str, Any]]:
    try:
        with ProlificClient(settings.PROLIFIC_URL, "", patience=SHORT) as client:
            keys = client.signing_keys().get("keys")
    except ProlificError:
        raise Conflict("panel_unreachable", "The panel does not answer at the moment.") from None
    rows = keys if isinstance(keys, list) else []
    return {
        str(row["kid"]): row
        for row in rows
        if isinstance(row, dict) and row.get("kty") == "RSA" and row.get("alg") == "RS256" and row.get("kid")
    }


def _not_confirmed() -> Conflict:
    return Conflict("panel_not_confirmed", "The panel does not know this place.")
