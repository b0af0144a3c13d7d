"""Asking for a release on the pages: a worker builds it and keeps it as a zip."""

from django.db import transaction

from accounts.models import User
from analysis.releases.parameters import ReleaseParameters
from analysis.releases.preview import check_of
from foundation.errors import Conflict
from jobs.models import Job
from jobs.run.execution import enqueue
from studies.models import Study

JOB_KIND = "build_release"


@transaction.atomic
def request(*, study: Study, parameters: ReleaseParameters, by: User) -> Job:
    """Queue a job that builds and keeps a release; one under way is not doubled.

    It is returned if it was asked for with the same choices; Conflict `other_release_under_way` if with others, and
    `joined_below_k` where people could be told apart by it and earlier releases together.
    """
    # Two who ask at once wait for each other here.
    Study.objects.select_for_update(no_key=True).get(pk=study.pk)
    under_way = running_job(study)
    if under_way is not None:
        if under_way.arguments["parameters"] != parameters.as_json():
            raise Conflict(
                "other_release_under_way",
                "A release with other choices is being built. Wait until it is done, or cancel it, and then build "
                "yours.",
            )
        return under_way
    checked = check_of(study, k=parameters.k, leave_out_people=parameters.leave_out_people)
    if checked is not None:
        checked.require()
    return enqueue(
        kind=JOB_KIND,
        title=f"Build a release of {study.name}",
        arguments={"study": study.pk, "parameters": parameters.as_json()},
        by=by,
        study_id=study.pk,
    )


def running_job(study: Study) -> Job | None:
    """The build under way, if there is one."""
    active = (Job.State.QUEUED, Job.State.RUNNING)
    return Job.objects.filter(study_id=study.pk, kind=JOB_KIND, state__in=active).order_by("-pk").first()
