import os
from pathlib import Path
from typing import Any

from django.core.management.base import CommandParser

from foundation.commands import DomainCommand
from operations.backups.create import KEPT, backup
from operations.backups.pace import BESIDE_PEOPLE, FULL_SPEED

_NICE = 19  # people who label come first


class Command(DomainCommand):
    help = (
        "Back up the database and all files into a folder, also while people label. Files that an earlier backup "
        "there contains are not copied again."
    )
    example = "python manage.py backup /srv/backups/stereoscope --keep 14"

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument(
            "folder",
            type=Path,
            metavar="FOLDER",
            help="a folder of backups; it is created if it does not exist",
        )
        parser.add_argument(
            "--keep",
            type=int,
            default=KEPT,
            metavar="NUMBER",
            help=f"how many backups to keep there (default {KEPT})",
        )
        parser.add_argument(
            "--jobs",
            type=int,
            default=1,
            metavar="NUMBER",
            help="how many connections dump PostgreSQL (default 1)",
        )
        parser.add_argument(
            "--full-speed",
            action="store_true",
            help="do not pause, for times in which nobody labels (PostgreSQL; otherwise it pauses half of the time)",
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
            self.stdout.write("An earlier backup was interrupted; what it left was removed.")
        manifest = report.manifest
        self.stdout.write(
            f"Backup {report.backup_name}: {manifest.rows:,} rows of {len(manifest.tables)} tables, {manifest.files:,} "
            f"files ({report.new_files:,} new, {report.new_bytes:,} bytes). It needs the SECRET_KEY with the "
            f"fingerprint {manifest.keys[0]}."
        )
        if report.removed:
            self.stdout.write(f"Removed {', '.join(report.removed)} (--keep {options['keep']}).")
