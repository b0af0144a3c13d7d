"""What a program may do with its API token: the scopes that a view asks for."""

from typing import Any

from rest_framework.permissions import SAFE_METHODS, BasePermission
from rest_framework.request import Request

from accounts.models import ApiToken


class HasScope(BasePermission):
    """Restricts tokens to their scopes; a person signed in by session is not limited by scopes.

    A view names its scope for unsafe methods in `unsafe_scope`; safe methods need `read` or that scope.
    """

    def has_permission(self, request: Request, view: Any) -> bool:
        if not request.user.is_authenticated:
            return False
        if not isinstance(request.auth, ApiToken):
            return True
        unsafe = getattr(view, "unsafe_scope", ApiToken.Scope.MANAGE)
        if request.method in SAFE_METHODS:
            return ApiToken.Scope.READ in request.auth.scopes or unsafe in request.auth.scopes
        return unsafe in request.auth.scopes
