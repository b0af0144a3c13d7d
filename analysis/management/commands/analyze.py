"""Compute every measure that a study's labels allow, and write the results to files."""

from pathlib import Path
from typing import Any

from django.core.management.base import CommandParser

from analysis.results.parameters import PRESETS, Parameters, parameters_of
from foundation.commands import DomainCommand
from foundation.errors import NotFound
from studies.models import Study


class Command(DomainCommand):
    help = "Compute every measure that the study's labels allow: CSV tables, summary.json and report.html."
    example = "python manage.py analyze --study visage-2026 --output results --resamples 2000"

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--study", required=True, metavar="NAME", help="name or short name of the study")
        parser.add_argument("--output", required=True, type=Path, metavar="DIR", help="folder to write to")
        parser.add_argument(
            "--preset",
            choices=tuple(PRESETS),
            help="use the choices of the published analysis of ViSAGe; other options that you give take precedence",
        )
        Parameters.add_options(parser)

    def handle(self, **options: Any) -> None:
        # Imported here: --help and usage errors need no numerical library.
        from analysis.results.compute import compute
        from analysis.results.data.labels import load
        from analysis.results.data.machine_scores import load_scores
        from analysis.results.output.folder import require_folder, write

        study = _study_named(options["study"])
        parameters = parameters_of(study, preset=options["preset"], **Parameters.chosen(options))
        require_folder(options["output"])
        progress = self.progress("Computing")
        results = compute(
            data=load(study=study, parameters=parameters),
            scores=load_scores(study),
            parameters=parameters,
            progress=progress,
        )
        progress.finish()
        for path in write(study=study, results=results, output=options["output"]):
            self.stdout.write(str(path))


def _study_named(name: str) -> Study:
    study = Study.objects.select_related("resource").filter(slug=name).first()
    study = study or Study.objects.select_related("resource").filter(name=name).first()
    if study is None:
        raise NotFound("study_not_found", f"There is no study named “{name}” (--study).")
    return study
