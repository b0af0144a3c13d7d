import os
import sys
from argparse import ArgumentParser
from typing import Any

from django.contrib.auth import get_user_model
from django.db import connection
from django.db.migrations.executor import MigrationExecutor

from foundation.commands import DomainCommand
from foundation.errors import DomainError
from operations.server import Address, serve


class Command(DomainCommand):
    requires_system_checks = "__all__"
    help = (
        "Run the web server and one background worker until Ctrl-C or SIGTERM. If the worker dies, a new "
        "worker starts. If the web server dies, the command exits with 1. This command is for a single "
        "machine; docs/operate describes larger installations."
    )
    example = "python manage.py serve --port 8010"

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument(
            "--port", type=int, default=None, help="port to listen on (default: $PORT, or else 8000)"
        )
        parser.add_argument(
            "--host",
            default="127.0.0.1",
            metavar="ADDRESS",
            help="address of this machine to listen on (default: 127.0.0.1, which only this machine can reach)",
        )

    def handle(self, *args: Any, **options: Any) -> None:
        port = self._port() if options["port"] is None else options["port"]
        if not 1 <= port <= 65535:
            self.usage_error(f"--port {port} is not a port; give a number from 1 to 65535.")
        address = Address(host=options["host"], port=port)
        _ensure_migrated()
        address.ensure_free()
        sys.exit(serve(address, when_ready=lambda: self._welcome(address), say=self._say))

    def _port(self) -> int:
        text = os.environ.get("PORT") or "8000"
        if not text.isdecimal():
            self.usage_error(f"PORT={text} is not a port; give a number from 1 to 65535.")
        return int(text)

    def _welcome(self, address: Address) -> None:
        self.stdout.write(
            f"Stereoscope is at {address.url}. Press Ctrl-C to stop the web server and the worker."
        )
        if not get_user_model().objects.filter(is_superuser=True, is_active=True).exists():
            self.stdout.write("There is no administrator yet: run “python manage.py createsuperuser”.")
        self.stdout.flush()
        connection.close()  # leave no connection open while the child processes run

    def _say(self, text: str) -> None:
        self.stderr.write(text, str)


def _ensure_migrated() -> None:
    """Raise DomainError `not_migrated` if the database lacks migrations of this version."""
    executor = MigrationExecutor(connection)
    waiting = len(executor.migration_plan(executor.loader.graph.leaf_nodes()))
    if waiting:
        raise DomainError(
            "not_migrated", f"The database lacks {waiting} migrations; run “python manage.py migrate” first."
        )
