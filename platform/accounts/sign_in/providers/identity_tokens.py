"""ID tokens of OpenID Connect: signed by the issuer, meant for us, still valid, and for the sign-in in progress.

https://openid.net/specs/openid-connect-core-1_0.html#IDTokenValidation
"""

import hmac
from typing import Any

import jwt
from allauth.socialaccount.providers.oauth2.client import OAuth2Error

# Signatures by a key that only the issuer has. "none" and HMAC, which could be made with a public key, are
# refused.
ALGORITHMS = ["RS256", "RS384", "RS512", "PS256", "PS384", "PS512", "ES256", "ES384", "ES512", "EdDSA"]
# The maximum difference between the clocks of two servers.
LEEWAY_SECONDS = 60


def verified_claims(id_token: str, *, keys: dict[str, Any], issuer: str, client_id: str) -> dict[str, Any]:
    """Return the claims of an ID token, or raise OAuth2Error with the reason."""
    try:
        key = _key(keys, jwt.get_unverified_header(id_token))
        claims: dict[str, Any] = jwt.decode(
            id_token,
            key=key,
            algorithms=ALGORITHMS,
            issuer=issuer,
            audience=client_id,
            leeway=LEEWAY_SECONDS,
            options={"require": ["iss", "sub", "aud", "exp", "iat"]},
        )
    except jwt.PyJWTError as error:
        raise OAuth2Error(f"The ID token was refused: {error}") from error
    audiences = claims["aud"]
    if isinstance(audiences, list) and len(audiences) > 1 and claims.get("azp") != client_id:
        raise OAuth2Error("The ID token was refused: it was issued to another client.")
    return claims


def refuse_other_nonce(claims: dict[str, Any], nonce: str) -> None:
    """Raise OAuth2Error if an ID token does not belong to the sign-in that this browser began."""
    received = claims.get("nonce")
    if not nonce or not isinstance(received, str) or not hmac.compare_digest(received, nonce):
        raise OAuth2Error("The ID token was refused: it belongs to another sign-in.")


def _key(keys: dict[str, Any], header: dict[str, Any]) -> Any:
    usable = [key for key in jwt.PyJWKSet.from_dict(keys).keys if key.public_key_use in {None, "sig"}]
    key_id = header.get("kid")
    if key_id is None and len(usable) == 1:
        return usable[0]
    for key in usable:
        if key.key_id == key_id:
            return key
    raise jwt.InvalidKeyError("the token is signed with an unknown key")
