"""Whoever takes back consent: what the mirror holds of them goes, and how the server names them."""

from collections.abc import Iterable

from accounts.models import Annotator
from annotation.bridge import reasons
from annotation.models import Campaign, LabelStudioAnnotation, LabelStudioUser

State = LabelStudioAnnotation.State


def forget(*, annotator: Annotator, campaigns: Iterable[Campaign]) -> None:
    """Drop what was mirrored of an annotator in these campaigns. Call it in the transaction of the withdrawal.

    The labels made of it stay stored, out of every result, as those of our own pages do; should the annotator agree
    again, those count again. What the mirror held is never made labels again.
    """
    ids = [campaign.pk for campaign in campaigns]
    servers = LabelStudioUser.objects.filter(annotator=annotator, server__bridges__campaign__in=ids)
    LabelStudioUser.objects.filter(pk__in=list(servers.values_list("pk", flat=True))).update(name="")
    LabelStudioAnnotation.objects.filter(project__bridge__campaign__in=ids, user__annotator=annotator).update(
        result=reasons.instead_of_result(reasons.WITHDRAWN),
        lead_time=None,
        state=State.CONSENT,
        allowed=False,
    )
