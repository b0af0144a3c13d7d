from django.apps import AppConfig

from studies.navigation import register_tab


class GenerationConfig(AppConfig):
    name = "generation"
    verbose_name = "Generation"

    def ready(self) -> None:
        register_tab("Images", "generation:images", order=20)
        register_tab("Probes", "generation:probes", order=45)
