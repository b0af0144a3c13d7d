"""Leads' overrides of the codings of models' answers, in the REST API."""

from django.db.models import QuerySet
from drf_spectacular.utils import extend_schema
from rest_framework import generics
from rest_framework.request import Request
from rest_framework.response import Response

from accounts.rights import Capability, requires, signed_in_user
from generation.api.probe_serializers import CodingSerializer, OverrideSerializer
from generation.models import Answer, Coding
from generation.pages.probing.answers import answer_of
from generation.probing.overrides import override_answer
from studies.access import require, studies_visible_to
from web.api.bodies import checked_body


@requires(get=Capability.SEE_IMAGES, post=Capability.RUN_MODELS)
class Overrides(generics.ListAPIView[Coding]):
    """The overrides of an answer's coding, newest first; the newest counts instead of all other codings."""

    serializer_class = CodingSerializer
    queryset = Coding.objects.none()  # only tells the schema the type of the items

    def get_queryset(self) -> QuerySet[Coding]:
        return self._answer().codings.filter(coder=Coding.Coder.OVERRIDE)

    @extend_schema(request=OverrideSerializer, responses={201: CodingSerializer})
    def post(self, request: Request, pk: int) -> Response:  # noqa: ARG002
        """Override the coding of an answer to a choice, with a reason. Leads only."""
        answer = self._answer()
        coding = override_answer(
            answer=answer, by=signed_in_user(request), **checked_body(OverrideSerializer, request)
        )
        return Response(CodingSerializer(coding).data, status=201)

    def _answer(self) -> Answer:
        visible = Answer.objects.filter(run__study__in=studies_visible_to(self.request.user))
        answer = answer_of(visible, self.kwargs["pk"])
        require(self.request, answer.run.study)
        return answer
