"""The job that builds a release for the pages and the API, and stores it as a zip."""

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
    """Queue a job that builds and stores a release, unless one is already running.

    A running job with the same choices is returned; with other choices the result is Conflict
    `other_release_under_way`. Conflict `joined_below_k` if people could be identified by combining it with earlier
    releases.
    """
    # Two who ask at once wait for each other here.
    Study.objects.select_for_update(no_key=True).get(pk=study.pk)
    under_way = running_job(study)
    if under_way is not None:
        if under_way.arguments["parameters"] != parameters.as_json():
            raise Conflict(
                "other_release_under_way",
                "A release with other choices is being built. Wait until that release is built, or cancel its "
                "job, and then build your release.",
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
    """The running build, if there is one."""
    active = (Job.State.QUEUED, Job.State.RUNNING)
    return Job.objects.filter(study_id=study.pk, kind=JOB_KIND, state__in=active).order_by("-pk").first()
