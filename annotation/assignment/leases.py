"""Leasing tasks: which annotator gets which task next, and for how long.

The database guarantees exact replication and quotas (see `slots`). `selection` only decides the order,
`gold_and_repeats` which checks are mixed in, and `day_caps` when the daily limit is reached.
"""

import uuid
from collections.abc import Iterable
from datetime import datetime, timedelta
from uuid import UUID

from django.db import transaction
from django.db.models import Exists, F, OuterRef, Q, QuerySet
from django.utils import timezone

from accounts.models import Annotator
from annotation.assignment import day_caps, gold_and_repeats, slots, sql
from annotation.assignment.campaign_quotas import quotas_of
from annotation.assignment.eligibility import refusal_to_give, refusal_to_label, refuse_before_passed
from annotation.assignment.quotas import Profile
from annotation.assignment.selection import choices, open_mixes
from annotation.models import Assignment, Campaign, Enrolment, Task
from foundation.database.statements import known, rows
from foundation.database.values import moment_value, uuid_value
from foundation.errors import Conflict, Forbidden, NotFound
from studies import consent

State = Assignment.State
_EXPIRE_AT_ONCE = 500


def next_assignment(
    *, campaign: Campaign, annotator: Annotator, now: datetime | None = None
) -> Assignment | None:
    """Return the annotator's open task, or lease them another; None if no task is left for them, or today.

    Asking again renews the lease of an open task. Raises Forbidden `not_enrolled`, `annotator_paused`,
    `annotator_excluded`, `consent_missing`, `practice_first`, and Conflict `campaign_not_open` or
    `labelled_in_…`, which ends with the slug of the tool in which the campaign is labelled.
    """
    now = now or timezone.now()
    expire(campaign=campaign, now=now)
    with transaction.atomic():
        enrolment = lock_enrolment(campaign, annotator)
        campaign = enrolment.campaign
        if refusal := refusal_to_give(campaign):
            raise refusal
        open_assignment = (
            _leased(campaign, annotator).filter(expires_at__gt=now).select_related("task").first()
        )
        if open_assignment is not None:
            open_assignment.expires_at = now + timedelta(minutes=campaign.lease_minutes)
            Assignment.objects.filter(pk=open_assignment.pk).update(expires_at=open_assignment.expires_at)
            return open_assignment
        refuse_before_passed(enrolment)
        profile = slots.profiles_of([annotator.pk])[annotator.pk] if quotas_of(campaign) else {}
        return claim_next(
            campaign,
            annotator.pk,
            turn=_turn(annotator.pk),
            profile=profile,
            most_screens=enrolment.most_screens,
            now=now,
        )


def skip(*, assignment: Assignment, annotator: Annotator, now: datetime | None = None) -> Assignment:
    """Give a task back unanswered; its annotator is not offered it again. Twice is the same as once."""
    with transaction.atomic():
        assignment = lock_own(assignment, annotator)
        if assignment.state in {State.SUBMITTED, State.SURPLUS}:
            raise Conflict("already_submitted", "This task was submitted and can no longer be skipped.")
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
        # Another request that has locked one of these rows is submitting or releasing it, and ends it.
        rows = list(
            overdue.select_for_update(skip_locked=True, of=("self",)).order_by("pk")[:_EXPIRE_AT_ONCE]
        )
        _end(rows, State.EXPIRED, now)
        return len(rows)


def lock_enrolment(campaign: Campaign, annotator: Annotator) -> Enrolment:
    """Return the annotator's enrolment, locked, so that their requests are processed one after the other.

    Refuses an annotator who may not label: see `next_assignment`.
    """
    enrolment = (
        Enrolment.objects.select_for_update(of=("self",))
        .select_related("campaign__study__consent_text")
        .filter(campaign=campaign, annotator=annotator)
        .first()
    )
    if enrolment is None:
        raise Forbidden("not_enrolled", "You do not take part in this campaign; open your invitation link.")
    consented = consent.has_consented(annotator, enrolment.campaign.study)
    if refusal := refusal_to_label(enrolment.state, consented=consented):
        raise refusal
    return enrolment


def lock_enrolments(campaign_id: int) -> dict[int, str]:
    """Lock the enrolments of a campaign in the order of their keys; return the state of each annotator.

    An annotator's withdrawal, exclusion or return locks their enrolment before anything else, so none of them runs
    between the steps of a transaction that begins with this.
    """
    enrolments = Enrolment.objects.select_for_update(of=("self",)).filter(campaign=campaign_id)
    return dict(enrolments.order_by("pk").values_list("annotator_id", "state"))


def lock_for_decisions(enrolments: Iterable[Enrolment]) -> None:
    """Lock these enrolments before a decision about their annotators; in campaigns labelled in a tool, lock all.

    In such campaigns, a decision also marks the tool's records of the annotator and of the tasks that they answered, in
    several steps. Annotators share tasks, so two simultaneous decisions could wait for each other's records.
    """
    decided = list(enrolments)
    keys = [row.pk for row in decided]
    campaigns = {row.campaign_id for row in decided if row.campaign.labelled_in}
    locked = Enrolment.objects.select_for_update(of=("self",)).filter(
        Q(pk__in=keys) | Q(campaign__in=campaigns)
    )
    list(locked.order_by("pk").values_list("pk"))


def lock_own(assignment: Assignment, annotator: Annotator) -> Assignment:
    """Return the assignment's present state, locked; raises NotFound if it is not the annotator's."""
    locked = (
        Assignment.objects.select_for_update(of=("self",))
        .select_related("task__campaign__study")
        .filter(pk=assignment.pk, annotator=annotator)
        .first()
    )
    if locked is None:
        raise NotFound("assignment_not_found", "This task is not yours.")
    return locked


