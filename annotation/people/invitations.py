"""Invitation links to a campaign. One person is one annotator: using a link again resumes their work.

A personal link belongs to the annotator who first used it, and signs them in from any browser. A batch link admits
up to `limit` people; each may keep a personal return link. Only a token's SHA-256 is stored.
"""

import secrets
import uuid
from collections.abc import Sequence
from datetime import datetime

from django.db import transaction
from django.db.models import QuerySet
from django.utils import timezone

from accounts.models import Annotator, User
from accounts.tokens import hash_key
from annotation import integrations
from annotation.models import Campaign, Enrolment, Invitation
from annotation.people import addresses
from annotation.people.doubles import prints
from foundation.errors import Conflict, DomainError, Forbidden, NotFound
from studies import audit

MAX_LIMIT = 10_000
MOST_AT_ONCE = 500  # personal links, which are shown once, on one page
_RETURN_LABEL = "return link"


@transaction.atomic
def invite(
    *,
    campaign: Campaign,
    by: User | None,
    label: str = "",
    limit: int = 1,
    expires_at: datetime | None = None,
    annotator: Annotator | None = None,
) -> tuple[Invitation, str]:
    """Create a link and return it with its token, which is not stored and cannot be shown again.

    With `annotator` the link is a personal one for an existing annotator, of this campaign or another.
    """
    campaign = Campaign.objects.select_related("study").get(pk=campaign.pk)
    _check(campaign, label, limit, expires_at, annotator)
    invitation, token = _make(campaign, by, label.strip(), limit, expires_at, annotator)
    audit.record(
        by=by,
        action="invitation.created",
        subject=invitation,
        study=campaign.study,
        campaign=campaign.name,
        limit=limit,
    )
    return invitation, token


@transaction.atomic
def invite_each(
    *, campaign: Campaign, by: User | None, labels: Sequence[str], expires_at: datetime | None = None
) -> list[tuple[Invitation, str]]:
    """Create a personal link for each label and return them with their tokens, which cannot be shown again."""
    labels = [" ".join(label.split()) for label in labels]
    if not 1 <= len(labels) <= MOST_AT_ONCE:
        message = f"Give 1 to {MOST_AT_ONCE} notes, each for one link."
        raise DomainError("invitations_number", message, fields={"labels": message})
    campaign = Campaign.objects.select_related("study").get(pk=campaign.pk)
    for label in labels:
        _check(campaign, label, 1, expires_at, None)
    tokens = [secrets.token_urlsafe(32) for _ in labels]
    made = Invitation.objects.bulk_create(
        Invitation(
            campaign=campaign, label=label, token_hash=hash_key(token), expires_at=expires_at, created_by=by
        )
        for label, token in zip(labels, tokens, strict=True)
    )
    audit.record(
        by=by,
        action="invitation.created_each",
        subject=campaign,
        study=campaign.study,
        campaign=campaign.name,
        links=len(made),
    )
    return list(zip(made, tokens, strict=True))


@transaction.atomic
def reissue(
    *, invitation: Invitation, by: User | None, expires_at: datetime | None = None
) -> tuple[Invitation, str]:
    """Give a lost link a new token. The old token stops working; the link's annotators stay the same.

    An expired or revoked link works again, until `expires_at` if that is given.
    """
    now = timezone.now()
    invitation = _locked(invitation)
    if expires_at is not None and expires_at <= now:
        raise _expiry_past()
    expired = invitation.expires_at is not None and invitation.expires_at <= now
    token = secrets.token_urlsafe(32)
    invitation.token_hash = hash_key(token)
    invitation.revoked_at = None
    invitation.expires_at = expires_at if expires_at is not None or expired else invitation.expires_at
    invitation.save(update_fields=["token_hash", "revoked_at", "expires_at"])
    addresses.forget(invitation)  # the link in the letter no longer works
    _audit(invitation, by, "reissued")
    return invitation, token


@transaction.atomic
def revoke(*, invitation: Invitation, by: User | None) -> Invitation:
    """Revoke a link. Its annotators stay; revoking twice is the same as once."""
    invitation = _locked(invitation)
    if invitation.revoked_at is None:
        invitation.revoked_at = timezone.now()
        invitation.save(update_fields=["revoked_at"])
        addresses.forget(invitation)
        _audit(invitation, by, "revoked")
    return invitation


