"""Addresses that state no right, or a right for another method."""

from django.http import HttpRequest, HttpResponse
from django.urls import path
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from accounts.rights import Capability, requires


def silent(_request: HttpRequest) -> HttpResponse:
    return HttpResponse("secret")


@requires(get=Capability.SIGNED_IN)
def reading(_request: HttpRequest) -> HttpResponse:
    return HttpResponse("read")


class Silent(APIView):
    def get(self, _request: Request) -> Response:
        return Response({"secret": True})


urlpatterns = [path("silent/", silent), path("api/silent/", Silent.as_view()), path("reading/", reading)]
