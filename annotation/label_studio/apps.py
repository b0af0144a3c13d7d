from django.apps import AppConfig

from studies.navigation import register_tab


class LabelStudioConfig(AppConfig):
    name = "annotation.label_studio"
    label = "label_studio"
    verbose_name = "Label Studio"

    def ready(self) -> None:
        # Imported here: all need the models, which are not loaded yet when this module is imported.
        from annotation import integrations
        from annotation.imports import formats
        from annotation.label_studio.format.command import LabelStudioExport
        from annotation.label_studio.integration import LabelStudio

        tool = LabelStudio()
        integrations.register(tool)
        formats.register(LabelStudioExport())
        register_tab(tool.name, tool.study_page, order=80)