def look_up(token: str, *, user: User | None = None) -> Invitation:
    """Return the live invitation of `token`; reads only.

    Raises NotFound `invitation_not_found`, and, unless `user` takes part already, Conflict
    `invitation_revoked`, `invitation_expired`, `invitation_used_up` or `campaign_closed`.
    """
    invitation = _find(token)
    resumes = user is not None and _enrolled(invitation.campaign, user) is not None
    if not resumes:
        _refuse_newcomer(invitation)
    return invitation


def note_opening(invitation: Invitation) -> None:
    """Store when the page of a link for one person was first shown to somebody who may join by it."""
    if invitation.limit == 1 and invitation.opened_at is None:
        Invitation.objects.filter(pk=invitation.pk, opened_at=None).update(opened_at=timezone.now())


@transaction.atomic
def accept(*, token: str, user: User | None, fingerprint: str = "", device: str = "") -> Enrolment:
    """Admit a person by a link, or let them resume.

    `user` is the signed-in user, if any. The view signs in the enrolment's `annotator.user`.
    """
    invitation = _locked(_find(token))
    if invitation.token_hash != hash_key(token):
        raise _unknown()  # reissued while we waited for the lock
    owner = invitation.annotator
    if owner is not None and user is not None and owner.user_id != user.pk:
        raise Conflict(
            "invitation_of_another",
            "This personal link belongs to another annotator. If the link is yours, sign out first.",
        )
    if user is None and owner is not None and owner.user is not None and has_a_role(owner.user):
        # The lead who made the link knows it: it must not sign in as another lead or an administrator.
        raise Forbidden("sign_in_first", "This link belongs to somebody with a password. Sign in first.")
    if user is not None and (enrolment := _enrolled(invitation.campaign, user)):
        _tell_tools(invitation, enrolment.annotator)
        return enrolment
    _refuse_newcomer(invitation)
    annotator = owner or (_annotator_of(user) if user else new_annotator())
    _bind(invitation, annotator)
    enrolment = _enrol(invitation, annotator, prints(fingerprint, device))
    if invitation.limit == 1:
        addresses.forget(invitation)  # from now on the link signs in as this person
    _tell_tools(invitation, annotator)
    return enrolment


def _tell_tools(invitation: Invitation, annotator: Annotator) -> None:
    for tool in integrations.registered():
        tool.invitation_accepted(invitation, annotator)


def has_a_role(user: User) -> bool:
    """Return whether the user is more than an annotator."""
    return (
        user.is_superuser
        or user.is_staff
        or user.is_lead
        or user.is_analyst
        or user.study_memberships.exists()
    )


@transaction.atomic
def return_link(*, enrolment: Enrolment) -> str:
    """Return the token of a new personal link; an earlier return link stops working."""
    if enrolment.annotator.user_id is None:
        raise Conflict("annotator_without_sign_in", "Nobody can sign in as this annotator.")
    Invitation.objects.filter(
        campaign=enrolment.campaign, annotator=enrolment.annotator, label=_RETURN_LABEL, revoked_at=None
    ).update(revoked_at=timezone.now())
    _, token = _make(enrolment.campaign, None, _RETURN_LABEL, 1, None, enrolment.annotator)
    return token


def shown_to_leads(campaign: Campaign) -> QuerySet[Invitation]:
    """Return the campaign's links except the annotators' own return links."""
    return campaign.invitations.exclude(label=_RETURN_LABEL, created_by=None, annotator__isnull=False)


def _make(
    campaign: Campaign,
    by: User | None,
    label: str,
    limit: int,
    expires_at: datetime | None,
    annotator: Annotator | None,
) -> tuple[Invitation, str]:
    token = secrets.token_urlsafe(32)
    invitation = Invitation.objects.create(
        campaign=campaign,
        label=label,
        token_hash=hash_key(token),
        limit=limit,
        expires_at=expires_at,
        annotator=annotator,
        created_by=by,
    )
    return invitation, token


