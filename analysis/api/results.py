"""Results over HTTP."""

from django.http import HttpResponse
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiResponse, extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.reverse import reverse
from rest_framework.views import APIView

from accounts.rights import Capability, requires, signed_in_user
from analysis.models import Report
from analysis.pages.results.downloads import table_csv
from analysis.results import reports
from analysis.results.parameters import Parameters, parameters_of
from analysis.results.schema import files_of
from foundation.errors import Conflict, NotFound
from jobs.models import Job
from studies.access import study_for
from studies.audit.files import CSV, recorded_file
from studies.models import Study
from web.api.bodies import ParameterSetSerializer, checked_body


class ParametersSerializer(ParameterSetSerializer):
    """The choices for results; omitted choices are those of the named preset, or else the defaults."""

    parameters = Parameters
    preset = serializers.CharField(required=False)


class ResultsSerializer(serializers.Serializer[object]):
    """The headline of the latest report, and the addresses of its tables."""

    computed_at = serializers.DateTimeField()
    inputs_digest = serializers.CharField()
    judgements_since = serializers.IntegerField()
    answered_since = serializers.BooleanField(
        help_text="Whether models answered, or answers were coded, after these results were computed."
    )
    summary = serializers.JSONField()
    tables = serializers.DictField(child=serializers.URLField())


class RequestedSerializer(serializers.Serializer[object]):
    """The requested report, or the job that computes it."""

    report = serializers.IntegerField(allow_null=True)
    job = serializers.IntegerField(allow_null=True)


@requires(get=Capability.SEE_RESULTS, post=Capability.COMPUTE_RESULTS)
class StudyResults(APIView):
    """The latest results of a study."""

    @extend_schema(responses=ResultsSerializer)
    def get(self, request: Request, slug: str) -> Response:
        study = study_for(request, slug)
        report = latest_report(request, study)
        return Response(
            {
                "computed_at": report.computed_at,
                "inputs_digest": report.inputs_digest,
                "judgements_since": reports.judgements_since(report),
                "answered_since": reports.answered_since(report),
                "summary": report.summary,
                "tables": {
                    name: reverse("api:results-table", args=[slug, name], request=request)
                    for name in files_of(report.tables.values_list("name", flat=True))
                },
            }
        )

    @extend_schema(
        request=ParametersSerializer, responses={201: RequestedSerializer, 202: RequestedSerializer}
    )
    def post(self, request: Request, slug: str) -> Response:
        study = study_for(request, slug)
        parameters = parameters_of(study, **checked_body(ParametersSerializer, request))
        outcome = reports.request_report(study=study, parameters=parameters, by=signed_in_user(request))
        if isinstance(outcome, Job):
            return Response({"report": None, "job": outcome.pk}, status=202)
        return Response({"report": outcome.pk, "job": None}, status=201)


@requires(get=Capability.SEE_RESULTS)
class ResultsTable(APIView):
    """One table of the latest results as CSV."""

    @extend_schema(responses={(200, "text/csv"): OpenApiResponse(OpenApiTypes.STR)})
    def get(self, request: Request, slug: str, table: str) -> HttpResponse:
        study = study_for(request, slug)
        text = table_csv(latest_report(request, study), table)
        return recorded_file(text, by=request.user, study=study, name=f"{table}.csv", content_type=CSV)


def latest_report(request: Request, study: Study) -> Report:
    """Return the latest valid results; raises Conflict while they are computed again, NotFound if there are none."""
    report, job = reports.report_to_show(study=study, by=signed_in_user(request))
    if report is None and job is not None and job.state in reports.STOPPED:
        message = (
            "Labels were withdrawn, and computing the results without them failed. Compute the results again."
        )
        raise Conflict("results_outdated", message, fields={"job": str(job.pk)})
    if report is None and job is not None:
        message = "Labels were withdrawn. The results are being computed again without the withdrawn labels."
        raise Conflict("results_outdated", message, fields={"job": str(job.pk)})
    if report is None:
        raise NotFound("no_results", "The results of this study have not been computed yet.")
    return report
