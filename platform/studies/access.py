"""Which study a person may see or change. Deny first: no membership, no study."""

from django.contrib.auth.models import AnonymousUser
from django.db.models import QuerySet

from accounts.models import User
from foundation.errors import Forbidden, NotFound
from studies.models import Study, StudyMembership

LEAD = StudyMembership.Role.LEAD
ANALYST = StudyMembership.Role.ANALYST


def studies_visible_to(user: User | AnonymousUser) -> QuerySet[Study]:
    """Return the studies of which `user` is lead or analyst; an administrator sees all."""
    if not user.is_authenticated or not user.is_active:
        return Study.objects.none()
    if user.is_superuser:
        return Study.objects.all()
    return Study.objects.filter(pk__in=StudyMembership.objects.filter(user=user).values("study"))


def studies_led_by(user: User | AnonymousUser) -> QuerySet[Study]:
    """Return the studies that `user` may change."""
    visible = studies_visible_to(user)
    if user.is_superuser or not user.is_authenticated:
        return visible
    return visible.filter(pk__in=StudyMembership.objects.filter(user=user, role=LEAD).values("study"))


def study_for(user: User | AnonymousUser, slug: str, *, role: str | None = None) -> Study:
    """Return the study if `user` may see it, and holds `role` in it when one is asked for.

    A study that the person may not know of is `NotFound`, not `Forbidden`.
    """
    study = studies_visible_to(user).select_related("resource").filter(slug=slug).first()
    if study is None:
        raise NotFound("study_not_found", "There is no such study, or you are not a member of it.")
    if role is not None and not holds(user, study, role):
        raise Forbidden("not_in_role", f"Only a {role} of this study may do this.")
    return study


def holds(user: User | AnonymousUser, study: Study, role: str) -> bool:
    """Return whether `user` has `role` in `study`. A lead may do whatever an analyst may."""
    if not user.is_authenticated or not user.is_active:
        return False
    if user.is_superuser:
        return True
    roles = {LEAD} if role == LEAD else {LEAD, ANALYST}
    return StudyMembership.objects.filter(study=study, user=user, role__in=roles).exists()
