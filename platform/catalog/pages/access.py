"""Who may see resources. They list stereotypes with the groups they are about: annotators never do."""

from collections.abc import Callable
from functools import wraps
from typing import Concatenate, ParamSpec, cast

from django.contrib.auth.decorators import login_required
from django.http import HttpRequest, HttpResponse

from accounts.models import User
from foundation.errors import Forbidden

P = ParamSpec("P")
View = Callable[Concatenate[HttpRequest, P], HttpResponse]


def may_see_resources(user: object) -> bool:
    """Whether the person is a lead, an analyst or an administrator."""
    return (
        isinstance(user, User) and user.is_active and (user.is_lead or user.is_analyst or user.is_superuser)
    )


def researchers_only(view: View[P]) -> View[P]:
    """Let only leads, analysts and administrators see a page."""

    @login_required
    @wraps(view)
    def guarded(request: HttpRequest, *args: P.args, **kwargs: P.kwargs) -> HttpResponse:
        if not may_see_resources(request.user):
            raise Forbidden("resources_not_for_annotators", "Only leads and analysts may see resources.")
        return view(request, *args, **kwargs)

    return cast("View[P]", guarded)
