"""Django's `migrate` for a server in use: if a lock is not free, the migration is tried again."""

import time
from typing import Any

from django.core.management.base import CommandError, CommandParser
from django.core.management.commands import migrate
from django.db import OperationalError

_LOCK_NOT_AVAILABLE = "55P03"  # PostgreSQL's code for an expired lock_timeout
_PATIENCE_SECONDS = 600
_PAUSE_SECONDS = 1.0


class Command(migrate.Command):
    """Retries migrations; a migration that got no lock is rolled back, and the next attempt begins with it."""

    def add_arguments(self, parser: CommandParser) -> None:
        super().add_arguments(parser)
        parser.add_argument(
            "--patience",
            type=int,
            default=_PATIENCE_SECONDS,
            metavar="SECONDS",
            help=f"seconds to keep trying while a table is in use, on PostgreSQL (default {_PATIENCE_SECONDS})",
        )

    def handle(self, *args: Any, **options: Any) -> None:
        last_attempt = time.monotonic() + options["patience"]
        while True:
            try:
                super().handle(*args, **options)
            except OperationalError as error:
                if getattr(error.__cause__, "sqlstate", None) != _LOCK_NOT_AVAILABLE:
                    raise
                if time.monotonic() > last_attempt:
                    raise CommandError(
                        "A table is in use by a long statement, such as a backup. The migration was rolled back. Run "
                        "“migrate” again later. Earlier migrations remain applied."
                    ) from error
            else:
                return
            if options["verbosity"] > 0:
                self.stdout.write(" a table is in use; trying again …")
            time.sleep(_PAUSE_SECONDS)
