"""Change the number of annotators per task of an opened campaign, such as 3 → 5.

Surplus labels take the new places first, the oldest first.
"""

from dataclasses import dataclass

from django.db import transaction
from django.db.models import Case, Max, QuerySet, Value, When
from django.db.models.functions import Concat, Substr

from accounts.models import User
from annotation import integrations
from annotation.assignment import quota_rules, slots
from annotation.assignment.campaign_quotas import CampaignQuotas, quotas_of
from annotation.assignment.quotas import members_of
from annotation.campaigns import feasibility
from annotation.campaigns.design import CampaignDesign
from annotation.campaigns.feasibility import QuotaReport
from annotation.kinds.registry import kind_of
from annotation.models import Annotation, Assignment, Campaign, Enrolment, Task
from foundation.errors import Conflict, DomainError
from studies import audit
from studies.consent import withdrawn_from

_AT_ONCE = 5000


@dataclass(frozen=True)
class Extension:
    """The effect of another number of annotators per task."""

    wanted: int
    screens: int
    more_answers: int  # fewer if it is negative
    surplus: int  # surplus labels that can take a new place
    people: int  # active annotators
    quotas: QuotaReport
    refusal: str = ""

    @property
    def too_few_people(self) -> bool:
        return self.people < self.wanted


def look_ahead(campaign: Campaign, annotators_per_task: int) -> Extension:
    """Return the effect of `extend`, or why it would refuse. Reads only."""
    screens = _tasks(campaign).filter(withdrawn=False).count()
    try:
        _check(campaign, annotators_per_task)
        refusal = ""
    except DomainError as error:
        refusal = error.message
    return Extension(
        wanted=annotators_per_task,
        screens=screens,
        more_answers=screens * (annotators_per_task - campaign.annotators_per_task),
        surplus=_surplus(campaign).count() if annotators_per_task > campaign.annotators_per_task else 0,
        people=campaign.enrolments.filter(state=Enrolment.State.ACTIVE).count(),
        quotas=QuotaReport() if refusal else feasibility.if_extended(campaign, annotators_per_task),
        refusal=refusal,
    )


@transaction.atomic
def extend(*, campaign: Campaign, by: User | None, annotators_per_task: int) -> Campaign:
    """Set another number of annotators per task, in any state after the draft; the state stays.

    A smaller number is refused while any task has more annotators than that, or quotas could not be met.
    """
    campaign = Campaign.locked(campaign.pk)
    before = campaign.annotators_per_task
    if before == annotators_per_task and campaign.opened_at is not None:
        return campaign
    # As everywhere: assignments are locked before tasks, both in the order of their keys.
    late = list(_surplus(campaign).select_related("assignment"))
    list(
        Assignment.objects.select_for_update()
        .filter(pk__in=[annotation.assignment_id for annotation in late])
        .order_by("pk")
    )
    _lock(_tasks(campaign))
    _check(campaign, annotators_per_task)
    _set_wanted(campaign, before, annotators_per_task)
    Campaign.objects.filter(pk=campaign.pk).update(annotators_per_task=annotators_per_task)
    campaign.annotators_per_task = annotators_per_task
    readmitted = sum(_readmit(annotation) for annotation in late) if annotators_per_task > before else 0
    for tool in integrations.registered():
        tool.eligibility_changed(campaign)
    audit.record(
        by=by,
        action="campaign.extended",
        subject=campaign,
        study=campaign.study,
        before=before,
        to=annotators_per_task,
        readmitted=readmitted,
    )
    return campaign


def _tasks(campaign: Campaign) -> QuerySet[Task]:
    return Task.objects.filter(campaign=campaign, purpose=Task.Purpose.LABEL)


def _lock(tasks: QuerySet[Task]) -> None:
    last_key = 0
    while True:
        locked = tasks.select_for_update(no_key=True).filter(pk__gt=last_key).order_by("pk")
        keys = list(locked.values_list("pk", flat=True)[:_AT_ONCE])
        if not keys:
            return
        last_key = keys[-1]


