"""Releases over HTTP."""

from typing import Any

from django.db.models import QuerySet
from django.http import FileResponse
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiResponse, extend_schema
from rest_framework import serializers
from rest_framework.decorators import action
from rest_framework.mixins import ListModelMixin
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.reverse import reverse
from rest_framework.viewsets import GenericViewSet

from accounts.rights import Capability, requires, signed_in_user
from analysis.models import Release
from analysis.pages.releases.views import archive_response
from analysis.releases import build_job, versions
from analysis.releases.parameters import ReleaseParameters
from analysis.releases.preview import check_of
from analysis.releases.privacy.check import PrivacyCheck
from analysis.releases.storage.zips import set_aside
from studies.access import study_for
from web.api.bodies import ParameterSetSerializer, checked_body


class ReleaseParametersSerializer(ParameterSetSerializer):
    """The choices for a release; omitted choices take their defaults."""

    parameters = ReleaseParameters


class ReleaseSerializer(serializers.Serializer[Release]):
    """One release, and the address of its files (null if the files were not kept)."""

    version = serializers.IntegerField()
    built_at = serializers.DateTimeField()
    inputs_digest = serializers.CharField()
    last_day = serializers.DateField(allow_null=True)
    rows = serializers.DictField(child=serializers.IntegerField())
    parameters = ReleaseParametersSerializer()
    archive_bytes = serializers.IntegerField(allow_null=True)
    set_aside_at = serializers.DateTimeField(allow_null=True)
    url = serializers.URLField()
    download = serializers.URLField(allow_null=True)

    def to_representation(self, instance: Release) -> dict[str, Any]:
        places = [instance.study.slug, instance.version]
        request = self.context["request"]
        download = reverse("api:release-download", args=places, request=request) if instance.archive else None
        facts = versions.facts_of(instance) | {
            "url": reverse("api:release-detail", args=places, request=request),
            "download": download,
        }
        return super().to_representation(facts)  # type: ignore[arg-type]


class ReleaseDetailSerializer(ReleaseSerializer):
    """One release, with the changes since the previous release in words."""

    changes = serializers.ListField(child=serializers.CharField())

    def to_representation(self, instance: Release) -> dict[str, Any]:
        return ReleaseSerializer(instance, context=self.context).data | {
            "changes": versions.changes_of(instance)
        }


class FieldPrivacySerializer(serializers.Serializer[object]):
    """How a release would show one profile field."""

    field = serializers.CharField()
    kept = serializers.CharField()
    stated = serializers.IntegerField()
    released = serializers.IntegerField()
    why = serializers.CharField()


class JoinedPrivacySerializer(serializers.Serializer[object]):
    """The table that readers get by joining the release with earlier ones."""

    releases = serializers.ListField(child=serializers.IntegerField())
    people = serializers.IntegerField()
    smallest = serializers.IntegerField(allow_null=True)


class CheckSerializer(serializers.Serializer[object]):
    """The privacy check of a release built now; a count is null if only building the release determines it."""

    k = serializers.IntegerField()
    allowed = serializers.BooleanField(allow_null=True)
    refusal = serializers.CharField(allow_blank=True)
    remedies = serializers.ListField(child=serializers.CharField())
    left_out = serializers.IntegerField(allow_null=True)
    smallest = serializers.IntegerField(allow_null=True)
    fields_kept = FieldPrivacySerializer(many=True)
    joined = JoinedPrivacySerializer(allow_null=True)


class CheckParametersSerializer(ParameterSetSerializer):
    """The choices that the privacy check depends on."""

    parameters = ReleaseParameters
    names = ("k", "leave_out_people")


class BuildingSerializer(serializers.Serializer[object]):
    """The job that builds the release."""

    job = serializers.IntegerField()


@requires(get=Capability.SEE_RELEASES)
class ReleaseViewSet(ListModelMixin, GenericViewSet[Release]):
    """The releases of a study, newest first, and building one."""

    serializer_class = ReleaseSerializer
    queryset = Release.objects.none()
    lookup_field = "version"
    lookup_value_converter = "int"

    def get_queryset(self) -> QuerySet[Release]:
        study = study_for(self.request, self.kwargs["slug"])
        return (
            Release.objects.filter(study=study)
            .select_related("study")
            .defer("annotations", "annotators", "images", "profiles")
        )

    @requires(post=Capability.RELEASE)
    @extend_schema(request=ReleaseParametersSerializer, responses={202: BuildingSerializer})
    def create(self, request: Request, slug: str) -> Response:
        """Build a release in the background. Leads only."""
        study = study_for(request, slug)
        parameters = ReleaseParameters.read(checked_body(ReleaseParametersSerializer, request))
        job = build_job.request(study=study, parameters=parameters, by=signed_in_user(request))
        return Response({"job": job.pk}, status=202)

    @requires(get=Capability.SEE_RELEASES)
    @extend_schema(parameters=[CheckParametersSerializer], responses=CheckSerializer)
    @action(detail=False)
    def check(self, request: Request, slug: str) -> Response:
        """Whether a release may be built now, given the earlier releases. Builds nothing."""
        study = study_for(request, slug)
        chosen = CheckParametersSerializer(data=request.query_params)
        chosen.is_valid(raise_exception=True)
        parameters = ReleaseParameters.read(chosen.validated_data)
        checked = check_of(study, k=parameters.k, leave_out_people=parameters.leave_out_people)
        return Response(CheckSerializer(_check_facts(checked, k=parameters.k)).data)

    @requires(get=Capability.SEE_RELEASES)
    @extend_schema(responses=ReleaseDetailSerializer)
    def retrieve(self, request: Request, slug: str, version: int) -> Response:
        """One release of a study."""
        release = versions.release_of(study_for(request, slug), version)
        return Response(ReleaseDetailSerializer(release, context={"request": request}).data)

    @requires(post=Capability.RELEASE)
    @extend_schema(request=None, responses=ReleaseDetailSerializer)
    @action(detail=True, methods=["post"], url_path="set-aside")
    def set_aside(self, request: Request, slug: str, version: int) -> Response:
        """State that nobody received a release, so that later releases are not checked against it. Leads only."""
        study = study_for(request, slug)
        release = set_aside(release=versions.release_of(study, version), by=signed_in_user(request))
        return Response(ReleaseDetailSerializer(release, context={"request": request}).data)

    @requires(get=Capability.SEE_RELEASES)
    @extend_schema(responses={(200, "application/zip"): OpenApiResponse(OpenApiTypes.BINARY)})
    @action(detail=True)
    def download(self, request: Request, slug: str, version: int) -> FileResponse:
        """The files of a release as a zip."""
        release = versions.release_of(study_for(request, slug), version)
        return archive_response(release, by=request.user)


def _check_facts(checked: PrivacyCheck | None, *, k: int) -> dict[str, Any]:
    report = checked.coarsened.report if checked else None
    return {
        "k": k,
        "allowed": None if checked is None else not checked.refusal,
        "refusal": checked.refusal if checked else "",
        "remedies": checked.remedies if checked else [],
        "left_out": report.left_out if report else None,
        "smallest": report.smallest if report else None,
        "fields_kept": report.fields if report else [],
        "joined": report.joined if report else None,
    }
