"""Base class of commands that import labels, with progress and a report."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

from django.conf import settings
from django.core.management.base import CommandParser

from accounts.commands import add_person_argument
from annotation.imports.importer import ImportReport
from foundation.commands import DomainCommand
from foundation.tables.report import write_rejected


class ImportCommand(DomainCommand):
    """A command that imports labels and reports which rows were kept, repaired or rejected."""

    def add_report_arguments(self, parser: CommandParser) -> None:
        """Add `--output` and `--by`."""
        parser.add_argument(
            "--output",
            type=Path,
            metavar="DIR",
            help="folder for rejected.csv (default: imports/<study>/ in var)",
        )
        add_person_argument(parser)

    def run_import(
        self, import_labels: Callable[..., ImportReport], *, output: Path | None, **options: Any
    ) -> None:
        """Call `import_labels` with the options and a progress reporter, then print its report."""
        progress = self.progress("Importing")
        try:
            report = import_labels(progress=progress, **options)
        finally:
            progress.finish()
        for line in report.lines():
            self.stdout.write(line)
        if not report.unchanged:
            folder = output or settings.VAR / "imports" / report.study.slug
            self.stdout.write(f"rejected rows: {write_rejected(report.reports, folder)}")
