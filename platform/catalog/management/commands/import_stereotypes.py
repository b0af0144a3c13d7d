"""Import a resource of stereotypes."""

from pathlib import Path
from typing import Any

from django.core.management.base import CommandParser

from accounts.commands import add_person_argument, person
from catalog.geography import read_geography
from catalog.imports.resources import import_resource
from foundation.commands import DomainCommand
from foundation.tables.report import write_rejected


class Command(DomainCommand):
    help = (
        "Import a CSV file in the format of SeeGULL: columns identity and attribute; optional rater counts "
        "(region_stereo, "
        "NA_stereo …), ratings (Annotation1–3) and a mean offensiveness score. Importing the "
        "same file again changes nothing."
    )
    example = "python manage.py import_stereotypes stereotypes_global_v2.csv --resource SeeGULL"

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("file", type=Path, metavar="FILE", help="the CSV file")
        parser.add_argument("--resource", required=True, metavar="NAME", help="name of the resource")
        parser.add_argument(
            "--geography",
            type=Path,
            metavar="CSV",
            help="CSV file with identity, iso_code and region that replaces the platform’s geography",
        )
        parser.add_argument(
            "--invented",
            action="store_true",
            help="the groups are invented; a later import does not change this setting",
        )
        parser.add_argument(
            "--output", type=Path, metavar="DIR", help="folder in which to write rejected.csv"
        )
        add_person_argument(parser)

    def handle(self, *args: Any, **options: Any) -> None:
        report = import_resource(
            file=options["file"],
            name=options["resource"],
            by=person(options["by"]),
            geography=read_geography(options["geography"]) if options["geography"] else None,
            invented=options["invented"],
        )
        for line in report.lines():
            self.stdout.write(line)
        if options["output"]:
            self.stdout.write(f"rejected rows: {write_rejected([report.rows], options['output'])}")
