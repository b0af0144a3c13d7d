from typing import Any

from django.apps import AppConfig

from web import navigation


class CatalogConfig(AppConfig):
    name = "catalog"
    verbose_name = "Catalog"

    def ready(self) -> None:
        navigation.register_link("Resources", "catalog:list", order=20, shown_to=_works_on_studies)


def _works_on_studies(user: Any) -> bool:
    from accounts.rights import Capability, person_may  # models are not loaded when apps are imported

    return person_may(user, Capability.SEE_RESOURCES)
