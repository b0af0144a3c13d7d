"""The state of invitation links, as a lead sees it."""

from collections.abc import Iterable
from dataclasses import dataclass

from django.db.models import Count
from django.utils import timezone

from annotation.models import Enrolment, Invitation


@dataclass(frozen=True)
class InvitationLine:
    """A link with how many people joined with it, and whether it still works."""

    invitation: Invitation
    joined: int
    state: str  # usable, used up, expired, revoked

    @property
    def tone(self) -> str:
        return {"usable": "active", "revoked": "bad"}.get(self.state, "quiet")

    @property
    def personal(self) -> bool:
        return self.invitation.limit == 1


def invitation_lines(invitations: Iterable[Invitation]) -> list[InvitationLine]:
    """Return the links with their states; one query for how many joined with each."""
    invitations = list(invitations)
    joined = dict(
        Enrolment.objects.filter(invitation__in=[one.pk for one in invitations])
        .order_by()
        .values("invitation")
        .annotate(n=Count("pk"))
        .values_list("invitation", "n")
    )
    return [
        InvitationLine(one, joined.get(one.pk, 0), _state(one, joined.get(one.pk, 0))) for one in invitations
    ]


def _state(invitation: Invitation, joined: int) -> str:
    if invitation.revoked_at is not None:
        return "revoked"
    if invitation.expires_at is not None and invitation.expires_at <= timezone.now():
        return "expired"
    # A personal link goes on bringing its one person back after they joined.
    return "used up" if joined >= invitation.limit and invitation.limit > 1 else "usable"
