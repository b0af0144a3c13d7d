"""Roles from groups at the identity provider, updated at each sign-in."""

from django.conf import settings
from django.db import transaction
from django.utils.module_loading import import_string

from accounts.models import User
from accounts.sign_in.providers.identity import Identity

# The roles that SSO_GROUPS may name. No other server can make a person a superuser.
FIELDS = {"lead": "is_lead", "analyst": "is_analyst", "staff": "is_staff"}


def roles_of(identity: Identity) -> set[str]:
    """Return the roles that the person's groups give."""
    return {role for role, group in settings.SSO_GROUPS if group in identity.groups}


@transaction.atomic
def apply_groups(*, user: User, identity: Identity) -> None:
    """Grant the roles of the person's groups and remove the others; roles that no rule names stay unchanged."""
    account = User.objects.select_for_update().get(pk=user.pk)
    if account.is_superuser:
        return
    granted = roles_of(identity)
    governed = {role for role, _ in settings.SSO_GROUPS}
    changes = {
        role: role in granted
        for role in sorted(governed)
        if getattr(account, FIELDS[role]) != (role in granted)
    }
    if not changes:
        return
    for role, has_role in changes.items():
        setattr(account, FIELDS[role], has_role)
        setattr(user, FIELDS[role], has_role)
    account.save(update_fields=[FIELDS[role] for role in changes])
    record_account(
        user=account,
        action="account.roles_changed",
        provider=identity.provider,
        granted=[role for role, has_role in changes.items() if has_role],
        taken=[role for role, has_role in changes.items() if not has_role],
    )


def record_account(*, user: User, action: str, by: User | None = None, **details: object) -> None:
    """Record a change of an account in the audit trail, which this app must not import."""
    import_string(settings.ACCOUNT_AUDIT)(by=by, action=action, subject=user, study=None, **details)
