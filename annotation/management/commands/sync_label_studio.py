"""Send a campaign to Label Studio and take in what was labelled there, here and now."""

import argparse
from typing import Any

from accounts.commands import add_person_argument, person
from annotation.label_studio.base import job_queue
from annotation.models import Campaign, LabelStudioBridge
from foundation.commands import DomainCommand
from foundation.errors import Conflict, NotFound


class Command(DomainCommand):
    help = (
        "Send a campaign’s tasks to the Label Studio it is labelled in, and take in what was labelled there. "
        "Both unless one is named; done again, only what is missing is done."
    )
    example = "python manage.py sync_label_studio --campaign 12 --pull"

    def add_arguments(self, parser: argparse.ArgumentParser) -> None:
        parser.add_argument(
            "--campaign", type=int, required=True, metavar="ID", help="number of the campaign"
        )
        parser.add_argument("--push", action="store_true", help="send what is not there yet")
        parser.add_argument("--pull", action="store_true", help="compare everything that was labelled there")
        add_person_argument(parser)

    def handle(self, *args: Any, **options: Any) -> None:
        by = person(options["by"])
        bridge = _bridge(options["campaign"])
        both = options["push"] == options["pull"]
        for kind, title, wanted in (
            (job_queue.PUSH, "Pushing", options["push"] or both),
            (job_queue.RECONCILE, "Pulling", options["pull"] or both),
        ):
            if wanted:
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
            "not_bridged", f"Campaign {campaign} is not labelled in a Label Studio; begin that on its page."
        )
    return bridge
