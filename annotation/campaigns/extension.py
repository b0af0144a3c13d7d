"""Asking more annotators for each task of a campaign that was opened: 3 → 5.

Labels that came too late for a place before get the new places first, the oldest first.
"""

from dataclasses import dataclass

from django.db import transaction
from django.db.models import Case, Max, QuerySet, Value, When
from django.db.models.functions import Concat, Substr

from accounts.models import User
from annotation.assignment import quota_rules, slots
from annotation.assignment.quota_rules import CampaignQuotas
from annotation.assignment.quotas import read
from annotation.campaigns import feasibility
from annotation.campaigns.feasibility import QuotaReport
from annotation.campaigns.lifecycle import check_numbers
from annotation.label_studio.base.invalidate import look_again_at
from annotation.models import Annotation, Assignment, Campaign, Enrolment, Task
from foundation.errors import Conflict, DomainError
from studies import audit
from studies.consent import withdrawn_from

_AT_ONCE = 5000


@dataclass(frozen=True)
class Extension:
    """What another number of annotators per task means, before it is done."""

    wanted: int
    screens: int
    more_answers: int  # fewer, where it is negative
    surplus: int  # labels kept apart so far that can take a new place
    people: int  # who may work in the campaign now
    quotas: QuotaReport
    refusal: str = ""

    @property
    def too_few_people(self) -> bool:
        return self.people < self.wanted


def look_ahead(campaign: Campaign, wanted: int) -> Extension:
    """Return what `extend` would do, and why it would not if so. Reads only."""
    screens = _tasks(campaign).filter(withdrawn=False).count()
    try:
        _check(campaign, wanted)
        refusal = ""
    except DomainError as error:
        refusal = error.message
    return Extension(
        wanted=wanted,
        screens=screens,
        more_answers=screens * (wanted - campaign.annotators_per_task),
        surplus=_surplus(campaign).count() if wanted > campaign.annotators_per_task else 0,
        people=campaign.enrolments.filter(state=Enrolment.State.ACTIVE).count(),
        quotas=QuotaReport() if refusal else feasibility.if_extended(campaign, wanted),
        refusal=refusal,
    )


@transaction.atomic
def extend(*, campaign: Campaign, by: User | None, annotators_per_task: int) -> Campaign:
    """Ask another number of annotators for each task, in whatever state the campaign is; it stays in it.

    A smaller number is refused while any task has more annotators than that, or quotas could not be met.
    """
    rows = Campaign.objects.select_for_update(of=("self",), no_key=True).select_related("study")
    campaign = rows.get(pk=campaign.pk)
    before = campaign.annotators_per_task
    if before == annotators_per_task and campaign.opened_at is not None:
        return campaign
    # As everywhere: assignments are locked before tasks, both in the order of their keys.
    late = list(_surplus(campaign).select_related("assignment"))
    list(
        Assignment.objects.select_for_update()
        .filter(pk__in=[one.assignment_id for one in late])
        .order_by("pk")
    )
    _lock(_tasks(campaign))
    _check(campaign, annotators_per_task)
    _set_wanted(campaign, before, annotators_per_task)
    Campaign.objects.filter(pk=campaign.pk).update(annotators_per_task=annotators_per_task)
    campaign.annotators_per_task = annotators_per_task
    readmitted = sum(_readmit(one) for one in late) if annotators_per_task > before else 0
    look_again_at(campaign=campaign)
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
    last = 0
    while True:
        locked = tasks.select_for_update(no_key=True).filter(pk__gt=last).order_by("pk")
        keys = list(locked.values_list("pk", flat=True)[:_AT_ONCE])
        if not keys:
            return
        last = keys[-1]


