"""Storing the annotations in Label Studio unchanged (`LabelStudioAnnotation`); no labels are made here.

Everything that a server sends is stored, or its content is refused with a reason, so that no annotation prevents the
others from being read. For a known version only the digest is compared.
"""

import logging
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from itertools import islice
from typing import Any, NamedTuple, TypeVar

from django.db import IntegrityError, transaction
from django.db.models import Min, Q
from django.utils import timezone

from annotation.assignment.leases import lock_enrolments
from annotation.label_studio.base import reasons
from annotation.label_studio.base.erasure import erased_at
from annotation.label_studio.labels import versions
from annotation.label_studio.models import (
    LabelStudioAnnotation,
    LabelStudioProject,
    LabelStudioTask,
    LabelStudioUser,
    LabelStudioVersion,
)
from annotation.label_studio.pull.parse import NO_MOMENT, ParsedAnnotation, parse_annotation
from foundation.database.bulk import insert, update
from studies.consent import withdrawn_from

logger = logging.getLogger(__name__)
State, Missing = LabelStudioAnnotation.State, LabelStudioAnnotation.Missing
_AT_ONCE = 1_000
_MORE = ("made_at", "task_id", "user_id", "changed_at")
_Item = TypeVar("_Item")


class _Known(NamedTuple):
    """The mirror's data of an annotation."""

    external_id: int
    pk: int
    digest: str
    lost: bool  # treated as deleted, or missing
    deleted: bool
    made_at: datetime
    task_id: int | None
    user_id: int | None
    changed_at: datetime

    def was_another(self, annotation: ParsedAnnotation) -> bool:
        """Whether the number belonged to another annotation: a restored server assigns numbers again."""
        return self.made_at != annotation.made_at and NO_MOMENT not in (self.made_at, annotation.made_at)


class _Entry(NamedTuple):
    """An annotation to be written: with our keys, and the reason if its content is not stored."""

    parsed: ParsedAnnotation
    before: _Known | None
    task_id: int | None
    user_id: int | None  # the author named now
    maker_id: int | None
    refusal: str

    @property
    def pk(self) -> int:
        return 0 if self.before is None else self.before.pk

    @property
    def digest(self) -> str:
        """Return the digest to store. It differs if the content is not stored, so that it is read again when it may be
        stored."""
        return f"-{self.parsed.digest[1:]}" if self.refusal else self.parsed.digest


def mirror(*, project: LabelStudioProject, annotations: Iterable[Mapping[str, Any]]) -> set[int]:
    """Store annotations of a project as Label Studio sends them; return the tasks that they change.

    An annotation that reappears after its deletion is no longer deleted. New users wait for the lead.
    """
    touched: set[int] = set()
    for batch in _batches(annotations, _AT_ONCE):
        by_number = {
            parsed.external_id: parsed for parsed in map(parse_annotation, batch) if parsed is not None
        }
        if strange := len(batch) - len(by_number):
            logger.warning(
                "%d annotations of %s have no number of their own and were left out", strange, project
            )
        try:
            touched |= _write(project, by_number)
        except IntegrityError:
            # Another process wrote one of them at the same moment: it is known now.
            touched |= _write(project, by_number)
    return touched


@transaction.atomic
def _write(project: LabelStudioProject, parsed: Mapping[int, ParsedAnnotation]) -> set[int]:
    if not parsed:
        return set()
    lock_enrolments(project.bridge.campaign_id)
    tasks = _tasks(project, {annotation.external_task for annotation in parsed.values()})
    stored = _set_apart(parsed, _known(project, list(parsed)))
    users = _users(project, parsed.values())
    silent = _silent(project, {*users.values(), *(row.user_id for row in stored.values())})
    fresh, changed, touched = list[_Entry](), list[_Entry](), set[int]()
    for annotation in parsed.values():
        before = stored.get(annotation.external_id)
        entry = _entry(annotation, before, tasks, users, silent)
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
            "external_id": [entry.parsed.external_id for entry in fresh],
            "chosen": [""] * len(fresh),
            "chosen_against": [""] * len(fresh),
            "edit": [""] * len(fresh),
        }
        insert(LabelStudioAnnotation, columns)
    if changed:
        _keep_versions(changed)
        update(LabelStudioAnnotation, [entry.pk for entry in changed], _columns(_with_makers(changed)))
    return touched - {0}


def _entry(
    annotation: ParsedAnnotation,
    before: _Known | None,
    tasks: Mapping[int, int],
    users: Mapping[int, int],
    silent: Mapping[int, str],
) -> _Entry:
    user = None if annotation.user is None else users[annotation.user]
    maker = before.user_id if before is not None else user
    return _Entry(
        parsed=annotation,
        before=before,
        task_id=tasks.get(annotation.external_task),
        user_id=user,
        maker_id=user if maker is None else maker,
        refusal=silent.get(user or 0) or silent.get(maker or 0) or "",
    )


def _keep_versions(changed: Sequence[_Entry]) -> None:
    """Store the present contents of these rows: an earlier version than the current one may count."""
    replaced = [
        entry.pk for entry in changed if entry.before is not None and entry.before.digest != entry.digest
    ]
    if replaced:
        versions.keep(list(LabelStudioAnnotation.objects.filter(pk__in=replaced)))


