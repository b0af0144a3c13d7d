"""Jobs over HTTP: what runs, how far it is, how it ended."""

from typing import ClassVar

from django.db.models import QuerySet
from rest_framework import generics, serializers

from accounts.rights import Capability, requires
from jobs.access import job_for, jobs_visible_to
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


@requires(get=Capability.SIGNED_IN)
class JobList(generics.ListAPIView[Job]):
    """The jobs of your studies and your own, newest first."""

    serializer_class = JobSerializer

    def get_queryset(self) -> QuerySet[Job]:
        return jobs_visible_to(self.request.user)


@requires(get=Capability.SEE_JOBS)
class JobDetail(generics.RetrieveAPIView[Job]):
    """One job and its progress."""

    serializer_class = JobSerializer
    queryset = Job.objects.none()  # only tells the schema what `pk` is

    def get_object(self) -> Job:
        return job_for(self.request.user, self.kwargs["pk"])
