from django.apps import AppConfig

from studies.navigation import register_tab
from web import navigation


class FrontConfig(AppConfig):
    name = "front"
    verbose_name = "Front"

    def ready(self) -> None:
        from catalog.imports import uploads
        from catalog.pages.views import RESOURCE
        from front.studies import next_steps

        navigation.register_next_steps(RESOURCE, next_steps.after_resource)
        navigation.register_next_steps(uploads.KIND, next_steps.after_import_of_resource)
        navigation.register_next_steps("import_images", next_steps.after_import_of_images)
        navigation.register_link("Studies", "studies:list", order=10)
        register_tab("Overview", "studies:detail", order=10)
        register_tab("Members", "studies:members", order=90)
        register_tab("Consent", "studies:consent", order=100)
        register_tab("History", "studies:history", order=110)
