from django.apps import AppConfig
from django.core import checks

from web import navigation


class WebConfig(AppConfig):
    name = "web"
    verbose_name = "Pages"

    def ready(self) -> None:
        from web.checks import check_files, check_monitoring, check_server_settings

        checks.register(check_server_settings, checks.Tags.security)
        checks.register(check_files)
        checks.register(check_monitoring)
        navigation.register_link(
            "Administration", "admin:index", order=50, shown_to=lambda user: bool(user.is_staff)
        )
