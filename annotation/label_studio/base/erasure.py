"""Deletes the mirrored answers and the names of people who withdraw consent or are erased."""

from collections.abc import Iterable

from django.db.models import QuerySet
from django.utils import timezone

from accounts.models import Annotator
from annotation.label_studio.base import reasons
from annotation.label_studio.models import (
    LabelStudioAnnotation,
    LabelStudioServer,
    LabelStudioUser,
    LabelStudioVersion,
)
from annotation.models import Campaign
from studies.models import AuditEntry

State = LabelStudioAnnotation.State
_AT_ONCE = 10_000  # SQLite takes 32,766 values in a statement
ERASED = "erased"  # as written in the study's history, after the name of the object


def forget(*, annotator: Annotator, campaigns: Iterable[Campaign]) -> None:
    """Delete an annotator's mirrored answers in these campaigns. Call it in the transaction of the withdrawal.

    The labels made from them stay stored but are left out of every result, like labels from our own pages. If the
    annotator agrees again, these labels count again, and the answers that are still in Label Studio are read again.
    """
    of = list(campaigns)
    users = LabelStudioUser.objects.filter(
        annotator=annotator, server__study__in={campaign.study_id for campaign in of}
    )
    users.update(name="", forgotten_at=timezone.now())
    rows = LabelStudioAnnotation.objects.filter(project__bridge__campaign__in=of, user__annotator=annotator)
    wipe(rows, reasons.WITHDRAWN, state=State.CONSENT)
    forget_given(users, reasons.WITHDRAWN, campaigns=of)


def forget_given(
    users: Iterable[LabelStudioUser], reason: str, *, campaigns: Iterable[Campaign] | None = None
) -> None:
    """Delete the versions of other people's annotations that name these users; the authors' own versions stay."""
    user_ids = [user.pk for user in users]
    versions = LabelStudioVersion.objects.filter(user__in=user_ids)
    rows = LabelStudioAnnotation.objects.filter(given_to__in=user_ids)
    if campaigns is not None:
        of = list(campaigns)
        versions = versions.filter(mirrored__project__bridge__campaign__in=of)
        rows = rows.filter(project__bridge__campaign__in=of)
    wipe(rows, reason, state=State.NEW, earlier=False)
    versions.exclude(mirrored__user__in=user_ids).delete()


def wipe(rows: QuerySet[LabelStudioAnnotation], reason: str, *, state: str, earlier: bool = True) -> None:
    """Delete the contents of these rows, and of their `earlier` versions, and set their state to `state`. The caller
    has locked the enrolments.
    """
    locked = rows.select_for_update(of=("self",), no_key=True).order_by("pk")
    pks = list(locked.values_list("pk", flat=True))
    for start in range(0, len(pks), _AT_ONCE):
        batch = pks[start : start + _AT_ONCE]
        if earlier:
            LabelStudioVersion.objects.filter(mirrored__in=batch).delete()
        LabelStudioAnnotation.objects.filter(pk__in=batch).update(
            # Without a digest, the next comparison reads the row again, and stores its content only if that is allowed.
            digest="",
            result=reasons.instead_of_result(reason),
            lead_time=None,
            state=state,
            chosen="",
            chosen_against="",
            edit="",
        )


def erased_at(server: LabelStudioServer) -> set[int]:
    """Return the numbers of erased users, including those erased before the server was last disconnected."""
    entries = AuditEntry.objects.filter(
        study=server.study_id, action=f"label_studio_user.{ERASED}", details__server=server.url
    )
    return {number for number in entries.values_list("details__number", flat=True) if type(number) is int}
