from django.apps import AppConfig
from django.core import checks
from django.db.models.signals import post_delete

from studies.navigation import register_tab
from web.navigation import register_next_steps


class AnalysisConfig(AppConfig):
    name = "analysis"
    verbose_name = "Analysis"

    def ready(self) -> None:
        from analysis.models import Release
        from analysis.pages.results import next_steps
        from analysis.releases.storage.zips import forget
        from analysis.results import reports
        from analysis.results.questions.checks import DeclaredMeasures, check_declared_measures
        from analysis.scoring.judge_sample import JudgedAssociations
        from annotation.campaigns import lifecycle
        from annotation.campaigns.planning.texts import register_associations
        from annotation.kinds.study_kinds import register_measures
        from annotation.lead.campaigns.outcome import CLOSED

        register_associations(JudgedAssociations())
        lifecycle.register_effect_of_closing(reports.compute_after_close)
        register_next_steps(CLOSED, next_steps.after_closing)
        checks.register(check_declared_measures)
        register_measures(DeclaredMeasures())

        # A study takes its releases with it, and a cascade calls nothing of the model: only this signal tells.
        post_delete.connect(forget, sender=Release, dispatch_uid="analysis.releases.storage.zips")

        register_tab("Plan", "planning:plan", order=15)
        register_tab("Automated scoring", "scoring:list", order=50)
        register_tab("Results", "analysis:overview", order=60)
        register_tab("Releases", "releases:list", order=70)
