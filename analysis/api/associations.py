"""Words that the model of a probe run associates with descriptors, over HTTP."""

from collections.abc import Iterator, Mapping
from itertools import islice
from typing import Any

from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from accounts.rights import Capability, requires
from analysis.api.results import latest_report
from analysis.models import Report
from analysis.results.probe_tables import RULES, SIGNIFICANT
from foundation.errors import DomainError
from generation.models import ProbeRun
from generation.pages.probing.runs import probe_run_of
from studies.access import study_for
from web.api.pagination import IdCursorPagination
from web.keyset import read_key

TABLE = "associations"
_FILTERS = ("modality", "setting", "dimension", "descriptor", "word")


class AssociationSerializer(serializers.Serializer[Any]):
    """A descriptor and a word: how often the model answered the word, and how significant that is (analysis.md)."""

    modality = serializers.CharField()
    setting = serializers.CharField()
    dimension = serializers.CharField(allow_null=True)
    descriptor = serializers.CharField()
    word = serializers.CharField()
    tf = serializers.FloatField()
    df = serializers.FloatField()
    documents = serializers.FloatField()
    tfidf = serializers.FloatField(allow_null=True)
    z = serializers.FloatField(allow_null=True)
    p = serializers.FloatField(allow_null=True)
    significant = serializers.BooleanField(allow_null=True)
    p_exact = serializers.FloatField(allow_null=True)
    q_exact = serializers.FloatField(allow_null=True)
    q_all_pairs = serializers.FloatField(allow_null=True)
    significant_exact = serializers.BooleanField(allow_null=True)
    sentiment = serializers.CharField(allow_null=True)
    toxicity = serializers.FloatField(allow_null=True)
    bias_level = serializers.FloatField(allow_null=True)
    bias_level_people = serializers.FloatField(allow_null=True)


class AssociationPageSerializer(serializers.Serializer[Any]):
    """A page of associations, in the order of the table of the latest results."""

    computed_at = serializers.DateTimeField()
    next = serializers.URLField(allow_null=True)
    results = AssociationSerializer(many=True)


@requires(get=Capability.SEE_RESULTS)
class RunAssociations(APIView):
    """The associations of a run's model in the latest results; runs of one model and probe count together there."""

    @extend_schema(
        parameters=[
            *(OpenApiParameter(name, OpenApiTypes.STR) for name in _FILTERS),
            OpenApiParameter(
                "significant",
                OpenApiTypes.STR,
                enum=list(RULES),
                description="Return only associations that are significant by this rule.",
            ),
            OpenApiParameter("after", OpenApiTypes.INT, description="Number of rows to skip."),
            OpenApiParameter(IdCursorPagination.page_size_query_param, OpenApiTypes.INT),
        ],
        responses=AssociationPageSerializer,
    )
    def get(self, request: Request, slug: str, pk: int) -> Response:
        study = study_for(request, slug)
        run = probe_run_of(study, pk)
        report = latest_report(request, study)
        start = read_key(request.query_params, "after") or 0
        size = IdCursorPagination().get_page_size(request) or IdCursorPagination.page_size
        rows = list(islice(_rows(report, run, request.query_params), start, start + size + 1))
        query = request.query_params.copy()
        query["after"] = str(start + size)
        address = request.build_absolute_uri(f"{request.path}?{query.urlencode()}")
        return Response(
            {
                "computed_at": report.computed_at,
                "next": address if len(rows) > size else None,
                "results": AssociationSerializer(rows[:size], many=True).data,
            }
        )


def _rows(report: Report, run: ProbeRun, query: Mapping[str, str]) -> Iterator[dict[str, Any]]:
    rule = query.get("significant", "")
    if rule and rule not in RULES:
        message = f"There is no rule “{rule[:60]}”. The rules are {' and '.join(RULES)}."
        raise DomainError("filter_unknown", message, fields={"significant": message})
    table = report.tables.filter(name=SIGNIFICANT if rule else TABLE).first()
    wanted = {name: query[name] for name in _FILTERS if query.get(name)} | {"model": run.model_label}
    for row in table.rows() if table is not None else ():
        if (not rule or row[RULES[rule]]) and all(row[name] == value for name, value in wanted.items()):
            yield row
