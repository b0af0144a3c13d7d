"""Who gets which task next, and for how long.

Exact replication and quotas rest on the database (see `slots`); `selection` decides only the order, `checks` what
is mixed in, `day_caps` when it is enough for a day.
"""

from datetime import datetime, timedelta

from django.db import transaction
from django.db.models import Exists, F, OuterRef, QuerySet
from django.utils import timezone

from accounts.models import Annotator
from annotation.assignment import checks, day_caps, slots
from annotation.assignment.eligibility import refuse_before_passed
from annotation.assignment.quota_rules import quotas_of
from annotation.assignment.selection import choices, open_mixes
from annotation.models import Assignment, Campaign, Enrolment, LabelStudioBridge, Task
from foundation.errors import Conflict, Forbidden, NotFound
from studies import consent

State = Assignment.State
_EXPIRE_AT_ONCE = 500


def next_assignment(
    *, campaign: Campaign, annotator: Annotator, now: datetime | None = None
) -> Assignment | None:
    """Return the annotator's open task, or lease them another; None when nothing is left for them, or today.

    Asking again renews the lease of an open task. Raises Forbidden `not_enrolled`, `annotator_paused`,
    `annotator_excluded`, `consent_missing`, `practice_first`, and Conflict `campaign_not_open`,
    `labelled_in_label_studio`.
    """
    now = now or timezone.now()
    expire(campaign=campaign, now=now)
    with transaction.atomic():
        enrolment = lock_enrolment(campaign, annotator)
        campaign = enrolment.campaign
        if campaign.state != Campaign.State.OPEN or campaign.imported:
            raise Conflict("campaign_not_open", f"No tasks are given out: the campaign is {campaign.state}.")
        refuse_elsewhere(campaign)
        expires_at = now + timedelta(minutes=campaign.lease_minutes)
        held = _leased(campaign, annotator).filter(expires_at__gt=now).select_related("task").first()
        if held is not None:
            Assignment.objects.filter(pk=held.pk).update(expires_at=expires_at)
            held.expires_at = expires_at
            return held
        refuse_before_passed(enrolment)
        return _claim(campaign, annotator, now, expires_at)


def refuse_elsewhere(campaign: Campaign) -> None:
    """Raise Conflict where the campaign is labelled in a Label Studio: its places are given out there."""
    if labelled_elsewhere(campaign):
        raise Conflict(
            "labelled_in_label_studio", "The tasks of this campaign are given out in Label Studio, not here."
        )


def labelled_elsewhere(campaign: Campaign) -> bool:
    """Return whether a Label Studio gives out the campaign's tasks; no query where `label_studio` was selected."""
    try:
        return bool(campaign.label_studio)
    except LabelStudioBridge.DoesNotExist:
        return False


def skip(*, assignment: Assignment, annotator: Annotator, now: datetime | None = None) -> Assignment:
    """Give a task back unanswered; its annotator is not offered it again. Twice is the same as once."""
    with transaction.atomic():
        assignment = lock_own(assignment, annotator)
        if assignment.state in {State.SUBMITTED, State.SURPLUS}:
            raise Conflict("already_submitted", "This task was submitted and cannot be skipped any more.")
        if assignment.state != State.SKIPPED:
            _end([assignment], State.SKIPPED, now or timezone.now())
        return assignment


def release(*, annotator: Annotator, campaign: Campaign, now: datetime | None = None) -> int:
    """Give back whatever the annotator has open, as if its lease had run out; return how many tasks."""
    with transaction.atomic():
        leased = list(_leased(campaign, annotator).select_for_update(of=("self",)).order_by("pk"))
        _end(leased, State.EXPIRED, now or timezone.now())
        return len(leased)


def release_tasks(*, tasks: QuerySet[Task], now: datetime | None = None) -> int:
    """End every lease on `tasks`, as if it had run out; return how many there were."""
    with transaction.atomic():
        on_tasks = Assignment.objects.filter(task__in=tasks, state=State.LEASED)
        leased = list(on_tasks.select_for_update(of=("self",)).order_by("pk"))
        _end(leased, State.EXPIRED, now or timezone.now())
        return len(leased)


def expire(*, campaign: Campaign, now: datetime | None = None) -> int:
    """Release the campaign's leases that ran out; every request for a task does this first."""
    now = now or timezone.now()
    overdue = Assignment.objects.filter(task__campaign=campaign, state=State.LEASED, expires_at__lte=now)
    if not overdue.exists():
        return 0
    with transaction.atomic():
        # Whoever else holds one of these rows is submitting it or releasing it: theirs to end.
        rows = list(
            overdue.select_for_update(skip_locked=True, of=("self",)).order_by("pk")[:_EXPIRE_AT_ONCE]
        )
        _end(rows, State.EXPIRED, now)
        return len(rows)


def lock_enrolment(campaign: Campaign, annotator: Annotator) -> Enrolment:
    """Return the annotator's enrolment, locked, so that their requests come one after the other.

    Refuses whoever may not label: see `next_assignment`.
    """
    enrolment = (
        Enrolment.objects.select_for_update(of=("self",))
        .select_related("campaign__study__consent_text", "campaign__label_studio")
        .filter(campaign=campaign, annotator=annotator)
        .first()
    )
    if enrolment is None:
        raise Forbidden("not_enrolled", "You do not take part in this campaign; open your invitation link.")
    if enrolment.state == Enrolment.State.PAUSED:
        raise Forbidden("annotator_paused", "Your work in this campaign is paused; ask whoever invited you.")
    if enrolment.state == Enrolment.State.EXCLUDED:
        raise Forbidden("annotator_excluded", "Your part in this campaign has ended; ask who invited you.")
    if not consent.has_consented(annotator, enrolment.campaign.study):
        raise Forbidden("consent_missing", "Please read and accept the consent text first.")
    return enrolment


