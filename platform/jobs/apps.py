from django.apps import AppConfig
from django.utils.module_loading import autodiscover_modules

from web import navigation


class JobsConfig(AppConfig):
    name = "jobs"
    verbose_name = "Jobs"

    def ready(self) -> None:
        # Apps register their kinds of jobs in modules named `background`.
        autodiscover_modules("background")
        navigation.register_link("Jobs", "jobs:list", order=30)
