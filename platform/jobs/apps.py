from django.apps import AppConfig

from web import navigation


class JobsConfig(AppConfig):
    name = "jobs"
    verbose_name = "Jobs"

    def ready(self) -> None:
        navigation.register_link("Jobs", "jobs:list", order=30)
