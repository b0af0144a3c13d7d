import argparse
from pathlib import Path
from typing import Any

from accounts.commands import add_person_argument, person
from accounts.models import User
from foundation.commands import DomainCommand
from foundation.errors import NotFound
from generation.imports.importer import import_images
from generation.imports.options import ImageImportOptions
from generation.management.arguments import find_study
from studies.models import Study
from studies.protocol.creation import create_study

_SHOWN = 20


class Command(DomainCommand):
    help = (
        "Import images into a study: a folder or zip of <group>/<file>, a CSV or JSONL manifest "
        "(path, group, model, condition, prompt, attribute), or the folders of PAIRS."
    )
    example = "python manage.py import_images --study Isles pictures.zip --model painter-2"

    def add_arguments(self, parser: argparse.ArgumentParser) -> None:
        parser.add_argument("path", type=Path, help="folder, zip archive or manifest")
        parser.add_argument("--study", required=True, metavar="NAME", help="name or short name of the study")
        parser.add_argument("--create", action="store_true", help="create the study if it does not exist")
        parser.add_argument(
            "--model",
            dest="model_label",
            metavar="LABEL",
            help=ImageImportOptions.declaration("model_label").help,
        )
        ImageImportOptions.add_options(parser, ("layout", "condition", "create_groups"))
        add_person_argument(parser)

    def handle(self, *args: Any, **options: Any) -> None:
        by = person(options["by"])
        chosen = ImageImportOptions.read(ImageImportOptions.chosen(options))
        progress = self.progress("Importing")
        report = import_images(
            study=_study(options["study"], create=options["create"], by=by, layout=chosen.layout),
            path=options["path"],
            options=chosen,
            by=by,
            progress=progress,
        )
        progress.finish()
        self.stdout.write(str(report))
        if report.new_groups:
            self.stdout.write(f"New groups: {', '.join(report.new_groups)}")
        for title, remarks in (
            ("Repaired", report.repaired),
            ("Duplicate, kept once", report.duplicates),
            ("Rejected", report.rejected),
        ):
            for remark in remarks[:_SHOWN]:
                self.stdout.write(f"{title}: {remark}")
            if len(remarks) > _SHOWN:
                self.stdout.write(f"{title}: … and {len(remarks) - _SHOWN:,} more")


def _study(name: str, *, create: bool, by: User | None, layout: str) -> Study:
    study = find_study(name)
    if study is not None:
        return study
    if not create:
        raise NotFound("study_not_found", f"There is no study “{name}”; add --create to create it.")
    protocol = Study.Protocol.PAIRS if layout == "pairs" else Study.Protocol.VISAGE
    return create_study(name=name, resource=None, groups=[], by=by, protocol=protocol)
