from django.apps import AppConfig
from django.core import checks
from django.db.models.signals import post_delete

from studies.navigation import register_tab


class AnalysisConfig(AppConfig):
    name = "analysis"
    verbose_name = "Analysis"

    def ready(self) -> None:
        from analysis.models import Release
        from analysis.releases.storage.zips import forget
        from analysis.results.questions.checks import DeclaredMeasures, check_declared_measures
        from analysis.scoring.judge_sample import JudgedAssociations
        from annotation.campaigns.planning.texts import register_associations
        from annotation.kinds.study_kinds import register_measures

        register_associations(JudgedAssociations())
        checks.register(check_declared_measures)
        register_measures(DeclaredMeasures())

        # A study takes its releases with it, and a cascade calls nothing of the model: only this signal tells.
        post_delete.connect(forget, sender=Release, dispatch_uid="analysis.releases.storage.zips")

        register_tab("Plan", "planning:plan", order=15)
        register_tab("Automated scoring", "scoring:list", order=50)
        register_tab("Results", "analysis:overview", order=60)
        register_tab("Releases", "releases:list", order=70)
