"""Studies over HTTP."""

from django.db.models import Count, QuerySet
from rest_framework import generics

from accounts.rights import Capability, requires
from studies.access import studies_visible_to, study_for
from studies.api.serializers import StudyDetailSerializer, StudySerializer
from studies.models import Study


@requires(get=Capability.SIGNED_IN)
class StudyList(generics.ListAPIView[Study]):
    """The studies you are a member of, newest first."""

    serializer_class = StudySerializer
    queryset = Study.objects.none()

    def get_queryset(self) -> QuerySet[Study]:
        return studies_visible_to(self.request.user).select_related("resource")


@requires(get=Capability.SEE_STUDY)
class StudyDetail(generics.RetrieveAPIView[Study]):
    """One study: its settings, and how many groups and members it has."""

    serializer_class = StudyDetailSerializer
    queryset = Study.objects.none()

    def get_object(self) -> Study:
        study = study_for(self.request, self.kwargs["slug"])
        counts = Study.objects.filter(pk=study.pk).aggregate(
            groups=Count("groups", distinct=True), members=Count("memberships__user", distinct=True)
        )
        study.number_of_groups, study.number_of_members = counts["groups"], counts["members"]  # type: ignore[attr-defined]
        return study
