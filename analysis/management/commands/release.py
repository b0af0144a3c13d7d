"""Build the dataset of a study as a versioned folder that others can load."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from django.core.management.base import CommandParser

from accounts.commands import add_person_argument, person
from analysis.releases.parameters import ReleaseParameters
from foundation.commands import DomainCommand
from foundation.errors import DomainError, NotFound
from studies.models import Study


class Command(DomainCommand):
    help = (
        "Build a study's dataset: annotator-level tables, images, boxes, data card, codebook and checksums."
    )
    example = "python manage.py release --study visage-2026 --output visage-2026-release --k 5"

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--study", required=True, metavar="NAME", help="name or short name of the study")
        parser.add_argument("--output", required=True, type=Path, metavar="DIR", help="folder to write to")
        ReleaseParameters.add_options(parser)
        parser.add_argument(
            "--without-images", action="store_true", help="Leave the image files out of the release."
        )
        add_person_argument(parser)

    def handle(self, **options: Any) -> None:
        # Imported here: --help and usage errors need no library for tables.
        from analysis.releases.assembly.build import build

        parameters = self._parameters(options)
        study = _study_named(options["study"])
        progress = self.progress("Releasing")
        release = build(
            study=study,
            parameters=parameters,
            output=options["output"],
            by=person(options["by"]),
            progress=progress,
        )
        progress.finish()
        self.stdout.write(f"{options['output']}: version {release.version} of {study.name}")
        for name, rows in release.facts["rows"].items():
            self.stdout.write(f"  {name}: {rows:,} rows")
        for line in privacy_lines(options["output"]):
            self.stdout.write(f"  {line}")

    def _parameters(self, options: dict[str, Any]) -> ReleaseParameters:
        try:
            parameters = ReleaseParameters.read(ReleaseParameters.chosen(options))
            if not options["without_images"]:
                return parameters
            without = [name for name in parameters.formats if name != "images"]
            return ReleaseParameters.read({**parameters.model_dump(), "formats": without})
        except DomainError as error:
            self.usage_error(error.message)


def privacy_lines(folder: Path) -> Iterator[str]:
    """Yield the findings of a release's privacy check, from the release's file."""
    privacy = json.loads((folder / "privacy.json").read_text(encoding="utf-8"))
    if privacy["smallest"] is not None:
        yield f"profiles: every combination belongs to {privacy['smallest']:,} people or more"
    joined = privacy["joined"]
    if joined is not None and joined["smallest"] is not None:
        versions = ", ".join(map(str, joined["releases"]))
        yield f"combined with releases {versions}: every combination belongs to {joined['smallest']:,} people or more"
    if privacy["left_out"]:
        yield f"left out: {privacy['left_out']:,} people who could not be protected otherwise"


def _study_named(name: str) -> Study:
    study = Study.objects.filter(slug=name).first() or Study.objects.filter(name=name).first()
    if study is None:
        raise NotFound("study_not_found", f"There is no study named “{name}” (--study).")
    return study
