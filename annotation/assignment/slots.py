"""Taking and freeing the slots of a task; no other module does this.

`Task.held` counts the assignments that hold a slot and never exceeds `Task.wanted` (a CHECK); an assignment's slot
number is unique in its task (a UNIQUE). `Task.quota_mix` stores what the campaign's quotas need to know about its
annotators. All of these change together in the caller's transaction.
"""

from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence

from django.db import connection, transaction
from django.db.models import F, Q, QuerySet

from accounts.models import Annotator, AnnotatorProfile
from annotation import integrations
from annotation.assignment.campaign_quotas import CampaignQuotas, quotas_of
from annotation.assignment.quotas import Profile, closed_mix, profile_of
from annotation.assignment.selection import Choice
from annotation.assignment.sql import HOLD_PLACE, HOLD_PLACE_UNLESS_LOCKED
from annotation.kinds.registry import kind_of
from annotation.models import Assignment, Task
from foundation.database.statements import changed


def take(task_id: int, annotator_id: int) -> int | None:
    """Take the lowest free slot of a task for an annotator.

    None if no slot is free, the task is no longer offered, or its quotas could no longer be met with this annotator.
    The UPDATE locks the task's row, so a second request waits and then sees the result of the first.
    """
    offered = Task.objects.filter(pk=task_id, withdrawn=False, held__lt=F("wanted"))
    if not offered.update(held=F("held") + 1):
        return None
    task = Task.objects.select_related("campaign__study", "image").get(pk=task_id)
    if quotas := quotas_of(task.campaign):
        holders = list(_holding([task_id]).values_list("annotator_id", flat=True))
        profiles = profiles_of([*holders, annotator_id])
        mix = mix_of(quotas, task, [profiles[holder_id] for holder_id in (*holders, annotator_id)])
        if mix is None:
            mix = mix_of(quotas, task, [profiles[holder_id] for holder_id in holders]) or closed_mix(
                task.wanted
            )
            Task.objects.filter(pk=task_id).update(held=F("held") - 1, quota_mix=mix)
            return None
        Task.objects.filter(pk=task_id).update(quota_mix=mix)
    return _lowest_free(task_id)


def claim(choice: Choice, annotator_id: int, joined: str | None, *, wait: bool = True) -> bool:
    """Take a place of a task if it has not changed since it was chosen; return whether this succeeded.

    `joined` is its mix with the annotator if `choice.mix` was complete: then one UPDATE both checks the quotas and
    takes the place. `wait`: see `hold`.
    """
    if joined is None:
        return take(choice.task_id, annotator_id) is not None
    return hold(choice, joined, wait=wait)


def hold(choice: Choice, joined: str, *, wait: bool = True) -> bool:
    """Count one more slot of a task as held, if nobody has since it was chosen; return whether this succeeded.

    Without `wait` it is not so either while somebody else has the task locked.
    """
    values = {**choice._asdict(), "joined": joined}
    if connection.vendor != "postgresql":
        return changed(HOLD_PLACE, values) == 1
    if not wait:
        return changed(HOLD_PLACE_UNLESS_LOCKED, values) == 1
    # PostgreSQL keeps the row locked even if another annotator's change makes the condition false. Without the
    # savepoint, two annotators who each lost a race could wait for the task that the other one tried.
    with transaction.atomic():
        held = changed(HOLD_PLACE, values) == 1
        transaction.set_rollback(not held)
    return held


def _lowest_free(task_id: int) -> int:
    used = set(_holding([task_id]).values_list("slot", flat=True))
    return next(slot for slot in range(len(used) + 1) if slot not in used)


def lock_held(annotator_id: int, campaign_ids: Iterable[int]) -> None:
    """Lock an annotator's tasks in some campaigns, after the assignments that hold them.

    For transactions that free places in several steps. Each step locks in the order of ids, but the steps together do
    not, so two simultaneous withdrawals could wait for each other.
    """
    assignments = Assignment.objects.filter(
        annotator=annotator_id, task__campaign__in=campaign_ids, slot__isnull=False
    )
    task_ids = list(
        assignments.select_for_update(of=("self",)).order_by("pk").values_list("task_id", flat=True)
    )
    list(Task.objects.select_for_update(no_key=True).filter(pk__in=task_ids).order_by("pk").values_list("pk"))


