"""Which campaigns a person may see, change or label. A campaign that they may not see raises NotFound."""

from uuid import UUID

from django.contrib.auth.models import AnonymousUser

from accounts.models import User
from annotation.models import Assignment, Campaign, Enrolment
from foundation.errors import NotFound
from studies.access import AnyRequest, require, studies_visible_to


def campaign_for(request: AnyRequest, pk: int) -> Campaign:
    """Return the campaign if the person has the right in its study that the address requires."""
    visible = Campaign.objects.filter(study__in=studies_visible_to(request.user)).select_related("study")
    campaign = visible.filter(pk=pk).first()
    if campaign is None:
        raise NotFound(
            "campaign_not_found", "There is no such campaign, or you are not a member of its study."
        )
    require(request, campaign.study)
    return campaign


def own_enrolment(user: User | AnonymousUser, campaign_pk: int) -> Enrolment:
    """Return the person's own enrolment in a campaign."""
    enrolment = (
        Enrolment.objects.select_related("campaign__study__consent_text", "annotator__user")
        .filter(campaign=campaign_pk, annotator__user=user.pk)
        .first()
    )
    if enrolment is None:
        raise NotFound("campaign_not_found", "There is no such campaign, or you do not take part in it.")
    return enrolment


def own_assignment(user: User | AnonymousUser, public_id: UUID) -> Assignment:
    """Return the person's own assignment; raises NotFound for any other."""
    assignment = (
        Assignment.objects.select_related("task__campaign", "annotator__user")
        .filter(public_id=public_id, annotator__user=user.pk)
        .first()
    )
    if assignment is None:
        raise NotFound("assignment_not_found", "This task is not yours.")
    return assignment