def lock_own(assignment: Assignment, annotator: Annotator) -> Assignment:
    """Return the assignment as it is now, locked; NotFound when it is not the annotator's."""
    found = (
        Assignment.objects.select_for_update(of=("self",))
        .select_related("task__campaign__study")
        .filter(pk=assignment.pk, annotator=annotator)
        .first()
    )
    if found is None:
        raise NotFound("assignment_not_found", "There is no such task of yours.")
    return found


def _leased(campaign: Campaign, annotator: Annotator) -> QuerySet[Assignment]:
    return Assignment.objects.filter(annotator=annotator, state=State.LEASED, task__campaign=campaign)


def _end(assignments: list[Assignment], state: str, now: datetime) -> None:
    holding = [one.task_id for one in assignments if one.slot is not None]
    Assignment.objects.filter(pk__in=[one.pk for one in assignments]).update(
        state=state, slot=None, ended_at=now
    )
    slots.give_back(holding)
    for one in assignments:
        one.state, one.slot, one.ended_at = state, None, now


def lease(
    task_id: int,
    annotator_id: int,
    *,
    now: datetime,
    expires_at: datetime,
    slot: int | None = None,
    purpose: str = Assignment.Purpose.LABEL,
) -> Assignment:
    """Give the task to the annotator; `slot` was taken before, and checks have none.

    A task whose lease ran out may come back to the same annotator: on the same row and public id.
    """
    assignment, _ = Assignment.objects.select_related("task").update_or_create(
        task_id=task_id,
        annotator_id=annotator_id,
        purpose=purpose,
        defaults={
            "state": State.LEASED,
            "slot": slot,
            "leased_at": now,
            "expires_at": expires_at,
            "ended_at": None,
        },
    )
    return assignment


def open_tasks(campaign: Campaign, annotator_id: int, *, calm: bool = False) -> QuerySet[Task]:
    """Return the tasks that the annotator could be given now, checks apart. `calm`: none that is sensitive."""
    mine = Assignment.objects.filter(annotator=annotator_id, task=OuterRef("pk")).exclude(state=State.EXPIRED)
    tasks = Task.objects.filter(~Exists(mine), campaign=campaign, withdrawn=False, held__lt=F("wanted"))
    if calm:
        tasks = tasks.filter(sensitive=False)
    if (quotas := quotas_of(campaign)) is None:
        return tasks
    profile = slots.profiles_of([annotator_id])[annotator_id]
    return tasks.filter(quota_mix__gt="", quota_mix__in=open_mixes(campaign, quotas, profile, calm=calm))


def more_tomorrow(campaign: Campaign, annotator_id: int) -> bool:
    """Return whether only a cap of the day keeps tasks from the annotator."""
    today = day_caps.today(campaign, annotator_id)
    capped = today.enough or (today.calm and not open_tasks(campaign, annotator_id, calm=True).exists())
    return capped and open_tasks(campaign, annotator_id).exists()


def likely_next(campaign: Campaign, annotator_id: int) -> int | None:
    """Return the task that would be leased if the open one were submitted now. Reads only, promises nothing."""
    today = day_caps.today(campaign, annotator_id)
    if today.enough:
        return None
    quotas = quotas_of(campaign)
    profile = slots.profiles_of([annotator_id])[annotator_id] if quotas else {}
    turn = _turn(annotator_id)
    choice = next(choices(campaign, annotator_id, quotas, profile, turn=turn, calm=today.calm), None)
    if choice is None:
        return None
    drawn = () if choice.goes_on else checks.drawn(campaign, annotator_id, turn)
    check = checks.fitting(drawn, campaign, annotator_id, turn=turn, calm=today.calm)
    return choice.task_id if check is None else check.task_id


def _turn(annotator_id: int) -> int:
    mine = Assignment.objects.filter(annotator=annotator_id).order_by("-id").values_list("task_id", "purpose")
    latest = mine.first()
    return checks.turn_of(*latest) if latest else 0


def _claim(
    campaign: Campaign, annotator: Annotator, now: datetime, expires_at: datetime
) -> Assignment | None:
    """Lease the best task that is still to be had, or a check in its place."""
    today = day_caps.today(campaign, annotator.pk, now=now)
    if today.enough:
        return None
    quotas = quotas_of(campaign)
    profile = slots.profiles_of([annotator.pk])[annotator.pk] if quotas else {}
    turn = _turn(annotator.pk)
    drawn = checks.drawn(campaign, annotator.pk, turn)
    while True:
        lost = False
        for choice in choices(campaign, annotator.pk, quotas, profile, turn=turn, calm=today.calm):
            joined = quotas.joined(choice.mix, profile) if quotas else choice.mix
            # Only while an ordinary task is open to them, which a mix too long to be checked cannot tell.
            if drawn and joined is not None and not choice.goes_on:
                check = checks.fitting(drawn, campaign, annotator.pk, turn=turn, calm=today.calm)
                if check is not None:
                    return lease(
                        check.task_id, annotator.pk, purpose=check.purpose, now=now, expires_at=expires_at
                    )
                drawn = ()
            slot = slots.claim(choice, annotator.pk, joined)
            if slot is not None:
                return lease(choice.task_id, annotator.pk, slot=slot, now=now, expires_at=expires_at)
            # A mix too long to be checked beforehand refuses for good; any other refusal is a race lost.
            lost = lost or joined is not None
        # Somebody was quicker wherever we tried: what they left open is seen by looking again.
        if not lost:
            return None
