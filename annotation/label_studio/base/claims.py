"""A user of a Label Studio says here who they are: by the personal link that a lead made for them, and by consent."""

from django.db import transaction
from django.db.models import Q
from django.utils import timezone

from accounts.models import Annotator, User
from annotation.label_studio.base import job_queue
from annotation.models import (
    Campaign,
    Enrolment,
    Invitation,
    LabelStudioAnnotation,
    LabelStudioBridge,
    LabelStudioServer,
    LabelStudioUser,
)
from studies import audit, consent
from studies.models import Study

State = LabelStudioUser.State


@transaction.atomic
def claimed(*, invitation: Invitation, annotator: Annotator) -> None:
    """Map the user whom an invitation was made for to whoever used it; nothing where it was for nobody there.

    Called where a link is used. The lead decided when they made the link; only a user who still waits is mapped.
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
    if user is None or over or taken(user.server, annotator):
        return
    put_down(user, annotator, by=invitation.created_by, how="by a personal link")
    for bridge in bridges_with(user):
        job_queue.start_settle(bridge=bridge, by=None, user=user.pk)


@transaction.atomic
def agreed(*, annotator: Annotator, study: Study) -> None:
    """Count what waited for the consent of an annotator who just gave it."""
    users = LabelStudioUser.objects.filter(annotator=annotator, server__study=study, state=State.MAPPED)
    for user in users.select_related("server__study"):
        enrol(user)
        for bridge in bridges_with(user):
            job_queue.start_settle(bridge=bridge, by=None, user=user.pk)


def taken(server: LabelStudioServer, annotator: Annotator) -> LabelStudioUser | None:
    """Return the user who is this annotator already, if there is one."""
    return LabelStudioUser.objects.filter(server=server, annotator=annotator).first()


def put_down(user: LabelStudioUser, annotator: Annotator, *, by: User | None, how: str) -> None:
    """Write down whose answers a user's are, and enrol them where they answered. Call it in a transaction."""
    user.state, user.annotator = State.MAPPED, annotator
    decided(user, by, "mapped", pseudonym=annotator.pseudonym, how=how)
    enrol(user)


def decided(user: LabelStudioUser, by: User | None, what: str, **details: object) -> None:
    """Save what was decided about a user, with its place in the study's history: numbers, no names."""
    user.decided_by, user.decided_at = by, timezone.now()
    user.save(update_fields=["state", "annotator", "decided_by", "decided_at"])
    audit.record(
        by=by,
        action=f"label_studio_user.{what}",
        subject=user,
        study=user.server.study,
        server=user.server.url,
        number=user.external_id,
        **details,
    )


def enrol(user: LabelStudioUser) -> None:
    """Let the annotator take part in the campaigns they answered there, once they agreed to the study's text."""
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
    seen = LabelStudioAnnotation.objects.filter(Q(user=user) | Q(given_to=user)).values("project__bridge")
    return list(LabelStudioBridge.objects.filter(pk__in=seen).select_related("campaign").order_by("pk"))
