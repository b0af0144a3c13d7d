import os
from pathlib import Path
from typing import Any

from django.core.management.base import CommandParser

from foundation.commands import DomainCommand
from operations.backups.create import KEPT, backup
from operations.backups.pace import BESIDE_PEOPLE, FULL_SPEED

_NICE = 19  # give priority to people who label


class Command(DomainCommand):
    help = (
        "Back up the database and all files into a folder. People can keep labelling during the backup. "
        "Files that an earlier backup in the folder contains are not copied again."
    )
    example = "python manage.py backup /srv/backups/stereoscope --keep 14"

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument(
            "folder",
            type=Path,
            metavar="FOLDER",
            help="folder of backups, created if it does not exist",
        )
        parser.add_argument(
            "--keep",
            type=int,
            default=KEPT,
            metavar="NUMBER",
            help=f"number of backups to keep in the folder (default {KEPT})",
        )
        parser.add_argument(
            "--jobs",
            type=int,
            default=1,
            metavar="NUMBER",
            help="number of connections that dump PostgreSQL (default 1)",
        )
        parser.add_argument(
            "--full-speed",
            action="store_true",
            help="do not pause between reads; for times when nobody is labelling (PostgreSQL; by default, the backup "
            "pauses half of the time)",
        )

    def handle(self, **options: Any) -> None:
        os.nice(_NICE)
        progress = self.progress()
        report = backup(
            folder=options["folder"],
            keep=options["keep"],
            jobs=options["jobs"],
            pace=FULL_SPEED if options["full_speed"] else BESIDE_PEOPLE,
            progress=progress,
        )
        progress.finish()
        if report.interrupted:
            self.stdout.write(
                "An earlier backup was interrupted. The incomplete files of that backup were removed."
            )
        manifest = report.manifest
        self.stdout.write(
            f"Backup {report.backup_name}: {manifest.rows:,} rows of {len(manifest.tables)} tables, "
            f"{manifest.files:,} files ({report.new_files:,} new, {report.new_bytes:,} bytes). To restore "
            f"the backup, you need the SECRET_KEY with the fingerprint {manifest.keys[0]}."
        )
        if report.removed:
            self.stdout.write(f"Removed {', '.join(report.removed)} (--keep {options['keep']}).")
