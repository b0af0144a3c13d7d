"""Which campaigns a person may see, change or label. What they may not see raises NotFound."""

from uuid import UUID

from django.contrib.auth.models import AnonymousUser
from django.db.models import QuerySet

from accounts.models import User
from annotation.models import Assignment, Campaign, Enrolment
from foundation.errors import Forbidden, NotFound
from studies.access import holds, studies_visible_to


def campaigns_visible_to(user: User | AnonymousUser) -> QuerySet[Campaign]:
    """Return the campaigns of the studies that `user` is a member of."""
    return Campaign.objects.filter(study__in=studies_visible_to(user)).select_related("study")


def campaign_for(user: User | AnonymousUser, pk: int, *, role: str | None = None) -> Campaign:
    """Return the campaign if `user` may see it and holds `role`, if given, in its study."""
    campaign = campaigns_visible_to(user).filter(pk=pk).first()
    if campaign is None:
        raise NotFound(
            "campaign_not_found", "There is no such campaign, or you are not a member of its study."
        )
    if role is not None and not holds(user, campaign.study, role):
        raise Forbidden("not_in_role", f"Only a {role} of this study may do this.")
    return campaign


def own_enrolment(user: User | AnonymousUser, campaign_pk: int) -> Enrolment:
    """Return the person's own enrolment in a campaign."""
    enrolment = (
        Enrolment.objects.select_related("campaign__study__consent_text", "annotator__user")
        .filter(campaign=campaign_pk, annotator__user=user.pk)
        .first()
    )
    if enrolment is None:
        raise NotFound("campaign_not_found", "You do not take part in such a campaign.")
    return enrolment


def own_assignment(user: User | AnonymousUser, public_id: UUID) -> Assignment:
    """Return the person's own assignment; raises NotFound for any other."""
    assignment = (
        Assignment.objects.select_related("task__campaign", "annotator__user")
        .filter(public_id=public_id, annotator__user=user.pk)
        .first()
    )
    if assignment is None:
        raise NotFound("assignment_not_found", "There is no such task of yours.")
    return assignment
