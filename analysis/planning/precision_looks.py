"""The job that computes the precision of a campaign that stops at a half-width, when a look is due."""

import json
from typing import Any

from django.core.cache import cache

from analysis.results.parameters import Parameters, parameters_of
from analysis.results.preregistrations import latest_registration
from annotation.models import Campaign
from annotation.watch import looks
from foundation.errors import NotFound
from jobs.models import Job
from jobs.progress.reporter import Progress
from jobs.run.execution import enqueue
from studies.models import Study

JOB_KIND = "look_at_precision"
LOOKED = "analysis.planning.precision_looks.looked"
_ONCE_IN_SECONDS = 60
_ACTIVE = (Job.State.QUEUED, Job.State.RUNNING)


def look_now_and_then() -> list[Job]:
    """Queue the looks that are due, unless this process did so within the last minute."""
    return queue_looks() if cache.add(LOOKED, 1, timeout=_ONCE_IN_SECONDS) else []


def queue_looks() -> list[Job]:
    """Queue a look for each campaign where one is due and none is queued."""
    jobs = []
    for campaign in looks.due_campaigns():
        arguments = {"campaign": campaign.pk}
        if Job.objects.filter(kind=JOB_KIND, arguments=arguments, state__in=_ACTIVE).exists():
            continue
        jobs.append(
            enqueue(
                kind=JOB_KIND,
                title=f"Check the precision of “{campaign.name}”",
                arguments=arguments,
                by=None,
                study_id=campaign.study_id,
            )
        )
    return jobs


def look_at(job: Job, progress: Progress) -> dict[str, Any]:
    """Compute the half-width of a campaign's study, count the look, and stop the campaign if it is small enough."""
    campaign = Campaign.objects.select_related("study").filter(pk=job.arguments["campaign"]).first()
    if campaign is None:
        raise NotFound("campaign_not_found", "The campaign of this job was deleted.")
    # Counted before the labels are read: more may come meanwhile, and the next look is no earlier for it.
    answers = looks.answers_of(campaign)
    half_width, reason = pooled_half_width(campaign.study, progress)
    look, stop = looks.record(campaign=campaign, answers=answers, half_width=half_width, reason=reason)
    if look is None:
        return {"summary": "It was too early to check the precision."}
    return {"summary": f"Look {look.number} after {answers:,} answers{': the campaign stops' * bool(stop)}."}


def pooled_half_width(study: Study, progress: Progress) -> tuple[float | None, str]:
    """Return half the 95 % interval of θ over all groups, of the model where it is widest, or None and why.

    The parameters are those of the newest preregistration, else the study's own.
    """
    # Numerical libraries load here and not when the server starts.
    import numpy as np

    from analysis.metrics import pigeonhole_bootstrap, tendency
    from analysis.results.data.labels import load

    parameters = _parameters(study)
    data = load(study=study, parameters=parameters, progress=progress)
    if not len(data.judgements):
        return None, "no_labels"
    none_rows = data.none_rows if len(data.none_rows) else None
    theta = tendency(
        data.judgements,
        data.associations,
        none_of_the_above="ignore" if none_rows is None else parameters.none_of_the_above,
        min_stereotypes=parameters.min_stereotypes,
        # As results do it, so that the half-width is that of the report.
        resampling=pigeonhole_bootstrap(
            data.judgements, none_rows=none_rows, resamples=parameters.resamples, seed=parameters.seed
        ),
    )
    pooled = theta.overall[theta.overall["statistic"] == "pooled"]
    half_widths = ((pooled["theta_high"] - pooled["theta_low"]) / 2).to_numpy(dtype=float)
    if not len(half_widths) or not np.isfinite(half_widths).all():
        return None, "no_bounded_interval"
    return float(half_widths.max()), ""


def _parameters(study: Study) -> Parameters:
    registration = latest_registration(study)
    if registration is None:
        return parameters_of(study)
    return parameters_of(study, **json.loads(registration.document)["analysis"])
