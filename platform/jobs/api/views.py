"""Jobs, their progress and their results over HTTP."""

from typing import Any, ClassVar, cast

from django.db.models import QuerySet
from rest_framework import serializers
from rest_framework.mixins import ListModelMixin
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.viewsets import GenericViewSet

from accounts.models import User
from accounts.rights import Capability, requires
from jobs.access import job_for, jobs_visible_to, readable_study_ids
from jobs.models import Job


class JobSerializer(serializers.ModelSerializer[Job]):
    class Meta:
        model = Job
        fields: ClassVar = [
            "id",
            "kind",
            "title",
            "queue",
            "team",
            "state",
            "step",
            "steps_done",
            "steps_total",
            "rate",
            "seconds_left",
            "message",
            "error",
            "error_code",
            "attempts",
            "cancel_requested",
            "created_at",
            "started_at",
            "finished_at",
            "result",
        ]
        read_only_fields = fields

    def to_representation(self, instance: Job) -> dict[str, Any]:
        shown = super().to_representation(instance)
        if not self._may_read(instance):
            shown["result"] = {}
        return shown

    def _may_read(self, job: Job) -> bool:
        user = self.context["request"].user
        if not isinstance(user, User) or not user.is_superuser or job.study_id is None:
            return True
        # One query for a whole list.
        context = cast("dict[str, Any]", self.context)
        if "readable" not in context:
            context["readable"] = readable_study_ids(user)
        return job.study_id in context["readable"]


@requires(get=Capability.SIGNED_IN)
class JobViewSet(ListModelMixin, GenericViewSet[Job]):
    """The jobs of your studies and your own, newest first."""

    serializer_class = JobSerializer
    queryset = Job.objects.none()
    lookup_value_converter = "int"

    def get_queryset(self) -> QuerySet[Job]:
        return jobs_visible_to(self.request.user)

    @requires(get=Capability.SEE_JOBS)
    def retrieve(self, request: Request, pk: int) -> Response:
        """One job and its progress."""
        return Response(self.get_serializer(job_for(request.user, pk)).data)
