from pathlib import Path
from typing import Any

from django.core.management.base import CommandParser

from foundation.commands import DomainCommand
from operations.backups.restore import restore


class Command(DomainCommand):
    help = (
        "Restore a backup into an empty database and an empty file store. The backup is checked before "
        "anything is written."
    )
    example = "python manage.py restore /srv/backups/stereoscope"

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("folder", type=Path, metavar="FOLDER", help="a folder of backups")
        parser.add_argument(
            "--backup",
            default="",
            metavar="NAME",
            help="name of the backup, such as 2026-11-23T171500.123Z (default: the latest)",
        )
        parser.add_argument(
            "--again",
            action="store_true",
            help="after an interrupted restore: remove what the restore wrote and start again",
        )
        parser.add_argument(
            "--jobs",
            type=int,
            default=2,
            metavar="NUMBER",
            help="number of connections that restore PostgreSQL (default 2)",
        )

    def handle(self, **options: Any) -> None:
        progress = self.progress()
        report = restore(
            folder=options["folder"],
            backup_name=options["backup"],
            again=options["again"],
            jobs=options["jobs"],
            progress=progress,
        )
        progress.finish()
        manifest = report.manifest
        self.stdout.write(
            f"Restored {report.backup_name}: {manifest.rows:,} rows of {len(manifest.tables)} tables and "
            f"{manifest.files:,} files, all unchanged. {report.sessions_ended:,} sessions were ended, "
            f"{report.jobs_queued:,} jobs queued again, {report.letters_cancelled:,} e-mails cancelled, "
            f"{report.letters_held:,} e-mails with personal links held, "
            f"{report.bonuses_held:,} bonuses held."
        )
        if report.people_erased:
            self.stdout.write(
                f"People erased again, because they were erased after this backup: {report.people_erased:,}."
            )
        if report.people_not_erased:
            self.stdout.write(
                f"People not erased again, because a panel still has to pay them: "
                f"{report.people_not_erased:,}. Erase these people after they have been paid."
            )
        self.stdout.write("Start the web server and the workers. Everybody has to sign in again.")
