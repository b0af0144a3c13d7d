"""Studies over HTTP."""

from django.db.models import Count, QuerySet
from drf_spectacular.utils import extend_schema
from rest_framework.mixins import ListModelMixin
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.viewsets import GenericViewSet

from accounts.rights import Capability, requires
from studies.access import studies_visible_to, study_for
from studies.api.serializers import StudyDetailSerializer, StudySerializer
from studies.models import Study


@requires(get=Capability.SIGNED_IN)
class StudyViewSet(ListModelMixin, GenericViewSet[Study]):
    """The studies you are a member of, newest first."""

    serializer_class = StudySerializer
    queryset = Study.objects.none()
    lookup_field = lookup_value_converter = "slug"

    def get_queryset(self) -> QuerySet[Study]:
        return studies_visible_to(self.request.user).select_related("resource")

    @requires(get=Capability.SEE_STUDY)
    @extend_schema(responses=StudyDetailSerializer)
    def retrieve(self, request: Request, slug: str) -> Response:
        """One study: its settings, and how many groups and members it has."""
        study = study_for(request, slug)
        counts = Study.objects.filter(pk=study.pk).aggregate(
            groups=Count("groups", distinct=True), members=Count("memberships__user", distinct=True)
        )
        study.number_of_groups, study.number_of_members = counts["groups"], counts["members"]  # type: ignore[attr-defined]
        return Response(StudyDetailSerializer(study).data)
