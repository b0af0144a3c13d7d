from django.apps import AppConfig

from web import navigation


class AccountsConfig(AppConfig):
    name = "accounts"
    verbose_name = "Accounts"

    def ready(self) -> None:
        from accounts import devices  # noqa: F401 - listens to sign-ins

        navigation.register_link("Account", "accounts:profile", order=40)
        navigation.register_account(sign_in="accounts:sign_in", sign_out="accounts:sign_out")