def _leased(campaign: Campaign, annotator: Annotator) -> QuerySet[Assignment]:
    return Assignment.objects.filter(annotator=annotator, state=State.LEASED, task__campaign=campaign)


def _end(assignments: list[Assignment], state: str, now: datetime) -> None:
    holding = [assignment.task_id for assignment in assignments if assignment.slot is not None]
    Assignment.objects.filter(pk__in=[assignment.pk for assignment in assignments]).update(
        state=state, slot=None, ended_at=now
    )
    slots.give_back(holding)
    for assignment in assignments:
        assignment.state, assignment.slot, assignment.ended_at = state, None, now


def lease(
    task_id: int, annotator_id: int, *, purpose: str, now: datetime, expires_at: datetime
) -> Assignment:
    """Lease a task to an annotator; a label's place was taken before, and checks need none.

    A task whose lease has ended may be leased to the same annotator again, with the same row and public id.
    """
    statement = sql.LEASE_LABEL if purpose == Assignment.Purpose.LABEL else sql.LEASE_CHECK
    values = {"public_id": uuid_value(uuid.uuid4()), "task": task_id, "annotator": annotator_id}
    values |= {"purpose": str(purpose), "now": moment_value(now), "expires_at": moment_value(expires_at)}
    pk, public_id, slot = rows(statement, values)[0]
    return known(
        Assignment,
        id=pk,
        public_id=UUID(str(public_id)),
        task_id=task_id,
        annotator_id=annotator_id,
        state=State.LEASED,
        purpose=purpose,
        slot=slot,
        leased_at=now,
        expires_at=expires_at,
        ended_at=None,
    )


def open_tasks(campaign: Campaign, annotator_id: int, *, calm: bool = False) -> QuerySet[Task]:
    """Return the tasks, without checks, that the annotator could get now. `calm`: no sensitive tasks."""
    own_assignments = Assignment.objects.filter(annotator=annotator_id, task=OuterRef("pk")).exclude(
        state=State.EXPIRED
    )
    tasks = Task.objects.filter(
        ~Exists(own_assignments), campaign=campaign, withdrawn=False, held__lt=F("wanted")
    )
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
    """Return the task that would be leased if the open one were submitted now. Reads only, without a guarantee."""
    today = day_caps.today(campaign, annotator_id)
    if today.enough:
        return None
    quotas = quotas_of(campaign)
    profile = slots.profiles_of([annotator_id])[annotator_id] if quotas else {}
    turn = _turn(annotator_id)
    choice = next(choices(campaign, annotator_id, quotas, profile, turn=turn, calm=today.calm), None)
    if choice is None:
        return None
    drawn = () if choice.continues_image else gold_and_repeats.drawn(campaign, annotator_id, turn)
    check = gold_and_repeats.fitting(drawn, campaign, annotator_id, turn=turn, calm=today.calm)
    return choice.task_id if check is None else check.task_id


def _turn(annotator_id: int) -> int:
    assignments = (
        Assignment.objects.filter(annotator=annotator_id).order_by("-id").values_list("task_id", "purpose")
    )
    latest = assignments.first()
    return gold_and_repeats.turn_of(*latest) if latest else 0


def answered(campaign_id: int, annotator_id: int) -> int:
    """Return how many screens the annotator has answered in the campaign, checks among them."""
    submitted = Assignment.objects.filter(state__in=[State.SUBMITTED, State.SURPLUS])
    return submitted.filter(annotator=annotator_id, task__campaign=campaign_id).count()


def claim_next(
    campaign: Campaign,
    annotator_id: int,
    *,
    turn: int,
    profile: Profile,
    most_screens: int | None,
    now: datetime,
) -> Assignment | None:
    """Lease the best free task, or a check instead of it; None if no task is left, or today.

    The caller has locked the annotator's enrolment, whose `most_screens` limits their tasks. `turn` is
    `gold_and_repeats.turn_of` for their latest task.
    """
    if most_screens is not None and answered(campaign.pk, annotator_id) >= most_screens:
        return None
    today = day_caps.today(campaign, annotator_id, now=now)
    if today.enough:
        return None
    expires_at = now + timedelta(minutes=campaign.lease_minutes)
    quotas = quotas_of(campaign)
    drawn = gold_and_repeats.drawn(campaign, annotator_id, turn)
    # The first try nearly always succeeds. Waiting for others costs savepoints, so only who was too late for all waits.
    wait = False
    while True:
        lost = False
        for choice in choices(campaign, annotator_id, quotas, profile, turn=turn, calm=today.calm):
            joined = quotas.joined(choice.mix, profile) if quotas else choice.mix
            # Only while an ordinary task is open to them, which a mix too long to be checked cannot tell.
            if drawn and joined is not None and not choice.continues_image:
                check = gold_and_repeats.fitting(drawn, campaign, annotator_id, turn=turn, calm=today.calm)
                if check is not None:
                    return lease(
                        check.task_id, annotator_id, purpose=check.purpose, now=now, expires_at=expires_at
                    )
                drawn = ()
            if slots.claim(choice, annotator_id, joined, wait=wait):
                label = Assignment.Purpose.LABEL
                return lease(choice.task_id, annotator_id, purpose=label, now=now, expires_at=expires_at)
            # A refusal is permanent if the mix is too long to be checked beforehand; any other refusal means a lost
            # race.
            lost = lost or joined is not None
        # Others were faster for every task that was tried: look for tasks that are still open.
        if not lost:
            return None
        wait = True
