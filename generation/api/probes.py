"""Probe runs in the REST API: estimating, starting and following them, and reading their answers."""

from collections.abc import Mapping
from dataclasses import fields
from typing import Any

from django.db.models import QuerySet
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework.decorators import action
from rest_framework.mixins import ListModelMixin
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.viewsets import GenericViewSet

from accounts.rights import Capability, requires, signed_in_user
from foundation.errors import Conflict, DomainError
from generation.api.probe_serializers import (
    DryRunSerializer,
    GoOnSerializer,
    NewProbeRunSerializer,
    PriceSerializer,
    ProbeAnswerPageSerializer,
    ProbeAnswerSerializer,
    ProbeRunDetailSerializer,
    ProbeRunSerializer,
    StartedProbeSerializer,
    estimate_body,
    plan_of,
)
from generation.models import ProbeRun
from generation.pages.probing.answer_pages import ProbeAnswerFilter, answer_page
from generation.pages.probing.answers import lines_of as answer_lines
from generation.pages.probing.overview import ProbeRunLine, failure_reasons, lines_of
from generation.pages.probing.runs import probe_run_of
from generation.probing import estimates, launch
from generation.probing.planning import Prices, change_prices, plan_run
from generation.probing.totals import served_models
from studies.access import study_for
from web.api.bodies import checked_body
from web.api.pagination import IdCursorPagination

_MOST_SERVED = 20
_SURE = {"true": "yes", "false": "no"}


@requires(get=Capability.SEE_IMAGES)
class ProbeRunViewSet(ListModelMixin, GenericViewSet[ProbeRun]):
    """The probe runs of a study, newest first; POST starts one."""

    serializer_class = ProbeRunSerializer
    queryset = ProbeRun.objects.none()  # only tells the schema the type of the items
    lookup_value_converter = "int"
    _lines: Mapping[int, ProbeRunLine] = {}  # of the runs on the page

    def get_queryset(self) -> QuerySet[ProbeRun]:
        study = study_for(self.request, self.kwargs["slug"])
        return ProbeRun.objects.filter(study=study).select_related("job")

    def paginate_queryset(self, queryset: Any) -> Any:
        page = super().paginate_queryset(queryset)
        self._lines = {line.run.pk: line for line in lines_of(page or [])}
        return page

    def get_serializer_context(self) -> dict[str, Any]:
        return {**super().get_serializer_context(), "lines": self._lines}

    @requires(post=Capability.RUN_MODELS)
    @extend_schema(
        request=NewProbeRunSerializer, responses={200: DryRunSerializer, 202: StartedProbeSerializer}
    )
    def create(self, request: Request, slug: str) -> Response:
        """Estimate a run; with `dry_run` false, start it, unless it may cost more than its budget."""
        user = signed_in_user(request)
        study = study_for(request, slug)
        body = checked_body(NewProbeRunSerializer, request)
        plan = plan_of(study, body)
        counted = estimates.estimate(plan)
        if body["dry_run"]:
            return Response({"estimate": estimate_body(counted)})
        if counted.beyond_budget:
            message = (
                f"The questions may cost {counted.spent + (counted.cost or 0):,.2f} in total, more than the budget of "
                f"{counted.budget:,.2f}. Raise the budget, or ask fewer questions."
            )
            raise Conflict("beyond_budget", message, fields={"budget": message})
        run = plan_run(plan=plan, by=user)
        job = launch.start(run=run, by=user)
        started = {"run": run.pk, "job": job.pk, "estimate": estimate_body(counted)}
        return Response(started, status=202)

    @requires(get=Capability.SEE_IMAGES)
    @extend_schema(responses=ProbeRunDetailSerializer)
    def retrieve(self, request: Request, slug: str, pk: int) -> Response:
        """One run: its progress, its cost, the models that answered, and the causes of failures."""
        return _detail(probe_run_of(study_for(request, slug), pk))

    @requires(patch=Capability.RUN_MODELS)
    @extend_schema(request=PriceSerializer, responses=ProbeRunDetailSerializer)
    def partial_update(self, request: Request, slug: str, pk: int) -> Response:
        """Change prices or the budget; a running job applies them within seconds. Leads only."""
        run = probe_run_of(study_for(request, slug), pk)
        prices = Prices(**checked_body(PriceSerializer, request))
        change_prices(run=run, prices=prices, by=signed_in_user(request))
        return _detail(probe_run_of(run.study, pk))

    @requires(post=Capability.RUN_MODELS)
    @extend_schema(
        operation_id="studies_probe_runs_go_on",
        request=GoOnSerializer,
        responses={202: StartedProbeSerializer},
    )
    @action(detail=True, methods=["post"], url_path="go-on")
    def go_on(self, request: Request, slug: str, pk: int) -> Response:
        """Ask the remaining questions, and on request the failed ones; never beyond the budget. Leads only."""
        run = probe_run_of(study_for(request, slug), pk)
        verb = launch.go_on if checked_body(GoOnSerializer, request)["retry_failed"] else launch.start
        job = verb(run=run, by=signed_in_user(request))
        return Response({"run": run.pk, "job": job.pk}, status=202)

    @requires(get=Capability.SEE_IMAGES)
    @extend_schema(
        parameters=[
            *(OpenApiParameter(field.name, OpenApiTypes.STR) for field in fields(ProbeAnswerFilter)),
            OpenApiParameter(
                "after", OpenApiTypes.INT, description="Return only answers older than this answer."
            ),
            OpenApiParameter(IdCursorPagination.page_size_query_param, OpenApiTypes.INT),
        ],
        responses=ProbeAnswerPageSerializer,
    )
    @action(detail=True)
    def answers(self, request: Request, slug: str, pk: int) -> Response:
        """The answers of a run that pass all filters, newest first."""
        run = probe_run_of(study_for(request, slug), pk)
        page = answer_page(run, _filters(request), query=request.query_params, size=_page_size(request)).page
        lines = {line.answer.pk: line for line in answer_lines(run, page)}

        def address(query: str) -> str | None:
            return request.build_absolute_uri(f"{request.path}{query}") if query else None

        results = ProbeAnswerSerializer(page.object_list, many=True, context={"lines": lines}).data
        return Response({"next": address(page.next), "previous": address(page.previous), "results": results})


def _detail(run: ProbeRun) -> Response:
    served = served_models(run, most=_MOST_SERVED)
    failures = [{"reason": reason, "requests": number} for reason, number in failure_reasons(run)]
    context = {"lines": {line.run.pk: line for line in lines_of([run])}}
    detail = {"run": run, "served": served, "failures": failures}
    return Response(ProbeRunDetailSerializer(detail, context=context).data)


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