def _check(campaign: Campaign, wanted: int) -> None:
    if campaign.imported or campaign.opened_at is None:
        state = "was imported" if campaign.imported else "is a draft: change the draft"
        raise Conflict("wrong_state", f"“{campaign.name}” {state}.")
    check_numbers({"annotators_per_task": wanted})
    if wanted == campaign.annotators_per_task:
        raise _refused(f"Each screen is answered by {wanted} people already.")
    rules = [quota_rules.line(rule) for rule in quota_rules.stored(campaign)]
    try:
        quota_rules.parse(rules, annotators_per_task=wanted, kind=campaign.kind)
    except DomainError as error:
        raise _refused(
            f"The quotas cannot be met by {wanted} annotators per screen. {error.message}"
        ) from None
    if wanted > campaign.annotators_per_task:
        return
    most = _tasks(campaign).aggregate(most=Max("held"))["most"] or 0
    if most > wanted:
        raise _refused(
            f"Some screens have {most} annotators already, so {wanted} would drop answers. "
            "To stop collecting, close the campaign early: reports use what is there."
        )
    quotas = quota_rules.quotas_of(campaign)
    if quotas and any(not _still_open(quotas, mix, wanted) for mix in _mixes(_tasks(campaign))):
        raise _refused(
            f"Some screens are held by people with whom the quotas cannot be met by {wanted}. "
            "To stop collecting, close the campaign early: reports use what is there."
        )


def _refused(message: str) -> Conflict:
    return Conflict("cannot_extend", message, fields={"annotators_per_task": message})


def _mixes(tasks: QuerySet[Task]) -> list[str]:
    told = (
        tasks.exclude(quota_mix="").exclude(quota_mix__startswith="?").exclude(quota_mix__contains="/closed/")
    )
    return list(told.order_by().values_list("quota_mix", flat=True).distinct())


def _still_open(quotas: CampaignQuotas, mix: str, wanted: int) -> bool:
    rules = quotas.of_mix(mix)
    return rules is not None and rules.completable(read(mix), wanted)


def _set_wanted(campaign: Campaign, before: int, wanted: int) -> None:
    """Write the number onto every task, and into what its quotas see of it (see `annotation.assignment.quotas`)."""
    tasks = _tasks(campaign)
    old, new = f"{before}/", f"{wanted}/"
    tasks.filter(wanted=before).update(
        wanted=wanted,
        quota_mix=Case(
            When(quota_mix="", then=Value("")),
            When(quota_mix__startswith="?", then=Concat(Value(f"?{new}"), Substr("quota_mix", len(old) + 2))),
            default=Concat(Value(new), Substr("quota_mix", len(old) + 1)),
        ),
    )
    quotas = quota_rules.quotas_of(campaign)
    if quotas is None:
        return
    # What the text of a mix cannot tell is looked at anew, task by task: mixes that nobody could join, or of
    # which that is so now; and all where profiles may have changed unseen, while the campaign was closed.
    anew = tasks.filter(quota_mix__contains="/closed/")
    never = [mix for mix in _mixes(tasks) if not _still_open(quotas, mix, wanted)]
    if campaign.closed_at is not None:
        anew = tasks
    elif never:
        anew = anew | tasks.filter(quota_mix__in=never)
    keys = list(anew.order_by("pk").values_list("pk", flat=True))
    for start in range(0, len(keys), _AT_ONCE):
        slots.mix_anew(keys[start : start + _AT_ONCE])


def _surplus(campaign: Campaign) -> QuerySet[Annotation]:
    """Return the labels that could take a new place, the oldest first."""
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
    """Give a label that came too late one of the new places, if it is free and quotas let it in."""
    slot = slots.take(annotation.task_id, annotation.annotator_id)
    if slot is None:
        return False
    Assignment.objects.filter(annotations=annotation).update(state=Assignment.State.SUBMITTED, slot=slot)
    # A correction that came in meanwhile is the one that counts.
    Annotation.objects.filter(assignment=annotation.assignment_id, is_latest=True).update(
        status=Annotation.Status.ACCEPTED, status_reason=""
    )
    return True