def give_back(task_ids: Iterable[int]) -> None:
    """Count one slot of each task as free; two slots of a task that is named twice.

    The assignments have already released their slots. Rows are locked in the order of their ids, so that two such calls
    cannot wait for each other. The lock does not conflict with a submission, which checks at its commit whether its
    task still exists while it holds its next one.
    """
    freed = Counter(task_ids)
    locked = Task.objects.select_for_update(no_key=True).filter(pk__in=freed).order_by("pk")
    by_count: dict[int, list[int]] = defaultdict(list)
    mixed = []
    for pk, mix in locked.values_list("pk", "quota_mix"):
        by_count[freed[pk]].append(pk)
        if mix:
            mixed.append(pk)
    for count, pks in by_count.items():
        Task.objects.filter(pk__in=pks).update(held=F("held") - count)
    if mixed:
        mix_anew(mixed)


def profile_changed(annotator: Annotator) -> int:
    """Update the mixes of an annotator's tasks for their present profile; return the number of tasks. Call it in a
    transaction."""
    holding = Q(assignments__annotator=annotator, assignments__slot__isnull=False)
    # Those of closed campaigns too: they may be opened again.
    held_tasks = Task.objects.filter(holding, ~Q(quota_mix="")).values("pk")
    locked = Task.objects.select_for_update(no_key=True).filter(pk__in=held_tasks).order_by("pk")
    pks = list(locked.values_list("pk", flat=True))
    if pks:
        mix_anew(pks)
    for tool in integrations.registered():
        tool.profile_changed(annotator)
    return len(pks)


def profiles_of(annotator_ids: Iterable[int]) -> dict[int, Profile]:
    """Return each annotator's details in the form in which rules compare them."""
    unique_ids = set(annotator_ids)
    rows = AnnotatorProfile.objects.filter(annotator__in=unique_ids).values(
        "annotator_id", *AnnotatorProfile.FIELDS
    )
    profiles = {row.pop("annotator_id"): profile_of(row) for row in rows}
    return {annotator_id: profiles.get(annotator_id, {}) for annotator_id in unique_ids}


def mix_anew(pks: Sequence[int]) -> None:
    """Write the mixes of these tasks from their present annotators. The caller has locked them."""
    by_task: dict[int, list[int]] = defaultdict(list)
    for pk, annotator_id in _holding(pks).values_list("task_id", "annotator_id"):
        by_task[pk].append(annotator_id)
    profiles = profiles_of({holder_id for holders in by_task.values() for holder_id in holders})
    tasks = (
        Task.objects.filter(pk__in=pks)
        .select_related("campaign__study", "image")
        .prefetch_related("stimuli__image")
    )
    campaigns: dict[int, CampaignQuotas | None] = {}
    for task in tasks:
        quotas = campaigns.setdefault(task.campaign_id, quotas_of(task.campaign))
        if quotas is None:
            continue
        mix = mix_of(quotas, task, [profiles[holder_id] for holder_id in by_task[task.pk]]) or closed_mix(
            task.wanted
        )
        if mix != task.quota_mix:
            Task.objects.filter(pk=task.pk).update(quota_mix=mix)


def mix_of(quotas: CampaignQuotas, task: Task, profiles: Sequence[Profile]) -> str | None:
    """Return the mix of a task with annotators of these profiles; None if that breaks a rule permanently."""
    rules = quotas.of_group(_group_of(task))
    members = [rules.member(profile) for profile in profiles]
    return rules.mix(members, task.wanted) if rules.completable(members, task.wanted) else None


def _group_of(task: Task) -> int | None:
    """Return the identity group that everything in the task shows."""
    if task.image is not None:
        return task.image.group_id
    if kind_of(task.campaign).about_attributes:
        return None
    groups = {stimulus.image.group_id for stimulus in task.stimuli.all() if stimulus.image is not None}
    return groups.pop() if len(groups) == 1 else None


def _holding(task_ids: Sequence[int]) -> QuerySet[Assignment]:
    return Assignment.objects.filter(task__in=task_ids, slot__isnull=False)
