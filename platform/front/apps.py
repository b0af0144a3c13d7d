from django.apps import AppConfig

from studies.navigation import register_tab
from web import navigation


class FrontConfig(AppConfig):
    name = "front"
    verbose_name = "Front"

    def ready(self) -> None:
        navigation.register_link("Studies", "studies:list", order=10)
        register_tab("Overview", "studies:detail", order=10)
        register_tab("Members", "studies:members", order=90)
        register_tab("Consent", "studies:consent", order=100)
        register_tab("History", "studies:history", order=110)
