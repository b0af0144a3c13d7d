"""Access to jobs: people see and control their own jobs and those of their studies."""

from typing import Any, cast

from django.conf import settings
from django.contrib.auth.models import AnonymousUser
from django.db.models import Q, QuerySet
from django.utils.module_loading import import_string

from accounts.models import User
from foundation.errors import Forbidden, NotFound
from jobs.models import Job


def jobs_visible_to(user: User | AnonymousUser) -> QuerySet[Job]:
    """Return the jobs of `user` and of the studies they are a member of; an administrator sees all."""
    return _jobs(user, settings.JOB_STUDIES_SEEN)


def job_for(user: User | AnonymousUser, pk: int, *, to_steer: bool = False) -> Job:
    """Return the job if `user` may see it and, with `to_steer`, cancel or retry it. Raises NotFound or Forbidden."""
    job = jobs_visible_to(user).select_related("created_by").filter(pk=pk).first()
    if job is None:
        raise NotFound("job_not_found", "This job does not exist, or belongs to a study that you cannot see.")
    if to_steer and not may_steer(user, job):
        raise Forbidden(
            "not_in_role", "Only a lead of the study or the person who started the job may do this."
        )
    return job


def may_steer(user: User | AnonymousUser, job: Job) -> bool:
    """Return whether `user` may cancel or retry the job."""
    return _jobs(user, settings.JOB_STUDIES_STEERED).filter(pk=job.pk).exists()


def may_read_result(user: User | AnonymousUser, job: Job) -> bool:
    """Return whether `user` may read the result of the job; administrators may see jobs without their results."""
    if not isinstance(user, User) or not user.is_superuser or job.study_id is None:
        return True
    return bool(_readable(user).filter(pk=job.study_id).exists())


def readable_study_ids(user: User) -> set[int]:
    """Return the keys of the studies whose job results an administrator may read."""
    return set(_readable(user).values_list("pk", flat=True))


def _readable(user: User) -> "QuerySet[Any]":
    return cast("QuerySet[Any]", import_string(settings.JOB_STUDIES_READ)(user))


def _jobs(user: User | AnonymousUser, studies_of: str) -> QuerySet[Job]:
    if not user.is_authenticated or not user.is_active:
        return Job.objects.none()
    if user.is_superuser:
        return Job.objects.all()
    studies = cast("QuerySet[Any]", import_string(studies_of)(user))
    own_studies = cast("QuerySet[Any]", import_string(settings.JOB_STUDIES_OWN)(user))
    # People who leave a study lose access to its jobs, including jobs they started.
    own_jobs = Q(created_by=user) & (Q(study_id=None) | Q(study_id__in=own_studies.values("pk")))
    return Job.objects.filter(own_jobs | Q(study_id__in=studies.values("pk")))
