"""Let simulated annotators label a campaign."""

from pathlib import Path
from typing import Any

from django.core.management.base import CommandParser

from annotation.models import Campaign
from annotation.simulation.simulate import simulate
from annotation.simulation.truth import Truth
from foundation.commands import DomainCommand
from foundation.errors import NotFound

_DEFAULT_URL = "http://127.0.0.1:8000"


class Command(DomainCommand):
    help = (
        "Let invented annotators with known error rates label a simulated study's campaign over the HTTP API "
        "that a person's browser uses. When no server on this database answers, it serves itself."
    )
    example = "python manage.py simulate_annotators --campaign 2 --annotators 6 --false-negative 0.1 --seed 1"

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--campaign", type=int, required=True, metavar="ID")
        parser.add_argument("--annotators", type=int, required=True, metavar="N")
        parser.add_argument(
            "--truth",
            type=Path,
            metavar="FILE",
            help="CSV with attribute, p and image (public id) or identity_group; default: what sketch drew",
        )
        parser.add_argument(
            "--base-url", metavar="URL", help=f"the server (default: {_DEFAULT_URL} if it answers)"
        )
        parser.add_argument("--seed", type=int, default=0, metavar="N", help="the same seed: the same people")
        parser.add_argument("--limit", type=int, metavar="N", help="stop after this many submissions")
        parser.add_argument("--false-negative", type=float, default=0.1, metavar="P", help="default: 0.1")
        parser.add_argument("--false-positive", type=float, default=0.05, metavar="P", help="default: 0.05")

    def handle(self, *args: Any, **options: Any) -> None:
        campaign = Campaign.objects.select_related("study").filter(pk=options["campaign"]).first()
        if campaign is None:
            raise NotFound("campaign_not_found", f"There is no campaign {options['campaign']} (--campaign).")
        truth = Truth.read(options["truth"], seed=campaign.seed) if options["truth"] else None
        progress = self.progress("Labelling")
        done = simulate(
            campaign=campaign,
            annotators=options["annotators"],
            seed=options["seed"],
            limit=options["limit"],
            truth=truth,
            false_negative=options["false_negative"],
            false_positive=options["false_positive"],
            base_url=options["base_url"],
            try_first=_DEFAULT_URL,
            progress=progress,
        )
        progress.finish()
        self.stdout.write(
            f"{done.submissions:,} submissions with {done.judgements:,} judgements by {done.annotators} "
            f"annotators in {done.seconds:.1f} s ({done.judgements_per_second:,.0f} judgements/s)."
        )
