from django.apps import AppConfig


class RecruitmentConfig(AppConfig):
    name = "annotation.recruitment"
    label = "recruitment"
    verbose_name = "Recruitment"
