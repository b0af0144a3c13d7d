"""Send a campaign to Label Studio and fetch the labels made there, immediately."""

import argparse
from typing import Any

from accounts.commands import add_person_argument, person
from annotation.label_studio.base import job_queue
from annotation.label_studio.models import LabelStudioBridge
from annotation.models import Campaign
from foundation.commands import DomainCommand
from foundation.errors import Conflict, NotFound


class Command(DomainCommand):
    help = (
        "Send a campaign’s tasks to the Label Studio server in which it is labelled, and fetch the labels made there. "
        "Without an option, the command sends and fetches. If you run the command again, it does only what is missing."
    )
    example = "python manage.py sync_label_studio --campaign 12 --pull"

    def add_arguments(self, parser: argparse.ArgumentParser) -> None:
        parser.add_argument(
            "--campaign", type=int, required=True, metavar="ID", help="number of the campaign"
        )
        parser.add_argument(
            "--push", action="store_true", help="send the tasks that are missing in Label Studio"
        )
        parser.add_argument(
            "--pull",
            action="store_true",
            help="fetch and compare everything that was labelled in Label Studio",
        )
        add_person_argument(parser)

    def handle(self, *args: Any, **options: Any) -> None:
        by = person(options["by"])
        bridge = _bridge(options["campaign"])
        in_both_directions = options["push"] == options["pull"]
        for kind, title, enabled in (
            (job_queue.PUSH, "Pushing", options["push"] or in_both_directions),
            (job_queue.RECONCILE, "Pulling", options["pull"] or in_both_directions),
        ):
            if enabled:
                progress = self.progress(title)
                try:
                    job = job_queue.do_here(kind, bridge=bridge, by=by, progress=progress)
                finally:
                    progress.finish()
                self.stdout.write(job.result["summary"])
                for line in job.result.get("lines", []):
                    self.stderr.write(line, self.style.WARNING)


def _bridge(campaign: int) -> LabelStudioBridge:
    if not Campaign.objects.filter(pk=campaign).exists():
        raise NotFound("campaign_not_found", f"There is no campaign {campaign}.")
    bridge = LabelStudioBridge.objects.select_related("campaign").filter(campaign=campaign).first()
    if bridge is None:
        raise Conflict(
            "not_bridged",
            f"Campaign {campaign} is not labelled in a Label Studio. Start labelling in Label Studio on the "
            "campaign’s page.",
        )
    return bridge
