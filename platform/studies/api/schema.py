"""The OpenAPI schema: the whole schema for members of studies, and annotators' endpoints for annotators."""

from typing import Any

from django.contrib.auth.models import AnonymousUser
from drf_spectacular.extensions import OpenApiAuthenticationExtension
from drf_spectacular.generators import SchemaGenerator
from drf_spectacular.views import SpectacularAPIView
from rest_framework.request import Request
from rest_framework.response import Response

from accounts.authentication import ApiTokenAuthentication
from accounts.models import ApiToken, User
from accounts.rights import Capability, requires
from studies.models import StudyMembership


class ApiTokenScheme(OpenApiAuthenticationExtension):
    """The description of API tokens in the schema."""

    target_class = ApiTokenAuthentication
    name = "apiToken"

    def get_security_definition(self, auto_schema: Any) -> dict[str, str]:  # noqa: ARG002
        return {"type": "http", "scheme": "bearer"}


class AnnotatorSchemaGenerator(SchemaGenerator):
    """Describes only endpoints for annotators' tokens; others would reveal the purpose of the labels."""

    def _get_paths_and_endpoints(self) -> list[tuple[str, str, str, Any]]:
        generator: Any = super()  # drf-spectacular has no type annotations
        return [
            endpoint
            for endpoint in generator._get_paths_and_endpoints()
            if getattr(endpoint[-1], "unsafe_scope", None) == ApiToken.Scope.ANNOTATE
        ]


@requires(get=Capability.ANYONE)
class Schema(SpectacularAPIView):
    """The schema of this API. Annotators who are nothing else get theirs."""

    schema = None  # leave out this view itself

    def get(self, request: Request, *args: Any, **kwargs: Any) -> Response:
        if only_annotates(request.user):
            self.generator_class = AnnotatorSchemaGenerator
        view: Any = super()
        response: Response = view.get(request, *args, **kwargs)
        response["Cache-Control"] = "private, no-store"
        return response


def only_annotates(user: User | AnonymousUser) -> bool:
    """Return whether a signed-in user has no role as lead, analyst, member or administrator."""
    if not isinstance(user, User) or user.is_staff or user.is_superuser or user.is_lead or user.is_analyst:
        return False
    return not StudyMembership.objects.filter(user=user).exists()
