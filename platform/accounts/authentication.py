"""Authentication of programs by `Authorization: Bearer <key>`."""

from datetime import timedelta

from django.utils import timezone
from rest_framework.authentication import BaseAuthentication, get_authorization_header
from rest_framework.exceptions import AuthenticationFailed
from rest_framework.request import Request

from accounts import tokens
from accounts.models import ApiToken, User


class ApiTokenAuthentication(BaseAuthentication):
    """Sign in a program by its API token."""

    def authenticate(self, request: Request) -> tuple[User, ApiToken] | None:
        parts = get_authorization_header(request).split()
        if not parts or parts[0].lower() != b"bearer":
            return None
        try:
            key = parts[1].decode("ascii")
        except (IndexError, UnicodeDecodeError):
            raise AuthenticationFailed("The Authorization header must be 'Bearer <key>'.") from None
        token = tokens.find(key)
        if token is None:
            raise AuthenticationFailed("This token is unknown, expired or revoked.")
        now = timezone.now()
        # Once a minute is enough to show whether a token is in use, and avoids a write for every read.
        if token.last_used_at is None or now - token.last_used_at > timedelta(minutes=1):
            ApiToken.objects.filter(pk=token.pk).update(last_used_at=now)
        return token.user, token

    def authenticate_header(self, request: Request) -> str:  # noqa: ARG002
        return 'Bearer realm="stereoscope"'
