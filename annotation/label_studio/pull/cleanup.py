"""Deleting answers in Label Studio that do not count here, when a lead asks for it.

Label Studio counts such answers, so it asks nobody else for the missing ones. Answers that count or wait for a decision
are not deleted: each screen is checked again just before, in every project that has it. An answer is first marked as
deleted here, so that it cannot start to count meanwhile, and then deleted there.
"""

from collections.abc import Collection, Mapping
from dataclasses import dataclass

from django.db import transaction
from django.db.models import Count, F, Q, QuerySet
from django.utils import timezone

from accounts.models import User
from annotation.assignment.leases import lock_enrolments
from annotation.label_studio.base import job_queue, reasons
from annotation.label_studio.base.locks import reading_from
from annotation.label_studio.client.errors import Trouble
from annotation.label_studio.client.rest import Client
from annotation.label_studio.labels.settle import settle
from annotation.label_studio.models import LabelStudioAnnotation, LabelStudioBridge, LabelStudioTask
from annotation.label_studio.pull.fetch import look_at_some
from annotation.models import Campaign
from foundation.errors import Conflict, DomainError
from jobs.models import Job
from jobs.progress.reporter import Progress, Unwatched
from studies import audit

State, Edit = LabelStudioAnnotation.State, LabelStudioAnnotation.Edit
_LEFT_OUT = Q(state=State.REFUSED, edit=Edit.KEPT)
_OF_KIND: Mapping[str, Q] = {
    "surplus": Q(state=State.SURPLUS),
    "further": Q(state=State.FURTHER),
    "left_out": _LEFT_OUT,
    "refused": Q(state=State.REFUSED) & ~_LEFT_OUT,
}
KINDS: Mapping[str, str] = {
    "surplus": "Surplus: the screen had all its answers",
    "further": "Further: the person had already answered the screen",
    "left_out": "Left out: sent in another person’s name",
    "refused": "Refused: unreadable as an answer, or from the wrong person",
}
# Preselected kinds: refused answers may still be corrected in Label Studio.
USUAL = ("surplus", "further", "left_out")
_PATIENCE = 120.0  # seconds to wait for another job that reads from Label Studio


@dataclass(frozen=True)
class Line:
    """The number of one person's answers of a kind. `person` is their pseudonym; "" if it is not known."""

    kind: str
    person: str
    answers: int


@dataclass
class Cleaned:
    """The result of a run. `retained`: answers that count now, wait for a decision, or were changed."""

    deleted: int = 0
    retained: int = 0

    def __str__(self) -> str:
        text = (
            f"{self.deleted:,} answer{' was' if self.deleted == 1 else 's were'} deleted from Label Studio."
        )
        if self.retained:
            verb = "was" if self.retained == 1 else "were"
            text += f" {self.retained:,} {verb} kept, because their state had changed."
        return text


def lines_of(bridge: LabelStudioBridge) -> list[Line]:
    """Return the answers that could be deleted, by kind and person."""
    lines = []
    for kind in KINDS:
        rows = _deletable(bridge, [kind]).values(person=F("user__annotator__pseudonym"))
        counted = rows.annotate(answers=Count("pk")).order_by("person")
        lines += [
            Line(kind, person or "", answers) for person, answers in counted.values_list("person", "answers")
        ]
    return lines


def start(*, bridge: LabelStudioBridge, kinds: Collection[str], by: User | None) -> Job:
    """Queue the deletion of the existing answers of these kinds; later answers are not deleted."""
    chosen = sorted(set(kinds))
    if not chosen or not set(chosen) <= KINDS.keys():
        raise DomainError(
            "kinds_bad", "Choose what to delete.", fields={"kinds": "Choose at least one kind of answer."}
        )
    rows = _deletable(bridge, chosen)
    last_id = rows.order_by("-pk").values_list("pk", flat=True).first()
    if last_id is None:
        raise Conflict("nothing_to_delete", "Label Studio has no answers of the kinds that you chose.")
    with transaction.atomic():
        job = job_queue.start(job_queue.CLEANUP, bridge, by=by, kinds=",".join(chosen), last=last_id)
        _record(bridge, by, "cleanup_asked", answers=rows.count(), kinds=", ".join(chosen))
    return job


