from pathlib import Path
from typing import Any

from django.core.management.base import CommandParser

from foundation.commands import DomainCommand
from operations.backups.verify import verify


class Command(DomainCommand):
    help = (
        "Restore a backup into a separate place, compare every row and file, compute one report again, and delete "
        "the restored copy."
    )
    example = "python manage.py verify_backup /srv/backups/stereoscope"

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("folder", type=Path, metavar="FOLDER", help="a folder of backups")
        parser.add_argument(
            "--backup", default="", metavar="NAME", help="name of the backup (default: the latest)"
        )
        parser.add_argument(
            "--database",
            default="",
            metavar="URL",
            help="an empty PostgreSQL database, needed if the server's user may not create databases",
        )
        parser.add_argument(
            "--scratch",
            type=Path,
            metavar="DIR",
            help="a folder with space for all files (default: the system's temporary folder)",
        )

    def handle(self, **options: Any) -> None:
        progress = self.progress()
        report = verify(
            folder=options["folder"],
            backup_name=options["backup"],
            database_url=options["database"],
            scratch=options["scratch"],
            progress=progress,
        )
        progress.finish()
        manifest = report.manifest
        self.stdout.write(
            f"Backup {report.backup_name} can be restored: {manifest.rows:,} rows of {len(manifest.tables)} "
            f"tables and "
            f"{manifest.files:,} files are unchanged."
        )
        if report.study:
            self.stdout.write(
                f"θ of {report.study} computed from the restored copy equals the stored value (inputs "
                f"{report.inputs_digest[:16]})."
            )
        else:
            self.stdout.write(
                "No stored report was up to date when the backup was made, so θ was not compared."
            )
