"""Addresses that state no right, or a right for another method."""

from django.http import HttpRequest, HttpResponse
from django.urls import path
from rest_framework.decorators import action
from rest_framework.mixins import ListModelMixin
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.serializers import Serializer
from rest_framework.views import APIView
from rest_framework.viewsets import GenericViewSet

from accounts.models import User
from accounts.rights import Capability, requires
from web.api.routers import TwinRouter


def silent(_request: HttpRequest) -> HttpResponse:
    return HttpResponse("secret")


@requires(get=Capability.SIGNED_IN)
def reading(_request: HttpRequest) -> HttpResponse:
    return HttpResponse("read")


class Silent(APIView):
    def get(self, _request: Request) -> Response:
        return Response({"secret": True})


@requires(get=Capability.SIGNED_IN, post=Capability.SIGNED_IN)
class PartlySilent(ListModelMixin, GenericViewSet[User]):
    """The class states the right of `list`, which it inherits; its own actions must state their rights."""

    serializer_class = Serializer
    queryset = User.objects.none()
    lookup_value_converter = "int"

    def create(self, _request: Request) -> Response:
        return Response({"secret": True})

    @action(detail=True)
    def silent(self, _request: Request, pk: int) -> Response:
        return Response({"secret": pk})

    @requires(get=Capability.SIGNED_IN, post=Capability.SIGNED_IN)
    @action(detail=True)
    def reading(self, _request: Request, pk: int) -> Response:
        return Response({"read": pk})

    @reading.mapping.post
    def write(self, _request: Request, pk: int) -> Response:
        return Response({"secret": pk})


router = TwinRouter()
router.register("api/people", PartlySilent, "person")
urlpatterns = [
    path("silent/", silent),
    path("api/silent/", Silent.as_view()),
    path("reading/", reading),
    *router.urls,
]