def clean_up(
    *,
    bridge: LabelStudioBridge,
    kinds: Collection[str],
    last_id: int,
    by: User | None,
    progress: Progress | None = None,
) -> Cleaned:
    """Delete answers in Label Studio that do not count, up to the row `last_id` of the mirror.

    It can be killed at any point: answers that are marked as deleted but still exist are checked again.
    """
    progress, cleaned = progress or Unwatched(), Cleaned()
    _unmark(bridge)
    rows = _deletable(bridge, kinds).filter(pk__lte=last_id)
    tasks = list(rows.order_by("task").values_list("task", flat=True).distinct())
    progress.start(len(tasks))
    try:
        with Client.of(bridge.server) as client:
            for task in tasks:
                progress.check_cancelled()
                with reading_from(bridge, seconds=_PATIENCE, progress=progress) as has_lock:
                    if not has_lock:
                        raise Conflict(
                            "label_studio_busy",
                            "Another job is still reading from Label Studio. Try again later.",
                        )
                    _clean_task(client, bridge, task or 0, rows, cleaned)
                progress.advance(message="screens looked at")
    finally:
        if cleaned.deleted:
            _record(bridge, by, "cleaned", answers=cleaned.deleted, kinds=", ".join(sorted(kinds)))
    if cleaned.deleted and bridge.campaign.state in (Campaign.State.OPEN, Campaign.State.PAUSED):
        # Label Studio now asks again about screens with fewer answers: remove the screens that need no answers.
        job_queue.start_push(bridge=bridge, by=by)
    return cleaned


def _deletable(bridge: LabelStudioBridge, kinds: Collection[str]) -> QuerySet[LabelStudioAnnotation]:
    of_kind = Q(pk__in=[])
    for kind in kinds:
        of_kind |= _OF_KIND[kind]
    rows = LabelStudioAnnotation.objects.filter(
        of_kind,
        project__bridge=bridge,
        project__gone_at=None,
        task__isnull=False,
        external_id__gt=0,
        deleted_at=None,
        missing="",
    )
    return rows.exclude(edit=Edit.OPEN)


def _clean_task(
    client: Client,
    bridge: LabelStudioBridge,
    task: int,
    rows: QuerySet[LabelStudioAnnotation],
    cleaned: Cleaned,
) -> None:
    before = rows.filter(task=task).count()
    sent = LabelStudioTask.objects.filter(project__bridge=bridge, project__gone_at=None, task=task)
    for sent_row in sent.select_related("project__bridge__campaign__study"):
        look_at_some(client, sent_row.project, [sent_row.external_id], Unwatched())
    settle(bridge=bridge, task_ids=[task])
    deleted = 0
    for pk in rows.filter(task=task).order_by("pk").values_list("pk", flat=True):
        deleted += _delete(client, bridge, rows.filter(pk=pk))
    settle(bridge=bridge, task_ids=[task])
    cleaned.deleted += deleted
    cleaned.retained += max(0, before - deleted)


def _delete(client: Client, bridge: LabelStudioBridge, row: QuerySet[LabelStudioAnnotation]) -> bool:
    """Delete one answer there; return False if it now counts."""
    with transaction.atomic():
        lock_enrolments(bridge.campaign_id)
        locked_row = row.select_for_update(of=("self",), no_key=True).first()
        if locked_row is None:
            return False
        locked_row.deleted_at, locked_row.state, locked_row.reason = (
            timezone.now(),
            State.DELETED,
            reasons.BEING_DELETED,
        )
        locked_row.save(update_fields=["deleted_at", "state", "reason"])
    try:
        client.delete_annotation(locked_row.external_id)
    except Trouble as trouble:
        if trouble.code != "gone":
            _unmark(bridge)
            raise
    return True


def _unmark(bridge: LabelStudioBridge) -> None:
    """Check again the answers that are marked as deleted here but may still exist there."""
    with transaction.atomic():
        lock_enrolments(bridge.campaign_id)
        marked = LabelStudioAnnotation.objects.filter(
            project__bridge=bridge, state=State.DELETED, reason=reasons.BEING_DELETED
        )
        locked = marked.select_for_update(of=("self",), no_key=True).order_by("pk")
        pks, tasks = [], set()
        for pk, task in locked.values_list("pk", "task"):
            pks.append(pk)
            tasks.add(task or 0)
        LabelStudioAnnotation.objects.filter(pk__in=pks).update(deleted_at=None, state=State.NEW, reason="")
    settle(bridge=bridge, task_ids=tasks - {0})


def _record(bridge: LabelStudioBridge, by: User | None, action: str, **details: object) -> None:
    audit.record(
        by=by,
        action=f"label_studio.{action}",
        subject=bridge.campaign,
        study=bridge.campaign.study,
        server=bridge.server.url,
        **details,
    )
