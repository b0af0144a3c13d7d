"""Draw the scenarios again that failed a check of their images."""

from typing import Any

from django.core.management.base import CommandParser

from accounts.commands import add_person_argument, person
from annotation.campaigns.images.redraw import plan_redraw, redraw
from foundation.commands import DomainCommand
from foundation.errors import NotFound
from generation.runs.launch import start_here
from studies.models import Study


class Command(DomainCommand):
    help = (
        "Retract the images of failed scenarios (people found that the images are not alike), and generate new images "
        "with another seed. Imported images stay as they are."
    )
    example = "python manage.py redraw_scenarios --study Lamps --scenario harbour"

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--study", required=True, metavar="NAME", help="name or short name of the study")
        parser.add_argument(
            "--scenario",
            action="append",
            default=[],
            metavar="NAME",
            help="a scenario that failed; may be repeated (default: all that failed)",
        )
        parser.add_argument(
            "--dry-run", action="store_true", help="only print the number of images, the time and the cost"
        )
        parser.add_argument("--queue", action="store_true", help="queue a job for a background worker")
        add_person_argument(parser)

    def handle(self, *args: Any, **options: Any) -> None:
        study = Study.objects.filter(name=options["study"]).first()
        study = study or Study.objects.filter(slug=options["study"]).first()
        if study is None:
            raise NotFound("study_not_found", f"There is no study “{options['study']}”.")
        planned = plan_redraw(study)
        names = options["scenario"]
        if unknown := sorted(set(names) - {place.scenario for place in planned.scenarios}):
            message = f"No scenario that was generated here and failed has the name {', '.join(unknown)}."
            raise NotFound("scenario_not_failed", message)
        chosen = [place for place in planned.scenarios if not names or place.scenario in names]
        for place in planned.imported:
            self.stdout.write(f"Imported, unchanged: {place.experiment}/{place.scenario}, {place.model}.")
        for place in chosen:
            self.stdout.write(f"Failed: {place.experiment}/{place.scenario}, {place.model}.")
        if options["dry_run"] or not chosen:
            self.stdout.write(f"{len(chosen):,} scenario{'' if len(chosen) == 1 else 's'} to draw again.")
            return
        by = person(options["by"])
        runs = redraw(study=study, scenarios=chosen, by=by, queue=options["queue"])
        if options["queue"]:
            self.stdout.write("Queued.")
            return
        progress = self.progress("Drawing")
        for run in runs:
            job = start_here(run=run, by=by, progress=progress)
            self.stdout.write(job.result["summary"])
        progress.finish()
