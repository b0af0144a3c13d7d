"""Let simulated annotators label a campaign."""

from pathlib import Path
from typing import Any

from django.core.management.base import CommandParser

from annotation.models import Campaign
from annotation.simulation.simulate import CrowdParameters, simulate
from annotation.simulation.truth import Truth
from foundation.commands import DomainCommand
from foundation.errors import NotFound

_DEFAULT_URL = "http://127.0.0.1:8000"


class Command(DomainCommand):
    help = (
        "Let invented annotators with known error rates label a simulated study's campaign over the HTTP API "
        "that a person's browser uses. If no server that uses this database answers, the command starts one."
    )
    example = "python manage.py simulate_annotators --campaign 2 --annotators 6 --false-negative 0.1 --seed 1"

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--campaign", type=int, required=True, metavar="ID")
        parser.add_argument("--annotators", type=int, required=True, metavar="N")
        parser.add_argument(
            "--truth",
            type=Path,
            metavar="FILE",
            help="CSV file with the columns attribute, p, and image (public id) or identity_group; default: the "
            "attributes that the back-end “sketch” drew",
        )
        parser.add_argument(
            "--base-url", metavar="URL", help=f"the server (default: {_DEFAULT_URL} if it answers)"
        )
        names = [name for name in CrowdParameters.model_fields if name != "annotators"]
        CrowdParameters.add_options(parser, names)

    def handle(self, *args: Any, **options: Any) -> None:
        campaign = Campaign.objects.select_related("study").filter(pk=options["campaign"]).first()
        if campaign is None:
            raise NotFound("campaign_not_found", f"There is no campaign {options['campaign']} (--campaign).")
        truth = Truth.read(options["truth"], seed=campaign.seed) if options["truth"] else None
        progress = self.progress("Labelling")
        summary = simulate(
            campaign=campaign,
            truth=truth,
            base_url=options["base_url"],
            try_first=_DEFAULT_URL,
            progress=progress,
            **CrowdParameters.chosen(options),
        )
        progress.finish()
        self.stdout.write(
            f"{summary.submissions:,} submissions with {summary.judgements:,} judgements by {summary.annotators} "
            f"annotators in {summary.seconds:.1f} s ({summary.judgements_per_second:,.0f} judgements/s)."
        )
        for question, planted in summary.planted.items():
            for what, strengths in planted.items():
                shown = ", ".join(
                    f"{name or 'not named'} {strength:+.2f}" for name, strength in strengths.items()
                )
                self.stdout.write(f"Planted for {question}, {what}: {shown or 'none'}.")
