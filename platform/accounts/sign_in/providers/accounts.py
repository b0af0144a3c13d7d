"""Accounts of people from an identity provider: the linked one, one with their address, or a new one."""

from allauth.account.adapter import get_adapter
from allauth.socialaccount.models import SocialAccount
from django.conf import settings
from django.db import IntegrityError, transaction
from django.utils.translation import gettext

from accounts.models import User
from accounts.sign_in.providers.identity import Identity
from accounts.sign_in.providers.roles import record_account, roles_of
from foundation.errors import Forbidden


def account_of(identity: Identity) -> User:
    """Return the person's account, linking or creating it if the settings allow that.

    Raises Forbidden, with a sentence for the person, if they have no account.
    """
    if settings.SSO_REQUIRE_GROUP and not roles_of(identity):
        raise Forbidden(
            "sso_no_group",
            gettext(
                "You are in none of the groups that may sign in here. Ask an administrator of this server "
                "to add you to one of these groups."
            ),
        )
    try:
        with transaction.atomic():
            return _linked_user(identity) or _user_by_email(identity) or _new_user(identity)
    except IntegrityError:
        # The person’s first sign-in, twice at once: the other request has created the link.
        user = _linked_user(identity)
        if user is None:
            raise
        return user


def _linked_user(identity: Identity) -> User | None:
    link = (
        SocialAccount.objects.filter(provider=identity.provider, uid=identity.subject)
        .select_related("user")
        .first()
    )
    return link.user if link else None


def _user_by_email(identity: Identity) -> User | None:
    """Link the one account with the person's verified address, except administrators', who link theirs themselves."""
    if not settings.SSO_LINK_BY_EMAIL or not identity.is_email_verified:
        return None
    users = list(User.objects.filter(email__iexact=identity.email)[:2])
    if not users:
        return None
    user = users[0]
    is_taken = SocialAccount.objects.filter(user=user, provider=identity.provider).exists()
    if len(users) > 1 or is_taken or user.is_superuser or user.is_staff:
        raise Forbidden(
            "sso_link_refused",
            gettext(
                "Your e-mail address belongs to an account that cannot be linked automatically. Sign in "
                "with your password and link the account at the provider on the page “Your account”, or ask "
                "an administrator of this server."
            ),
        )
    link(user=user, identity=identity, by=None)
    return user


def _new_user(identity: Identity) -> User:
    if not settings.SSO_NEW_ACCOUNTS:
        raise Forbidden(
            "sso_no_account",
            gettext(
                "You have no account on this server yet. Ask an administrator of this server to create "
                "an account for you."
            ),
        )
    user = User(
        username=get_adapter().generate_unique_username([identity.username, identity.email, "person"]),
        # An unverified address could belong to another person, who would later be led to this account.
        email=identity.email if identity.is_email_verified else "",
        display_name=identity.name,
    )
    user.set_unusable_password()
    user.save()
    record_account(user=user, action="account.created", provider=identity.provider)
    link(user=user, identity=identity, by=None)
    return user


@transaction.atomic
def link(*, user: User, identity: Identity, by: User | None) -> None:
    """Link an account with a person at an identity provider, so that they can sign in to it."""
    SocialAccount.objects.create(user=user, provider=identity.provider, uid=identity.subject)
    record_account(user=user, action="account.linked", by=by, provider=identity.provider)


@transaction.atomic
def unlink(*, account: SocialAccount, by: User) -> None:
    """Remove the link of an account with an identity provider."""
    if not account.user.has_usable_password():
        raise Forbidden(
            "sso_only_way_in",
            gettext("Set a password first. Without a password, you could no longer sign in."),
        )
    account.delete()
    record_account(user=account.user, action="account.unlinked", by=by, provider=account.provider)


def must_use_provider(user: User) -> bool:
    """Return whether the person may sign in only through an identity provider."""
    return settings.SSO_ONLY and not user.is_superuser and SocialAccount.objects.filter(user=user.pk).exists()
