from django.apps import AppConfig
from django.core import checks


class WebConfig(AppConfig):
    name = "web"
    verbose_name = "Pages"

    def ready(self) -> None:
        from web.checks import check_files, check_server_settings

        checks.register(check_server_settings, checks.Tags.security)
        checks.register(check_files)
