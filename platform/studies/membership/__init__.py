"""Adding and removing members of a study."""

from django.db import transaction

from accounts.models import User
from foundation.errors import Conflict, DomainError
from studies import audit
from studies.models import Study, StudyMembership


@transaction.atomic
def add_member(*, study: Study, username: str, role: str, by: User | None) -> StudyMembership:
    """Give the user with this name a role in `study`; do nothing if they already have it."""
    if role not in StudyMembership.Role.values:
        message = "Choose one of the roles in the list."
        raise DomainError("role_unknown", message, fields={"role": message})
    user = User.objects.filter(username=username.strip(), is_active=True).first()
    if user is None:
        message = f"No user has the name “{username.strip()}”."
        raise DomainError("user_unknown", message, fields={"username": message})
    if by is not None and user == by and not _leads(study, by):
        message = (
            "You cannot make yourself a member. Ask a lead to add you, or open the study by break-glass."
        )
        raise DomainError("member_is_yourself", message, fields={"username": message})
    membership, created = StudyMembership.objects.get_or_create(study=study, user=user, role=role)
    if created:
        audit.record(
            by=by, action="member.added", subject=membership, study=study, username=user.username, role=role
        )
    return membership


def _leads(study: Study, user: User) -> bool:
    return StudyMembership.objects.filter(study=study, user=user, role=StudyMembership.Role.LEAD).exists()


@transaction.atomic
def remove_member(*, membership: StudyMembership, by: User | None) -> None:
    """Remove a role of a member. Raises Conflict for the only lead."""
    # Lock the study: two leads who remove each other at once must not both succeed.
    study = Study.objects.select_for_update().get(pk=membership.study_id)
    if membership.role == StudyMembership.Role.LEAD:
        leads = StudyMembership.objects.filter(study=study, role=StudyMembership.Role.LEAD)
        if not leads.exclude(pk=membership.pk).exists():
            raise Conflict(
                "last_lead", f"{membership.user} is the only lead. Add another lead before removing this one."
            )
    audit.record(
        by=by,
        action="member.removed",
        subject=membership,
        study=study,
        username=membership.user.username,
        role=membership.role,
    )
    membership.delete()
