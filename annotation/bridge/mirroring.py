"""What stands in Label Studio, written down as it is (`LabelStudioAnnotation`): no label is made here.

Whatever a server says goes in, or its content is refused with a reason: nothing of it can stop the rest from being
read. What was seen before and says the same costs one look at its digest.
"""

import logging
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from itertools import islice
from typing import Any, NamedTuple, TypeVar

from django.db import IntegrityError, transaction
from django.db.models import Q
from django.utils import timezone

from accounts.consent import withdrawn_from
from annotation.bridge import reasons
from annotation.bridge.forgetting import erased_at
from annotation.bridge.locking import lock_enrolments
from annotation.bridge.seen import NO_MOMENT, Seen, seen
from annotation.bulk import insert, update
from annotation.models import (
    LabelStudioAnnotation,
    LabelStudioProject,
    LabelStudioTask,
    LabelStudioUser,
)

logger = logging.getLogger(__name__)
State, Missing = LabelStudioAnnotation.State, LabelStudioAnnotation.Missing
_AT_ONCE = 1_000
_Item = TypeVar("_Item")


class _Known(NamedTuple):
    """What the mirror holds of an annotation."""

    external_id: int
    pk: int
    digest: str
    lost: bool  # taken for deleted, or missing
    deleted: bool
    made_at: datetime
    task_id: int | None

    def was_another(self, one: Seen) -> bool:
        """Whether the number stood for something else: what a server was set back to gives numbers anew."""
        return self.made_at != one.made_at and NO_MOMENT not in (self.made_at, one.made_at)


def mirror(*, project: LabelStudioProject, annotations: Iterable[Mapping[str, Any]]) -> set[int]:
    """Write down annotations of a project as Label Studio gives them; return which tasks of ours they change.

    What came back after it was deleted is there again. Users who were not seen before wait for the lead.
    """
    touched: set[int] = set()
    for some in _batches(annotations, _AT_ONCE):
        found = {one.external_id: one for one in map(seen, some) if one is not None}
        if strange := len(some) - len(found):
            logger.warning(
                "%d annotations of %s have no number of their own and were left out", strange, project
            )
        try:
            touched |= _write(project, found)
        except IntegrityError:
            # Somebody else wrote one of them at the same moment: now it is among what is known.
            touched |= _write(project, found)
    return touched


@transaction.atomic
def _write(project: LabelStudioProject, found: Mapping[int, Seen]) -> set[int]:
    if not found:
        return set()
    lock_enrolments(project.bridge.campaign_id)
    tasks = _tasks(project, {one.external_task for one in found.values()})
    known = _set_apart(found, _known(project, list(found)))
    users = _users(project, found.values())
    silent = _silent(project, users)
    fresh, changed, touched = [], [], set[int]()
    for one in found.values():
        before, task = known.get(one.external_id), tasks.get(one.external_task)
        if before is None:
            fresh.append(one)
        elif before.digest != _digest(one, silent) or before.lost or before.task_id != task:
            changed.append((before.pk, one))
            touched.add(before.task_id or 0)
        else:
            continue
        touched.add(task or 0)
    if fresh:
        columns = _columns(fresh, tasks, users, silent)
        columns |= {
            "project_id": [project.pk] * len(fresh),
            "external_id": [one.external_id for one in fresh],
        }
        insert(LabelStudioAnnotation, columns)
    if changed:
        rows = [one for _, one in changed]
        update(LabelStudioAnnotation, [pk for pk, _ in changed], _columns(rows, tasks, users, silent))
    return touched - {0}


def _known(project: LabelStudioProject, numbers: Sequence[int]) -> dict[int, _Known]:
    # Locked in the order of their keys, as settling does: see annotation.bridge.settling.
    rows = (
        LabelStudioAnnotation.objects.select_for_update(of=("self",), no_key=True)
        .filter(project=project, external_id__in=numbers)
        .order_by("pk")
        .values_list("external_id", "pk", "digest", "deleted_at", "missing", "made_at", "task_id")
    )
    return {
        external: _Known(
            external,
            pk,
            digest,
            deleted_at is not None or missing != "",
            deleted_at is not None,
            made_at,
            task,
        )
        for external, pk, digest, deleted_at, missing, made_at, task in rows
    }


