"""Answers of models in the REST API: filtered lists, and overrides by leads."""

from dataclasses import fields

from django.db.models import QuerySet
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework import generics
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from accounts.rights import Capability, requires, signed_in_user
from foundation.errors import DomainError
from generation.api.probe_serializers import (
    CodingSerializer,
    OverrideSerializer,
    ProbeAnswerPageSerializer,
    ProbeAnswerSerializer,
)
from generation.models import Answer, Coding
from generation.pages.probing.answer_pages import ProbeAnswerFilter, answer_page
from generation.pages.probing.answers import answer_of, lines_of
from generation.pages.probing.runs import probe_run_of
from generation.probing.overrides import override_answer
from studies.access import require, studies_visible_to, study_for
from web.api.bodies import checked_body
from web.api.pagination import IdCursorPagination

_SURE = {"true": "yes", "false": "no"}


@requires(get=Capability.SEE_IMAGES)
@extend_schema(
    parameters=[
        *(OpenApiParameter(field.name, OpenApiTypes.STR) for field in fields(ProbeAnswerFilter)),
        OpenApiParameter(
            "after", OpenApiTypes.INT, description="Return only answers older than this answer."
        ),
        OpenApiParameter(IdCursorPagination.page_size_query_param, OpenApiTypes.INT),
    ]
)
class RunAnswers(APIView):
    """The answers of a run that pass all filters, newest first."""

    @extend_schema(responses=ProbeAnswerPageSerializer)
    def get(self, request: Request, slug: str, pk: int) -> Response:
        run = probe_run_of(study_for(request, slug), pk)
        page = answer_page(run, _filters(request), query=request.query_params, size=_page_size(request)).page
        lines = {line.answer.pk: line for line in lines_of(run, page)}

        def address(query: str) -> str | None:
            return request.build_absolute_uri(f"{request.path}{query}") if query else None

        results = ProbeAnswerSerializer(page.object_list, many=True, context={"lines": lines}).data
        return Response({"next": address(page.next), "previous": address(page.previous), "results": results})


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


def _filters(request: Request) -> ProbeAnswerFilter:
    """Return the filters of an address; raises DomainError for values that do not exist."""
    values = {field.name: request.query_params.get(field.name, "") for field in fields(ProbeAnswerFilter)}
    values["sure"] = _SURE.get(values["sure"], values["sure"])
    filters = ProbeAnswerFilter.parse(values)
    unknown = {
        name: f"There is no {name} “{value[:60]}”."
        for name, value in values.items()
        if value.strip() and not getattr(filters, name)
    }
    if unknown:
        raise DomainError("filter_unknown", " ".join(unknown.values()), fields=unknown)
    return filters


def _page_size(request: Request) -> int:
    size = IdCursorPagination().get_page_size(request)
    return size or IdCursorPagination.page_size
