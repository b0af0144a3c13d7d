from django.apps import AppConfig

from web import navigation


class FrontConfig(AppConfig):
    name = "front"
    verbose_name = "Front"

    def ready(self) -> None:
        navigation.register_link("Studies", "studies:list", order=10)
