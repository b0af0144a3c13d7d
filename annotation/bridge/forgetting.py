"""Whoever takes back consent or is erased: what the mirror holds of them goes, and how the server names them."""

from collections.abc import Iterable

from django.db.models import QuerySet
from django.utils import timezone

from accounts.models import Annotator
from annotation.bridge import reasons
from annotation.models import Campaign, LabelStudioAnnotation, LabelStudioServer, LabelStudioUser
from studies.models import AuditEntry

State = LabelStudioAnnotation.State
_AT_ONCE = 10_000  # SQLite takes 32,766 values in a statement
ERASED = "erased"  # as it stands in the study's history, behind the name of what it happened to


def forget(*, annotator: Annotator, campaigns: Iterable[Campaign]) -> None:
    """Drop what was mirrored of an annotator in these campaigns. Call it in the transaction of the withdrawal.

    The labels made of it stay stored, out of every result, as those of our own pages do; should the annotator agree
    again, those count again, and what still stands over there is read anew.
    """
    of = list(campaigns)
    users = LabelStudioUser.objects.filter(
        annotator=annotator, server__study__in={one.study_id for one in of}
    )
    users.update(name="", forgotten_at=timezone.now())
    rows = LabelStudioAnnotation.objects.filter(project__bridge__campaign__in=of, user__annotator=annotator)
    wipe(rows, reasons.WITHDRAWN, state=State.CONSENT)


def wipe(rows: QuerySet[LabelStudioAnnotation], reason: str, *, state: str) -> None:
    """Drop what these say; what became of them is settled as `state` tells. The caller locked the enrolments."""
    locked = rows.select_for_update(of=("self",), no_key=True).order_by("pk")
    pks = list(locked.values_list("pk", flat=True))
    for start in range(0, len(pks), _AT_ONCE):
        LabelStudioAnnotation.objects.filter(pk__in=pks[start : start + _AT_ONCE]).update(
            # Without its digest the next comparison looks at it anew, and keeps it only if it may.
            digest="",
            result=reasons.instead_of_result(reason),
            lead_time=None,
            state=state,
            allowed=False,
        )


def erased_at(server: LabelStudioServer) -> set[int]:
    """Return the numbers of the users who were erased, though the server was connected anew since."""
    entries = AuditEntry.objects.filter(
        study=server.study_id, action=f"label_studio_user.{ERASED}", details__server=server.url
    )
    return {number for number in entries.values_list("details__number", flat=True) if type(number) is int}
