"""Create and open a campaign."""

from typing import Any

from django.core.management.base import CommandParser
from django.db import transaction

from accounts.commands import add_person_argument, person
from annotation.assignment.quota_rules import PRESETS
from annotation.campaigns import feasibility, lifecycle
from annotation.campaigns.design import CampaignDesign
from annotation.campaigns.planning import task_plan
from annotation.campaigns.planning.plan import CampaignPlan
from annotation.kinds.options import Options
from annotation.kinds.registry import KINDS, MARKING
from annotation.kinds.study_kinds import kind_for
from annotation.launch.checklist import open_in_languages
from foundation.commands import DomainCommand
from foundation.errors import NotFound
from studies.models import Study

_SETTINGS = ("annotators_per_task", "attributes_per_screen", "lease_minutes", "boxes_required")
_OPTIONS = (
    "attributes", "visual_source", "visual_rule", "random_per_stereotype", "images_per_group", "combinations",
    "condition", "scenarios", "texts", "texts_from", "pairs", "sure_share", "sure_least",
    "pay_amount", "pay_currency", "pay_per", "pay_budget",
    "stop_at_budget", "stop_on", "stop_complete", "stop_half_width", "stop_least", "stop_every", "stop_by",
    "notices", "stuck_hours", "junk_share",
)  # fmt: skip


class Command(DomainCommand):
    help = "Plan a campaign of a study, open it and print its id."
    example = f"python manage.py open_campaign --study isles --kind {MARKING.key} --annotators-per-task 3"

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--study", required=True, metavar="NAME", help="name or short name of the study")
        parser.add_argument(
            "--kind",
            required=True,
            metavar="KIND",
            help=f"kind of the campaign: {', '.join(KINDS)}, or a kind of the study",
        )
        parser.add_argument("--name", help="the campaign's name (default: the name of its kind)")
        CampaignDesign.add_options(parser, _SETTINGS)
        Options.add_options(parser, _OPTIONS)
        parser.add_argument(
            "--model", action="append", dest="model_labels", metavar="LABEL", help="repeatable"
        )
        parser.add_argument(
            "--quota",
            action="append",
            default=[],
            metavar="RULE",
            help=f"a rule for the annotators of each task: a preset ({', '.join(PRESETS)}), or a rule over "
            "codes such as 'at_least 1 gender != man', 'at_most 2 languages = en | fr', "
            "'at_least 1 nationality = KEN | UGA' or 'distinct region_of_origin'; a value without a code is refused, "
            "with a list of the codes; may be repeated",
        )
        parser.add_argument("--draft", action="store_true", help="leave the campaign a draft")
        parser.add_argument("--dry-run", action="store_true", help="only print the size of the campaign")
        add_person_argument(parser)

    def handle(self, *args: Any, **options: Any) -> None:
        by, study = person(options["by"]), _study(options["study"])
        with transaction.atomic():
            campaign = lifecycle.create(
                study=study,
                name=options["name"] or kind_for(study, options["kind"]).name,
                kind=options["kind"],
                by=by,
                options=Options.chosen(options),
                quotas=options["quota"],
                **{name: options[name] for name in _SETTINGS if options[name] is not None},
            )
            plan = task_plan.plan(campaign)
            self._say(plan)
            for sentence in feasibility.before_opening(campaign, plan).sentences:
                self.stderr.write(sentence, self.style.WARNING)
            if not options["draft"] and not options["dry_run"]:
                open_in_languages(campaign=campaign, by=by)
            if options["dry_run"]:
                transaction.set_rollback(True)
                return
        self.stdout.write(str(campaign.pk))

    def _say(self, plan: CampaignPlan) -> None:
        """Say on standard error what is asked, so that standard output is the id alone."""
        attributes = f", {plan.attributes:,} attributes" if plan.attributes else ""
        self.stderr.write(
            f"{plan.screens:,} screens ({plan.images:,} images{attributes}), each for "
            f"{plan.annotators_per_task} annotators: {plan.judgements:,} judgements.",
            str,
        )
        for problem in plan.problems:
            self.stderr.write(problem, self.style.WARNING)


def _study(name: str) -> Study:
    study = Study.objects.filter(slug=name).first() or Study.objects.filter(name=name).first()
    if study is None:
        raise NotFound("study_not_found", f"There is no study “{name}” (--study).")
    return study
