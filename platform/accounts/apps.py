from django.apps import AppConfig
from django.contrib import admin
from django.core import checks

from web import navigation


class AccountsConfig(AppConfig):
    name = "accounts"
    verbose_name = "Accounts"

    def ready(self) -> None:
        from allauth.account.models import EmailAddress
        from allauth.mfa.models import Authenticator
        from allauth.socialaccount.models import SocialAccount, SocialApp, SocialToken
        from allauth.usersessions.models import UserSession

        from accounts.admin import LinkedAccountAdmin, SecondFactorAdmin
        from accounts.sign_in import devices, limits  # noqa: F401 - listen to sign-ins
        from accounts.sign_in.checks import check_identity_provider, check_second_factor

        checks.register(check_second_factor, checks.Tags.security)
        checks.register(check_identity_provider, checks.Tags.security)

        # Providers come from the settings, and none of their tokens is stored.
        admin.site.unregister([SocialAccount, SocialApp, SocialToken])
        admin.site.register(SocialAccount, LinkedAccountAdmin)
        # The places where a person signs in are private.
        admin.site.unregister([EmailAddress, UserSession])
        # allauth's own form would show stored secrets and allow changes to them.
        admin.site.unregister(Authenticator)
        admin.site.register(Authenticator, SecondFactorAdmin)

        navigation.register_link("Account", "accounts:profile", order=40)
        navigation.register_account(sign_in="accounts:sign_in", sign_out="accounts:sign_out")
