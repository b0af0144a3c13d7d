from django.apps import AppConfig

from studies.navigation import register_tab


class AnnotationConfig(AppConfig):
    name = "annotation"
    verbose_name = "Annotation"

    def ready(self) -> None:
        register_tab("Reported images", "annotation:image_reports", order=30)
        register_tab("Campaigns", "annotation:campaigns", order=40)
