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
from django.db.models import Min, Q
from django.utils import timezone

from annotation.label_studio.base import reasons
from annotation.label_studio.base.erasure import erased_at
from annotation.label_studio.base.row_locks import lock_enrolments
from annotation.label_studio.labels import versions
from annotation.label_studio.pull.parse import NO_MOMENT, Seen, seen
from annotation.models import (
    LabelStudioAnnotation,
    LabelStudioProject,
    LabelStudioTask,
    LabelStudioUser,
    LabelStudioVersion,
)
from foundation.database.bulk import insert, update
from studies.consent import withdrawn_from

logger = logging.getLogger(__name__)
State, Missing = LabelStudioAnnotation.State, LabelStudioAnnotation.Missing
_AT_ONCE = 1_000
_MORE = ("made_at", "task_id", "user_id", "changed_at")
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
    user_id: int | None
    changed_at: datetime

    def was_another(self, one: Seen) -> bool:
        """Whether the number stood for something else: what a server was set back to gives numbers anew."""
        return self.made_at != one.made_at and NO_MOMENT not in (self.made_at, one.made_at)


class _Entry(NamedTuple):
    """An annotation as it is to be written: with keys of ours, and why its content is not kept, if it is not."""

    seen: Seen
    before: _Known | None
    task_id: int | None
    user_id: int | None  # whom it names now
    maker_id: int | None
    refusal: str

    @property
    def pk(self) -> int:
        return 0 if self.before is None else self.before.pk

    @property
    def digest(self) -> str:
        """Return the digest that is kept: another where the content is not, so that it is read once it may be kept."""
        return f"-{self.seen.digest[1:]}" if self.refusal else self.seen.digest


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
    silent = _silent(project, {*users.values(), *(one.user_id for one in known.values())})
    fresh, changed, touched = list[_Entry](), list[_Entry](), set[int]()
    for one in found.values():
        before = known.get(one.external_id)
        entry = _entry(one, before, tasks, users, silent)
        if before is None:
            fresh.append(entry)
        elif before.digest != entry.digest or before.lost or before.task_id != entry.task_id:
            changed.append(entry)
            touched.add(before.task_id or 0)
        else:
            continue
        touched.add(entry.task_id or 0)
    if fresh:
        columns = _columns(fresh) | {
            "project_id": [project.pk] * len(fresh),
            "external_id": [one.seen.external_id for one in fresh],
            "chosen": [""] * len(fresh),
            "chosen_against": [""] * len(fresh),
            "edit": [""] * len(fresh),
        }
        insert(LabelStudioAnnotation, columns)
    if changed:
        _keep_versions(changed)
        update(LabelStudioAnnotation, [one.pk for one in changed], _columns(_with_makers(changed)))
    return touched - {0}


def _entry(
    one: Seen,
    before: _Known | None,
    tasks: Mapping[int, int],
    users: Mapping[int, int],
    silent: Mapping[int, str],
) -> _Entry:
    user = None if one.user is None else users[one.user]
    maker = before.user_id if before is not None else user
    return _Entry(
        seen=one,
        before=before,
        task_id=tasks.get(one.external_task),
        user_id=user,
        maker_id=user if maker is None else maker,
        refusal=silent.get(user or 0) or silent.get(maker or 0) or "",
    )


def _keep_versions(changed: Sequence[_Entry]) -> None:
    """Keep what these rows say now: what counts may be an earlier version than the one that stands there."""
    replaced = [one.pk for one in changed if one.before is not None and one.before.digest != one.digest]
    if replaced:
        versions.keep(list(LabelStudioAnnotation.objects.filter(pk__in=replaced)))


def _with_makers(changed: Sequence[_Entry]) -> list[_Entry]:
    """Return these with the user whom the earliest version of each names, in whatever order they are seen."""
    moved = [one for one in changed if one.user_id not in (None, one.maker_id)]
    if not moved:
        return list(changed)
    rows = LabelStudioVersion.objects.filter(mirrored__in=[one.pk for one in moved]).order_by()
    first = dict(rows.values("mirrored").annotate(at=Min("changed_at")).values_list("mirrored", "at"))
    earlier = {
        one.pk
        for one in moved
        if one.before is not None
        and one.seen.changed_at < min(one.before.changed_at, first.get(one.pk, one.before.changed_at))
    }
    return [one._replace(maker_id=one.user_id) if one.pk in earlier else one for one in changed]


def _known(project: LabelStudioProject, numbers: Sequence[int]) -> dict[int, _Known]:
    # Locked in the order of their keys, as settling does: see annotation.label_studio.labels.settle.
    rows = (
        LabelStudioAnnotation.objects.select_for_update(of=("self",), no_key=True)
        .filter(project=project, external_id__in=numbers)
        .order_by("pk")
        .values_list("external_id", "pk", "digest", "deleted_at", "missing", *_MORE)
    )
    return {
        external: _Known(
            external, pk, digest, deleted_at is not None or missing != "", deleted_at is not None, *more
        )
        for external, pk, digest, deleted_at, missing, *more in rows
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


def _silent(project: LabelStudioProject, users: Collection[int | None]) -> dict[int, str]:
    """Return the users whose answers are not kept, and why: they took back consent, or were erased."""
    withdrawn = withdrawn_from(project.bridge.campaign.study)
    theirs = LabelStudioUser.objects.filter(
        Q(annotator__in=withdrawn) | Q(annotator=None, forgotten_at__isnull=False),
        pk__in=[one for one in users if one is not None],
    )
    erased = LabelStudioUser.State.IGNORED
    return {
        pk: reasons.ERASED if state == erased else reasons.WITHDRAWN
        for pk, state in theirs.values_list("pk", "state")
    }


def _columns(entries: Sequence[_Entry]) -> dict[str, list[Any]]:
    rows = [one.seen for one in entries]
    kept: list[Any] = [
        reasons.instead_of_result(one.refusal) if one.refusal else one.seen.result for one in entries
    ]
    return {
        "external_task": [one.external_task for one in rows],
        "task_id": [one.task_id for one in entries],
        "user_id": [one.maker_id for one in entries],
        "given_to_id": [None if one.user_id == one.maker_id else one.user_id for one in entries],
        "updated_by": [one.updated_by for one in rows],
        "made_at": [one.made_at for one in rows],
        "changed_at": [one.changed_at for one in rows],
        "cancelled": [one.cancelled for one in rows],
        "result": kept,
        "lead_time": [None if one.refusal else one.seen.lead_time for one in entries],
        "digest": [one.digest for one in entries],
        "deleted_at": [None] * len(rows),
        "missing": [""] * len(rows),
        "state": [State.NEW.value if one.task_id else State.REFUSED.value for one in entries],
        "reason": ["" if one.task_id else reasons.NOT_SENT for one in entries],
    }


def _batches(items: Iterable[_Item], size: int) -> Iterator[list[_Item]]:
    iterator = iter(items)
    while some := list(islice(iterator, size)):
        yield some
