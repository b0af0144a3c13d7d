"""A lead's decisions about versions: keep the author's version, accept a change, restore an earlier version.

They concern our labels only: nothing is written to Label Studio. Each can be undone. A decision applies to the version
that was there when it was made; later versions from the author count, and later versions from anybody else are flagged
again.
"""

from collections.abc import Callable

from django.db import transaction

from accounts.models import User
from annotation.assignment.leases import lock_enrolments
from annotation.label_studio.labels import versions
from annotation.label_studio.labels.settle import settle
from annotation.label_studio.labels.versions import NOTHING, Version, is_own
from annotation.label_studio.models import LabelStudioAnnotation
from foundation.errors import Conflict, NotFound
from studies import audit

State = LabelStudioAnnotation.State
_Chosen = Callable[[LabelStudioAnnotation, list[Version]], str]


def keep(*, mirrored: LabelStudioAnnotation, by: User | None, seen: str = "") -> LabelStudioAnnotation:
    """Keep the version that counted before somebody else changed it; without a version from the author, leave the
    answer out.

    `seen` is the digest of the version that the decision is about: Conflict if there is another version now.
    """

    def choose(row: LabelStudioAnnotation, earlier: list[Version]) -> str:
        _refuse_own(row)
        version = versions.undecided(row, earlier, row.user)
        return NOTHING if version is None else version.digest

    return _decide(mirrored, by, "kept", choose, seen)


def take(*, mirrored: LabelStudioAnnotation, by: User | None, seen: str = "") -> LabelStudioAnnotation:
    """Count the current version although somebody else sent or changed it."""

    def choose(row: LabelStudioAnnotation, _earlier: list[Version]) -> str:
        _refuse_own(row)
        return row.digest

    return _decide(mirrored, by, "taken", choose, seen)


def restore(
    *, mirrored: LabelStudioAnnotation, version: str, by: User | None, seen: str = ""
) -> LabelStudioAnnotation:
    """Make an earlier version, named by its digest, the one that counts."""

    def choose(row: LabelStudioAnnotation, earlier: list[Version]) -> str:
        if version not in {row.digest, *(earlier_version.digest for earlier_version in earlier)}:
            raise NotFound("version_not_found", "This answer does not have the version you chose.")
        return version

    return _decide(mirrored, by, "restored", choose, seen)


def undo(*, mirrored: LabelStudioAnnotation, by: User | None) -> LabelStudioAnnotation:
    """Undo a decision: the author's last version counts, and other people's changes are flagged again."""
    if not mirrored.chosen:
        return mirrored
    return _decide(mirrored, by, "undecided", lambda _row, _earlier: "")


def _decide(
    mirrored: LabelStudioAnnotation, by: User | None, decision: str, choose: _Chosen, seen: str = ""
) -> LabelStudioAnnotation:
    bridge = mirrored.project.bridge
    with transaction.atomic():
        lock_enrolments(bridge.campaign_id)
        rows = LabelStudioAnnotation.objects.select_for_update(of=("self",), no_key=True)
        row = rows.select_related("user").get(pk=mirrored.pk)
        _refuse_gone(row)
        if seen not in ("", row.digest):
            raise Conflict(
                "answer_changed",
                f"No. {row.external_id} was changed in Label Studio since you opened this page; check it again.",
            )
        chosen = choose(row, versions.history_of([row.pk])[row.pk])
        row.chosen, row.chosen_against = chosen, row.digest if chosen else ""
        row.state = State.NEW
        row.save(update_fields=["chosen", "chosen_against", "state"])
        audit.record(
            by=by,
            action=f"label_studio_annotation.{decision}",
            subject=row,
            study=bridge.campaign.study,
            campaign=bridge.campaign.name,
            number=row.external_id,
            version=chosen,
        )
    if row.task_id is not None:
        settle(bridge=bridge, task_ids=[row.task_id])
    mirrored.refresh_from_db()
    return mirrored


def _refuse_gone(row: LabelStudioAnnotation) -> None:
    if row.deleted_at is not None:
        raise Conflict("answer_gone", f"No. {row.external_id} was deleted in Label Studio.")
    if not row.digest:
        raise Conflict(
            "answer_forgotten",
            f"The content of No. {row.external_id} was deleted from Stereoscope, so there is nothing to choose.",
        )


def _refuse_own(row: LabelStudioAnnotation) -> None:
    if is_own(Version.of(row), row.user):
        raise Conflict(
            "not_changed", f"No. {row.external_id} was last sent by its author: nobody else changed it."
        )
