import argparse
from pathlib import Path
from typing import Any

from django.conf import settings

from accounts.commands import add_person_argument, person
from foundation.commands import DomainCommand
from foundation.tables.report import write_rejected
from generation.imports.answers.codings import import_codings
from generation.imports.answers.fields import FIELDS, AnswerImportOptions, columns_of
from generation.imports.answers.importer import AnswerFile, import_answers
from generation.imports.answers.probe_sets import probe_sets_for
from generation.management.arguments import study_named
from generation.probing.probe_sets import PUBLISHED


class Command(DomainCommand):
    help = (
        "Import answers that models gave elsewhere: CSV, JSON lines, a log of Inspect AI (.json or .eval), or the "
        f"table probe_answers of a release. If you run the command again, nothing is added twice. Fields: "
        f"{', '.join(FIELDS)}."
    )
    example = (
        "python manage.py import_answers --study Pairs answers.csv --probe-set pairs --model gpt-4o-mini "
        "--map text=response --map group=person"
    )

    def add_arguments(self, parser: argparse.ArgumentParser) -> None:
        parser.add_argument("file", type=Path, metavar="FILE", help="the answers")
        parser.add_argument("--study", required=True, metavar="NAME", help="name or short name of the study")
        parser.add_argument(
            "--map",
            action="extend",
            nargs="+",
            default=[],
            metavar="FIELD=COLUMN",
            help="the column that contains a field (default: the column of the same name)",
        )
        parser.add_argument(
            "--probe-set",
            action="append",
            default=[],
            metavar="NAME",
            help=f"a probe set: {', '.join(PUBLISHED)} or a file; may be repeated (default: the probe sets "
            f"that the file or its release names)",
        )
        parser.add_argument(
            "--codings",
            type=Path,
            metavar="FILE",
            help="the table “codings” of the same release, to import the codings by people, models and leads, too",
        )
        AnswerImportOptions.add_options(parser)
        parser.add_argument(
            "--output",
            type=Path,
            metavar="DIR",
            help="folder for rejected.csv (default: imports/<study>/ in var)",
        )
        add_person_argument(parser)

    def handle(self, *args: Any, **options: Any) -> None:
        study, path = study_named(options["study"]), options["file"]
        file = AnswerFile(path, path.name, columns_of(options["map"]))
        stated = AnswerImportOptions.read(AnswerImportOptions.chosen(options))
        codings = None
        progress = self.progress("Importing")
        try:
            report = import_answers(
                study=study,
                file=file,
                probe_sets=probe_sets_for(path, options["probe_set"]),
                by=person(options["by"]),
                options=stated,
                progress=progress,
            )
            if options["codings"] is not None:
                codings = import_codings(
                    study=study,
                    answers=file,
                    codings=AnswerFile(options["codings"], options["codings"].name, {}),
                    probe_sets=probe_sets_for(path, options["probe_set"]),
                    by=person(options["by"]),
                    options=stated,
                )
        finally:
            progress.finish()
        for line in [*report.lines(), *(codings.lines() if codings else ())]:
            self.stdout.write(line)
        folder = options["output"] or settings.VAR / "imports" / study.slug
        self.stdout.write(
            f"rejected rows: {write_rejected([report.rows, *([codings.rows] if codings else [])], folder)}"
        )
