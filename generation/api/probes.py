"""Probe runs in the REST API: estimating, starting and following them."""

from collections.abc import Mapping
from typing import Any

from django.db.models import QuerySet
from drf_spectacular.utils import extend_schema
from rest_framework import generics
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from accounts.rights import Capability, requires, signed_in_user
from foundation.errors import Conflict
from generation.api.probe_serializers import (
    DryRunSerializer,
    GoOnSerializer,
    NewProbeRunSerializer,
    PriceSerializer,
    ProbeRunDetailSerializer,
    ProbeRunSerializer,
    StartedProbeSerializer,
    estimate_body,
    plan_of,
)
from generation.models import ProbeRun
from generation.pages.probing.overview import ProbeRunLine, failure_reasons, lines_of
from generation.pages.probing.runs import probe_run_of
from generation.probing import estimates, launch
from generation.probing.planning import Prices, change_prices, plan_run
from generation.probing.totals import served_models
from studies.access import study_for
from web.api.bodies import checked_body

_MOST_SERVED = 20


@requires(get=Capability.SEE_IMAGES, post=Capability.RUN_MODELS)
class ProbeRuns(generics.ListAPIView[ProbeRun]):
    """The probe runs of a study, newest first; POST starts one."""

    serializer_class = ProbeRunSerializer
    queryset = ProbeRun.objects.none()  # only tells the schema the type of the items
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

    @extend_schema(
        request=NewProbeRunSerializer, responses={200: DryRunSerializer, 202: StartedProbeSerializer}
    )
    def post(self, request: Request, slug: str) -> Response:
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


@requires(get=Capability.SEE_IMAGES, patch=Capability.RUN_MODELS)
class OneProbeRun(APIView):
    """One run: its progress, its cost, the models that answered, and the causes of failures."""

    @extend_schema(responses=ProbeRunDetailSerializer)
    def get(self, request: Request, slug: str, pk: int) -> Response:
        return _detail(probe_run_of(study_for(request, slug), pk))

    @extend_schema(request=PriceSerializer, responses=ProbeRunDetailSerializer)
    def patch(self, request: Request, slug: str, pk: int) -> Response:
        """Change prices or the budget; a running job applies them within seconds. Leads only."""
        run = probe_run_of(study_for(request, slug), pk)
        prices = Prices(**checked_body(PriceSerializer, request))
        change_prices(run=run, prices=prices, by=signed_in_user(request))
        return _detail(probe_run_of(run.study, pk))


@requires(post=Capability.RUN_MODELS)
class ProbeRunGoOn(APIView):
    """Continues a run."""

    @extend_schema(
        operation_id="studies_probe_runs_go_on",
        request=GoOnSerializer,
        responses={202: StartedProbeSerializer},
    )
    def post(self, request: Request, slug: str, pk: int) -> Response:
        """Ask the remaining questions, and on request the failed ones; never beyond the budget. Leads only."""
        run = probe_run_of(study_for(request, slug), pk)
        verb = launch.go_on if checked_body(GoOnSerializer, request)["retry_failed"] else launch.start
        job = verb(run=run, by=signed_in_user(request))
        return Response({"run": run.pk, "job": job.pk}, status=202)


def _detail(run: ProbeRun) -> Response:
    served = served_models(run, most=_MOST_SERVED)
    failures = [{"reason": reason, "requests": number} for reason, number in failure_reasons(run)]
    context = {"lines": {line.run.pk: line for line in lines_of([run])}}
    detail = {"run": run, "served": served, "failures": failures}
    return Response(ProbeRunDetailSerializer(detail, context=context).data)