def _check(
    campaign: Campaign, label: str, limit: int, expires_at: datetime | None, annotator: Annotator | None
) -> None:
    if campaign.imported:
        raise Conflict(
            "campaign_imported", "The campaign was imported from a file, so nobody can be invited."
        )
    if campaign.state == Campaign.State.CLOSED:
        raise Conflict("campaign_closed", "The campaign is closed, so nobody can be invited.")
    wrong: dict[str, str] = {}
    if type(limit) is not int or not 1 <= limit <= MAX_LIMIT:
        wrong["limit"] = f"Give a whole number from 1 to {MAX_LIMIT:,}."
    elif annotator is not None and limit != 1:
        wrong["limit"] = "A personal link is for one person."
    if len(label.strip()) > 120:
        wrong["label"] = "Keep the note under 120 characters."
    if annotator is not None and annotator.user_id is None:
        wrong["annotator"] = "Nobody can sign in as this annotator."
    if wrong:
        raise DomainError("invitation_invalid", " ".join(wrong.values()), fields=wrong)
    if expires_at is not None and expires_at <= timezone.now():
        raise _expiry_past()


def _expiry_past() -> DomainError:
    return DomainError(
        "expiry_past",
        "This date is in the past, so the link could not be used.",
        fields={"expires_at": "in the past"},
    )


def _unknown() -> NotFound:
    return NotFound(
        "invitation_not_found",
        "This link is not known, or was replaced by a newer link. Ask the person who sent you the link.",
    )


def _find(token: str) -> Invitation:
    invitation = (
        Invitation.objects.select_related("campaign__study__consent_text", "annotator")
        .filter(token_hash=hash_key(token))
        .first()
    )
    if invitation is None:
        raise _unknown()
    return invitation


def _locked(invitation: Invitation) -> Invitation:
    # The limit is checked under this lock, so it cannot be exceeded by simultaneous joins. No SQL join here: after
    # waiting for the lock, PostgreSQL rereads this row but not the joined ones.
    return Invitation.objects.select_for_update().get(pk=invitation.pk)


def _refuse_dead(invitation: Invitation) -> None:
    if invitation.revoked_at is not None:
        raise Conflict(
            "invitation_revoked",
            "This link was revoked. Ask the person who sent you this link for a new link.",
        )
    if invitation.expires_at is not None and invitation.expires_at <= timezone.now():
        raise Conflict(
            "invitation_expired",
            "This link has expired. Ask the person who sent you this link for a new link.",
        )


def _refuse_newcomer(invitation: Invitation) -> None:
    _refuse_dead(invitation)
    if invitation.annotator is not None:
        return
    if invitation.campaign.state == Campaign.State.CLOSED:
        raise Conflict("campaign_closed", "This work is finished; nobody can join it now. Thank you.")
    if invitation.enrolments.count() >= invitation.limit:
        raise Conflict("invitation_used_up", "Everybody whom this link was made for has already joined.")


def _enrolled(campaign: Campaign, user: User) -> Enrolment | None:
    return campaign.enrolments.select_related("annotator__user").filter(annotator__user=user).first()


def _annotator_of(user: User) -> Annotator:
    annotator, _ = Annotator.objects.get_or_create(user=user)
    return annotator


def _bind(invitation: Invitation, annotator: Annotator) -> None:
    """Bind a personal link to the annotator who used it first."""
    if invitation.limit == 1 and invitation.annotator is None:
        invitation.annotator = annotator
        invitation.save(update_fields=["annotator"])


def _enrol(invitation: Invitation, annotator: Annotator, prints: dict[str, str]) -> Enrolment:
    enrolment, _ = Enrolment.objects.select_related("annotator__user", "campaign__study").get_or_create(
        campaign=invitation.campaign,
        annotator=annotator,
        defaults={
            "invitation": invitation,
            **prints,
        },
    )
    return enrolment


def new_annotator() -> Annotator:
    """Return somebody who can sign in only by a link: no password, address or name."""
    user = User(username=f"annotator-{uuid.uuid4().hex}")
    user.set_unusable_password()
    user.save()
    return Annotator.objects.create(user=user)


def _audit(invitation: Invitation, by: User | None, action: str) -> None:
    audit.record(
        by=by,
        action=f"invitation.{action}",
        subject=invitation,
        study=invitation.campaign.study,
        campaign=invitation.campaign.name,
    )
