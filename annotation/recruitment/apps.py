from django.apps import AppConfig


class RecruitmentConfig(AppConfig):
    name = "annotation.recruitment"
    label = "recruitment"
    verbose_name = "Recruitment"

    def ready(self) -> None:
        from annotation.recruitment.spending import PanelPayer
        from annotation.watch.spending import register_payer

        register_payer(PanelPayer())