def _check(campaign: Campaign, annotators_per_task: int) -> None:
    if campaign.imported or campaign.opened_at is None:
        state = "was imported" if campaign.imported else "is a draft; change the draft"
        raise Conflict("wrong_state", f"“{campaign.name}” {state}.")
    CampaignDesign.of(campaign, annotators_per_task=annotators_per_task)
    if annotators_per_task == campaign.annotators_per_task:
        raise _refused(f"Each screen is answered by {annotators_per_task} people already.")
    rules = [quota_rules.line(rule) for rule in quota_rules.stored(campaign)]
    try:
        quota_rules.parse(rules, annotators_per_task=annotators_per_task, kind=kind_of(campaign))
    except DomainError as error:
        raise _refused(
            f"The quotas cannot be met by {annotators_per_task} annotators per screen. {error.message}"
        ) from None
    if annotators_per_task > campaign.annotators_per_task:
        return
    most = _tasks(campaign).aggregate(most=Max("held"))["most"] or 0
    if most > annotators_per_task:
        raise _refused(
            f"Some screens have {most} annotators already, so {annotators_per_task} for each screen would drop "
            "answers. To stop collecting answers, close the campaign. Results use the existing answers."
        )
    quotas = quotas_of(campaign)
    if quotas and any(not _still_open(quotas, mix, annotators_per_task) for mix in _mixes(_tasks(campaign))):
        raise _refused(
            f"Some screens were answered by people with whom {annotators_per_task} annotators cannot meet the quotas. "
            "To stop collecting answers, close the campaign. Results use the answers that were submitted until then."
        )


def _refused(message: str) -> Conflict:
    return Conflict("cannot_extend", message, fields={"annotators_per_task": message})


def _mixes(tasks: QuerySet[Task]) -> list[str]:
    mixed_tasks = (
        tasks.exclude(quota_mix="").exclude(quota_mix__startswith="?").exclude(quota_mix__contains="/closed/")
    )
    return list(mixed_tasks.order_by().values_list("quota_mix", flat=True).distinct())


def _still_open(quotas: CampaignQuotas, mix: str, annotators_per_task: int) -> bool:
    rules = quotas.of_mix(mix)
    return rules is not None and rules.completable(members_of(mix), annotators_per_task)


def _set_wanted(campaign: Campaign, before: int, annotators_per_task: int) -> None:
    """Write the number to every task and its quota mix (see `annotation.assignment.quotas`)."""
    tasks = _tasks(campaign)
    old, new = f"{before}/", f"{annotators_per_task}/"
    tasks.filter(wanted=before).update(
        wanted=annotators_per_task,
        quota_mix=Case(
            When(quota_mix="", then=Value("")),
            When(quota_mix__startswith="?", then=Concat(Value(f"?{new}"), Substr("quota_mix", len(old) + 2))),
            default=Concat(Value(new), Substr("quota_mix", len(old) + 1)),
        ),
    )
    quotas = quotas_of(campaign)
    if quotas is None:
        return
    # Mixes that nobody could join, before or now, are computed again task by task; so are all mixes if profiles
    # may have changed while the campaign was closed.
    tasks_to_mix = tasks.filter(quota_mix__contains="/closed/")
    never = [mix for mix in _mixes(tasks) if not _still_open(quotas, mix, annotators_per_task)]
    if campaign.closed_at is not None:
        tasks_to_mix = tasks
    elif never:
        tasks_to_mix = tasks_to_mix | tasks.filter(quota_mix__in=never)
    keys = list(tasks_to_mix.order_by("pk").values_list("pk", flat=True))
    for start in range(0, len(keys), _AT_ONCE):
        slots.mix_anew(keys[start : start + _AT_ONCE])


def _surplus(campaign: Campaign) -> QuerySet[Annotation]:
    """Return the labels that could take a new place, oldest first."""
    ended = campaign.enrolments.filter(state=Enrolment.State.EXCLUDED).values("annotator")
    return (
        campaign.annotations.filter(
            is_latest=True,
            status=Annotation.Status.SURPLUS,
            assignment__state=Assignment.State.SURPLUS,
            assignment__purpose=Assignment.Purpose.LABEL,
            assignment__slot=None,
            task__withdrawn=False,
        )
        .exclude(annotator__in=ended)
        .exclude(annotator__in=withdrawn_from(campaign.study).values("pk"))
        .order_by("submitted_at", "pk")
    )


def _readmit(annotation: Annotation) -> bool:
    """Give a surplus label a new place if one is free and quotas allow it; return whether they did."""
    slot = slots.take(annotation.task_id, annotation.annotator_id)
    if slot is None:
        return False
    Assignment.objects.filter(annotations=annotation).update(state=Assignment.State.SUBMITTED, slot=slot)
    # If there is a correction, that is the one that counts.
    Annotation.objects.filter(assignment=annotation.assignment_id, is_latest=True).update(
        status=Annotation.Status.ACCEPTED, status_reason=""
    )
    return True
