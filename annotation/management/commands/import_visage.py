"""Import the released ViSAGe study."""

from pathlib import Path
from typing import Any

from django.core.management.base import CommandParser

from accounts.commands import person
from annotation.imports.command import ImportCommand
from annotation.imports.visage import MODEL, VisageFiles, import_visage


class Command(ImportCommand):
    help = (
        "Import the released ViSAGe files unchanged into a study, and report for every row whether it was "
        "kept, repaired (how) or rejected (why). Importing the same files again changes nothing."
    )
    example = (
        "python manage.py import_visage --study ViSAGe --stereotypes stereotypes_global_v2.csv "
        '--annotations "Image Annotations.xlsx" --visual-attributes "Visual Attributes_.xlsx"'
    )

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument(
            "--study", required=True, metavar="NAME", help="the study; created if it does not exist"
        )
        parser.add_argument("--stereotypes", required=True, type=Path, metavar="CSV", help="the SeeGULL file")
        parser.add_argument(
            "--annotations", required=True, type=Path, metavar="XLSX|CSV", help="the image annotations"
        )
        parser.add_argument(
            "--visual-attributes", type=Path, metavar="XLSX|CSV", help="the ratings of attributes"
        )
        parser.add_argument(
            "--model", default=MODEL, help=f"the name of the model in reports (default: {MODEL})"
        )
        self.add_report_arguments(parser)

    def handle(self, *args: Any, **options: Any) -> None:
        self.run_import(
            import_visage,
            output=options["output"],
            study=options["study"],
            files=VisageFiles(options["stereotypes"], options["annotations"], options["visual_attributes"]),
            by=person(options["by"]),
            model=options["model"],
        )
        if options["by"] is None:
            self.stdout.write(
                "Only administrators see this study: it has no lead (name a lead with --by USERNAME)."
            )
