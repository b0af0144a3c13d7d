"""Which annotator each Label Studio user is: a lead decides, nothing is guessed."""

from collections.abc import Iterable

from django.db import transaction
from django.db.models import Q, QuerySet
from django.utils import timezone

from accounts.models import Annotator, User
from annotation.label_studio.base import job_queue, reasons
from annotation.label_studio.base.claims import bridges_with, put_down, record_decision, user_of
from annotation.label_studio.base.erasure import ERASED, forget_given, wipe
from annotation.label_studio.base.invalidate import resettle_user
from annotation.label_studio.labels.settle import settle
from annotation.label_studio.models import LabelStudioAnnotation, LabelStudioBridge, LabelStudioUser
from annotation.models import Campaign, Enrolment, Invitation
from annotation.people import invitations
from foundation.errors import Conflict, NotFound
from studies.models import Study

State, Mirrored = LabelStudioUser.State, LabelStudioAnnotation.State
# A larger number is counted by a job.
MOST_AT_ONCE = 200


def confirm(*, user: LabelStudioUser, annotator: Annotator, by: User | None) -> LabelStudioUser:
    """Match a user with an annotator of the study. Their answers count when they have agreed to the study's text."""
    with transaction.atomic():
        user = _locked(user)
        _refuse_decided(user)
        if not _known(user.server.study).filter(pk=annotator.pk).exists():
            raise NotFound(
                "annotator_not_found", "No annotator with this pseudonym takes part in this study."
            )
        if (mapped := user_of(user.server, annotator)) is not None:
            raise Conflict(
                "annotator_taken",
                f"User {mapped.external_id} of this Label Studio is already matched with "
                f"{annotator.pseudonym}. Undo that decision first.",
            )
        _end_invitation(user)
        put_down(user, annotator, by=by, how="by the lead")
        resettle_user(user)
    _count(user, by)
    return user


@transaction.atomic
def invite(*, user: LabelStudioUser, campaign: Campaign, by: User | None) -> tuple[Invitation, str]:
    """Make a personal link by which a user agrees and identifies themselves; an earlier link stops working.

    The person who uses the link is the user: nobody has to confirm it.
    """
    user = _locked(user)
    _refuse_decided(user)
    if not LabelStudioBridge.objects.filter(campaign=campaign, server=user.server).exists():
        raise Conflict("not_bridged", "This campaign is not labelled in that Label Studio.")
    _end_invitation(user)
    invitation, token = invitations.invite(
        campaign=campaign, by=by, label=f"Label Studio user {user.external_id}"
    )
    user.invitation = invitation
    user.save(update_fields=["invitation"])
    return invitation, token


def ignore(*, user: LabelStudioUser, by: User | None) -> LabelStudioUser:
    """Leave out a user's answers, existing and future ones."""
    with transaction.atomic():
        user = _locked(user)
        _refuse_decided(user)
        _end_invitation(user)
        user.state = State.IGNORED
        record_decision(user, by, "ignored")
        resettle_user(user)
    _count(user, by)
    return user


def undo(*, user: LabelStudioUser, by: User | None) -> LabelStudioUser:
    """Undo the decision about a user: their answers wait again and do not count."""
    with transaction.atomic():
        user = _locked(user)
        if user.state == State.WAITING:
            return user
        was = {"pseudonym": user.annotator.pseudonym} if user.annotator is not None else {}
        if user.state == State.IGNORED and user.forgotten_at is not None:
            raise Conflict("user_erased", "This user was erased, which cannot be undone.")
        user.state, user.annotator = State.WAITING, None
        record_decision(user, by, "undone", **was)
        resettle_user(user)
    _count(user, by)
    return user


def erase(*, user: LabelStudioUser, by: User | None) -> LabelStudioUser:
    """Forget a user's name, and leave their answers out from now on. Counted answers stay stored, out of results.

    The user's data in Label Studio must be deleted there; it is not read again.
    """
    with transaction.atomic():
        user = _locked(user)
        _end_invitation(user)
        user.state, user.annotator, user.name = State.IGNORED, None, ""
        user.forgotten_at = timezone.now()
        user.save(update_fields=["name", "forgotten_at"])
        record_decision(user, by, ERASED)
        wipe(LabelStudioAnnotation.objects.filter(user=user), reasons.ERASED, state=Mirrored.NEW)
        forget_given([user], reasons.ERASED)
    _count(user, by)
    return user


def tasks_of(bridge: LabelStudioBridge, users: Iterable[int] | None = None) -> set[int]:
    """Return the tasks of a bridge with answers in Label Studio, optionally only of these users."""
    rows = LabelStudioAnnotation.objects.filter(project__bridge=bridge, task__isnull=False)
    if users is not None:
        users = list(users)
        rows = rows.filter(Q(user__in=users) | Q(given_to__in=users))
    return set(rows.values_list("task_id", flat=True).distinct())


def _count(user: LabelStudioUser, by: User | None) -> None:
    for bridge in bridges_with(user):
        tasks = tasks_of(bridge, [user.pk])
        if len(tasks) > MOST_AT_ONCE:
            job_queue.start_settle(bridge=bridge, by=by, user=user.pk)
        else:
            settle(bridge=bridge, task_ids=tasks)


def _locked(user: LabelStudioUser) -> LabelStudioUser:
    # Lock the user's link first, in the same order as when somebody uses it.
    links = Invitation.objects.filter(label_studio_user=user.pk).values_list("pk", flat=True)
    list(Invitation.objects.select_for_update().filter(pk__in=list(links)))
    # Then lock the enrolments of all campaigns on the server, as mirroring does before it writes answers and users.
    enrolments = Enrolment.objects.filter(campaign__label_studio__server=user.server_id).order_by("pk")
    list(enrolments.select_for_update(of=("self",)).values_list("pk", flat=True))
    users = LabelStudioUser.objects.select_for_update(of=("self",)).select_related(
        "server__study", "annotator"
    )
    return users.get(pk=user.pk)


def _known(study: Study) -> QuerySet[Annotator]:
    return Annotator.objects.filter(
        pk__in=Enrolment.objects.filter(campaign__study=study).values("annotator")
    )


def _refuse_decided(user: LabelStudioUser) -> None:
    if user.state != State.WAITING:
        raise Conflict(
            "already_decided", "There is already a decision about this user. Undo that decision first."
        )


def _end_invitation(user: LabelStudioUser) -> None:
    """Revoke a link that was sent to a user, unless somebody has used it: then it is their way to sign in."""
    if user.invitation_id is not None:
        Invitation.objects.filter(pk=user.invitation_id, annotator=None, revoked_at=None).update(
            revoked_at=timezone.now()
        )