def _with_makers(changed: Sequence[_Entry]) -> list[_Entry]:
    """Return these with the author named in the earliest version of each, whatever the order of reading."""
    moved = [entry for entry in changed if entry.user_id not in (None, entry.maker_id)]
    if not moved:
        return list(changed)
    rows = LabelStudioVersion.objects.filter(mirrored__in=[entry.pk for entry in moved]).order_by()
    earliest = dict(rows.values("mirrored").annotate(at=Min("changed_at")).values_list("mirrored", "at"))
    earlier = {
        entry.pk
        for entry in moved
        if entry.before is not None
        and entry.parsed.changed_at
        < min(entry.before.changed_at, earliest.get(entry.pk, entry.before.changed_at))
    }
    return [entry._replace(maker_id=entry.user_id) if entry.pk in earlier else entry for entry in changed]


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


def _set_apart(parsed: Mapping[int, ParsedAnnotation], stored: Mapping[int, _Known]) -> dict[int, _Known]:
    """Set aside known annotations whose numbers now belong to other annotations; return the rest.

    Annotations that were not deleted are held: a server that assigns a number twice has lost data.
    """
    reused = [
        stored_row for stored_row in stored.values() if stored_row.was_another(parsed[stored_row.external_id])
    ]
    for stored_row in reused:
        row = LabelStudioAnnotation.objects.filter(pk=stored_row.pk)
        row.update(external_id=-stored_row.pk)
        if not stored_row.deleted:
            row.filter(missing="").update(missing=Missing.HELD)
    apart = {stored_row.pk for stored_row in reused}
    return {number: stored_row for number, stored_row in stored.items() if stored_row.pk not in apart}


def _tasks(project: LabelStudioProject, numbers: Collection[int]) -> dict[int, int]:
    rows = LabelStudioTask.objects.filter(project=project, external_id__in=numbers)
    return dict(rows.values_list("external_id", "task_id"))


def _users(project: LabelStudioProject, rows: Iterable[ParsedAnnotation]) -> dict[int, int]:
    """Return our keys of the authors of these annotations, creating new users."""
    names = {row.user: row.name for row in rows if row.user is not None}
    server = project.bridge.server_id
    users = LabelStudioUser.objects.filter(server=server, external_id__in=names)
    keys_by_number = dict(users.values_list("external_id", "pk"))
    new = [
        LabelStudioUser(server_id=server, external_id=number, name=name)
        for number, name in sorted(names.items())
        if number not in keys_by_number
    ]
    if not new:
        return keys_by_number
    erased = erased_at(project.bridge.server)
    for user in new:
        if user.external_id in erased:
            user.name, user.state, user.forgotten_at = "", LabelStudioUser.State.IGNORED, timezone.now()
    LabelStudioUser.objects.bulk_create(new, ignore_conflicts=True)
    return dict(users.all().values_list("external_id", "pk"))


def _silent(project: LabelStudioProject, users: Collection[int | None]) -> dict[int, str]:
    """Return the users whose answers are not stored, with the reason: they withdrew consent, or were erased."""
    withdrawn = withdrawn_from(project.bridge.campaign.study)
    forgotten_users = LabelStudioUser.objects.filter(
        Q(annotator__in=withdrawn) | Q(annotator=None, forgotten_at__isnull=False),
        pk__in=[number for number in users if number is not None],
    )
    erased = LabelStudioUser.State.IGNORED
    return {
        pk: reasons.ERASED if state == erased else reasons.WITHDRAWN
        for pk, state in forgotten_users.values_list("pk", "state")
    }


def _columns(entries: Sequence[_Entry]) -> dict[str, list[Any]]:
    rows = [entry.parsed for entry in entries]
    results: list[Any] = [
        reasons.instead_of_result(entry.refusal) if entry.refusal else entry.parsed.result
        for entry in entries
    ]
    return {
        "external_task": [entry.external_task for entry in rows],
        "task_id": [entry.task_id for entry in entries],
        "user_id": [entry.maker_id for entry in entries],
        "given_to_id": [None if entry.user_id == entry.maker_id else entry.user_id for entry in entries],
        "updated_by": [entry.updated_by for entry in rows],
        "made_at": [entry.made_at for entry in rows],
        "changed_at": [entry.changed_at for entry in rows],
        "cancelled": [entry.cancelled for entry in rows],
        "result": results,
        "lead_time": [None if entry.refusal else entry.parsed.lead_time for entry in entries],
        "digest": [entry.digest for entry in entries],
        "deleted_at": [None] * len(rows),
        "missing": [""] * len(rows),
        "state": [State.NEW.value if entry.task_id else State.REFUSED.value for entry in entries],
        "reason": ["" if entry.task_id else reasons.NOT_SENT for entry in entries],
    }


def _batches(items: Iterable[_Item], size: int) -> Iterator[list[_Item]]:
    iterator = iter(items)
    while batch := list(islice(iterator, size)):
        yield batch