def _set_apart(found: Mapping[int, Seen], known: Mapping[int, _Known]) -> dict[int, _Known]:
    """Put aside what is known under numbers that stand for other annotations now; return the rest.

    What was not deleted before is held: a server that gives a number twice lost what it had.
    """
    others = [one for one in known.values() if one.was_another(found[one.external_id])]
    for one in others:
        row = LabelStudioAnnotation.objects.filter(pk=one.pk)
        row.update(external_id=-one.pk)
        if not one.deleted:
            row.filter(missing="").update(missing=Missing.HELD)
    apart = {one.pk for one in others}
    return {number: one for number, one in known.items() if one.pk not in apart}


def _tasks(project: LabelStudioProject, numbers: Collection[int]) -> dict[int, int]:
    rows = LabelStudioTask.objects.filter(project=project, external_id__in=numbers)
    return dict(rows.values_list("external_id", "task_id"))


def _users(project: LabelStudioProject, rows: Iterable[Seen]) -> dict[int, int]:
    """Return our keys of the users who made these, those new here included."""
    names = {one.user: one.name for one in rows if one.user is not None}
    server = project.bridge.server_id
    users = LabelStudioUser.objects.filter(server=server, external_id__in=names)
    known = dict(users.values_list("external_id", "pk"))
    new = [
        LabelStudioUser(server_id=server, external_id=number, name=name)
        for number, name in sorted(names.items())
        if number not in known
    ]
    if not new:
        return known
    erased = erased_at(project.bridge.server)
    for user in new:
        if user.external_id in erased:
            user.name, user.state, user.forgotten_at = "", LabelStudioUser.State.IGNORED, timezone.now()
    LabelStudioUser.objects.bulk_create(new, ignore_conflicts=True)
    return dict(users.all().values_list("external_id", "pk"))


def _silent(project: LabelStudioProject, users: Mapping[int, int]) -> dict[int | None, str]:
    """Return the users whose answers are not kept, and why: they took back consent, or were erased."""
    withdrawn = withdrawn_from(project.bridge.campaign.study)
    theirs = LabelStudioUser.objects.filter(
        Q(annotator__in=withdrawn) | Q(annotator=None, forgotten_at__isnull=False), pk__in=users.values()
    )
    erased = LabelStudioUser.State.IGNORED
    return {
        number: reasons.ERASED if state == erased else reasons.WITHDRAWN
        for number, state in theirs.values_list("external_id", "state")
    }


def _digest(one: Seen, silent: Mapping[int | None, str]) -> str:
    """Return the digest that is kept: another where the content is not, so that it is read once it may be kept."""
    return f"-{one.digest[1:]}" if one.user in silent else one.digest


def _columns(
    rows: Sequence[Seen], tasks: Mapping[int, int], users: Mapping[int, int], silent: Mapping[int | None, str]
) -> dict[str, list[Any]]:
    ours = [one.external_task in tasks for one in rows]
    kept: list[Any] = [
        reasons.instead_of_result(silent[one.user]) if one.user in silent else one.result for one in rows
    ]
    return {
        "external_task": [one.external_task for one in rows],
        "task_id": [tasks.get(one.external_task) for one in rows],
        "user_id": [None if one.user is None else users[one.user] for one in rows],
        "updated_by": [one.updated_by for one in rows],
        "made_at": [one.made_at for one in rows],
        "changed_at": [one.changed_at for one in rows],
        "cancelled": [one.cancelled for one in rows],
        "result": kept,
        "lead_time": [None if one.user in silent else one.lead_time for one in rows],
        "digest": [_digest(one, silent) for one in rows],
        "deleted_at": [None] * len(rows),
        "missing": [""] * len(rows),
        "state": [State.NEW.value if sent else State.REFUSED.value for sent in ours],
        "reason": ["" if sent else reasons.NOT_SENT for sent in ours],
        # What the lead let pass was another content.
        "allowed": [False] * len(rows),
    }


def _batches(items: Iterable[_Item], size: int) -> Iterator[list[_Item]]:
    iterator = iter(items)
    while some := list(islice(iterator, size)):
        yield some
