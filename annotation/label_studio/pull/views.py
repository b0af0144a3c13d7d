"""The endpoint to which Label Studio reports changes."""

from django.http import RawPostDataException
from django.http.request import UnreadablePostError
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiParameter, OpenApiResponse, extend_schema
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from accounts.rights import Capability, requires
from annotation.label_studio.pull import webhooks
from annotation.label_studio.push.subscription import SECRET_HEADER
from foundation.errors import NotFound


@requires(post=Capability.BY_KEY)
class LabelStudioWebhook(APIView):
    """Accept an event from Label Studio; a job reads the rows that it names. Safe to repeat.

    For every problem the answer is the same: 404.
    """

    authentication_classes = ()
    permission_classes = ()

    @extend_schema(
        request=OpenApiTypes.OBJECT,
        parameters=[
            OpenApiParameter("bridge", OpenApiTypes.UUID, required=True),
            OpenApiParameter("key", OpenApiTypes.STR, required=True, description="the secret in the address"),
            OpenApiParameter(SECRET_HEADER, OpenApiTypes.STR, OpenApiParameter.HEADER, required=True),
        ],
        responses={
            202: OpenApiResponse(description="Taken."),
            404: OpenApiResponse(description="Not accepted."),
        },
        auth=[],
    )
    def post(self, request: Request) -> Response:
        query = request.query_params
        event = webhooks.receive(
            bridge=query.get("bridge", ""),
            key=query.get("key", ""),
            secret=request.headers.get(SECRET_HEADER, ""),
            body=_body(request),
        )
        if event is None:
            raise NotFound("webhook_not_found", "There is no such webhook.")
        return Response({}, status=202)


def _body(request: Request) -> bytes:
    """Return the body; "" (which is not an event) if it is too large or was cut off."""
    length = request.META.get("CONTENT_LENGTH") or "0"
    if not length.isdecimal() or int(length) > webhooks.MAX_BYTES:
        return b""
    try:
        return request._request.body
    except (UnreadablePostError, RawPostDataException):
        return b""
