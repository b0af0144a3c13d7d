from django.apps import AppConfig
from django.utils.module_loading import autodiscover_modules

from web import navigation


class JobsConfig(AppConfig):
    name = "jobs"
    verbose_name = "Jobs"

    def ready(self) -> None:
        # Each app registers its kinds of jobs in a module of this name.
        autodiscover_modules("background")
        navigation.register_link("Jobs", "jobs:list", order=30)
