import argparse
from pathlib import Path
from typing import Any

from django.db import transaction

from accounts.commands import add_person_argument, person
from accounts.models import User
from catalog.imports.descriptors import import_descriptors
from foundation.commands import DomainCommand
from foundation.errors import NotFound
from generation.management.arguments import find_study
from studies.models import Study
from studies.protocol.creation import create_study
from studies.protocol.descriptors import add_descriptors


class Command(DomainCommand):
    help = (
        "Import descriptors: groups of people with their singular, plural and dimensions. Reads CSV files with the "
        "columns dimension, singular and plural, and the published BiasDora files. Importing the same files again "
        "changes nothing."
    )
    example = (
        "python manage.py import_descriptors t2t_setting1.csv t2t_setting2.csv --resource BiasDora "
        "--study Words"
    )

    def add_arguments(self, parser: argparse.ArgumentParser) -> None:
        parser.add_argument("files", type=Path, nargs="+", metavar="FILE", help="CSV or JSON files")
        parser.add_argument("--resource", required=True, metavar="NAME", help="name of the resource")
        parser.add_argument(
            "--study", metavar="NAME", help="name of a study that asks about these descriptors"
        )
        parser.add_argument("--create", action="store_true", help="create the study if it does not exist")
        add_person_argument(parser)

    def handle(self, *args: Any, **options: Any) -> None:
        by = person(options["by"])
        study = find_study(options["study"]) if options["study"] else None
        if options["study"] and study is None and not options["create"]:
            raise NotFound(
                "study_not_found", f"There is no study “{options['study']}”; add --create to create it."
            )
        with transaction.atomic():  # roll back the import if the study refuses the resource
            report = import_descriptors(files=options["files"], name=options["resource"], by=by)
            lines = report.lines()
            if options["study"]:
                study = study or _new_study(options["study"], by)
                added = add_descriptors(study=study, resource=report.resource, by=by)
                lines.append(
                    f"{study}: {added.created:,} new descriptors; "
                    f"{added.completed:,} existing descriptors were completed."
                )
        for line in lines:
            self.stdout.write(line)


def _new_study(name: str, by: User | None) -> Study:
    return create_study(name=name, resource=None, groups=[], by=by, protocol=Study.Protocol.BIASDORA)
