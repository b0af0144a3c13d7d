"""How Label Studio users identify themselves: by a personal link that a lead made for them, and by consenting."""

from django.db import transaction
from django.db.models import Q
from django.utils import timezone

from accounts.models import Annotator, User
from annotation.label_studio.base import job_queue
from annotation.label_studio.models import (
    LabelStudioAnnotation,
    LabelStudioBridge,
    LabelStudioServer,
    LabelStudioUser,
)
from annotation.models import Campaign, Enrolment, Invitation
from studies import audit, consent
from studies.models import Study

State = LabelStudioUser.State


@transaction.atomic
def map_invited_user(*, invitation: Invitation, annotator: Annotator) -> None:
    """Map the Label Studio user for whom an invitation was made to the annotator who used its link.

    Only a waiting user is mapped; other invitations change nothing.
    """
    user = (
        LabelStudioUser.objects.select_for_update(of=("self",))
        .select_related("server__study")
        .filter(invitation=invitation, state=State.WAITING)
        .first()
    )
    now = timezone.now()
    over = invitation.revoked_at is not None or (
        invitation.expires_at is not None and invitation.expires_at <= now
    )
    if user is None or over or user_of(user.server, annotator):
        return
    put_down(user, annotator, by=invitation.created_by, how="by a personal link")
    for bridge in bridges_with(user):
        job_queue.start_settle(bridge=bridge, by=None, user=user.pk)


@transaction.atomic
def agreed(*, annotator: Annotator, study: Study) -> None:
    """Count the answers that waited for the annotator's consent, which was just given."""
    users = LabelStudioUser.objects.filter(annotator=annotator, server__study=study, state=State.MAPPED)
    for user in users.select_related("server__study"):
        enrol(user)
        for bridge in bridges_with(user):
            job_queue.start_settle(bridge=bridge, by=None, user=user.pk)


def user_of(server: LabelStudioServer, annotator: Annotator) -> LabelStudioUser | None:
    """Return the server's user who is mapped to the annotator, or None."""
    return LabelStudioUser.objects.filter(server=server, annotator=annotator).first()


def put_down(user: LabelStudioUser, annotator: Annotator, *, by: User | None, how: str) -> None:
    """Store to whom a user's answers belong, and enrol the annotator where they answered. Call it in a transaction."""
    user.state, user.annotator = State.MAPPED, annotator
    record_decision(user, by, "mapped", pseudonym=annotator.pseudonym, how=how)
    enrol(user)


def record_decision(user: LabelStudioUser, by: User | None, action: str, **details: object) -> None:
    """Save a decision about a user and record it in the study's history, with numbers instead of names."""
    user.decided_by, user.decided_at = by, timezone.now()
    user.save(update_fields=["state", "annotator", "decided_by", "decided_at"])
    audit.record(
        by=by,
        action=f"label_studio_user.{action}",
        subject=user,
        study=user.server.study,
        server=user.server.url,
        number=user.external_id,
        **details,
    )


def enrol(user: LabelStudioUser) -> None:
    """Enrol the annotator in the campaigns that they answered in Label Studio, if they agreed to the study's text."""
    annotator, study = user.annotator, user.server.study
    if annotator is None or not consent.has_consented(annotator, study):
        return
    answered = Campaign.objects.filter(label_studio__in=bridges_with(user), imported=False).exclude(
        state=Campaign.State.CLOSED
    )
    for campaign in answered.exclude(enrolments__annotator=annotator):
        Enrolment.objects.get_or_create(campaign=campaign, annotator=annotator)


def bridges_with(user: LabelStudioUser) -> list[LabelStudioBridge]:
    """Return the bridges in whose projects the user answered."""
    bridge_ids = LabelStudioAnnotation.objects.filter(Q(user=user) | Q(given_to=user)).values(
        "project__bridge"
    )
    return list(LabelStudioBridge.objects.filter(pk__in=bridge_ids).select_related("campaign").order_by("pk"))
