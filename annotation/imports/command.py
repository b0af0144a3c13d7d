"""What the commands that import labels share: watching the import, and saying what became of the rows."""

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
    """A command that imports labels and tells of every row whether it was kept, repaired or rejected."""

    def add_report_arguments(self, parser: CommandParser) -> None:
        """Add `--output` and `--by`."""
        parser.add_argument(
            "--output",
            type=Path,
            metavar="DIR",
            help="where rejected.csv goes (default: imports/<study>/ in var)",
        )
        add_person_argument(parser)

    def run_import(
        self, importing: Callable[..., ImportReport], *, output: Path | None, **given: Any
    ) -> None:
        """Call `importing` with what is given and a progress reporter, then print its report."""
        progress = self.progress("Importing")
        try:
            report = importing(progress=progress, **given)
        finally:
            progress.finish()
        for line in report.lines():
            self.stdout.write(line)
        if not report.already:
            folder = output or settings.VAR / "imports" / report.study.slug
            self.stdout.write(f"rejected rows: {write_rejected(report.reports, folder)}")
