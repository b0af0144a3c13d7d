from django.apps import AppConfig

from studies.navigation import register_tab


class AnnotationConfig(AppConfig):
    name = "annotation"
    verbose_name = "Annotation"

    def ready(self) -> None:
        from annotation.answers.questions.answer_review import void_sources
        from generation.probing.codings import register_void_sources

        register_void_sources(void_sources)
        register_tab("Scenarios", "annotation:scenarios", order=25, protocol="pairs")
        register_tab("Reported images", "annotation:image_reports", order=30)
        register_tab("Campaigns", "annotation:campaigns", order=40)
