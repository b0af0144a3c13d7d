"""Everything `make demo` does once Python is set up."""

import sys
from typing import Any

from django.conf import settings
from django.core.management import call_command
from django.core.management.base import CommandParser

from foundation.commands import DomainCommand
from operations.server import Address, serve


class Command(DomainCommand):
    requires_system_checks = "__all__"
    help = (
        "Migrate the database, create the demo studies if they do not exist, and run web server and worker until "
        "Ctrl-C."
    )
    example = "make demo PORT=8010"

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--port", type=int, default=8000)
        parser.add_argument(
            "--model",
            default="",
            help="generate images with this diffusers pipeline (folder or hub id) instead of sketches",
        )

    def handle(self, *args: Any, **options: Any) -> None:
        port = options["port"]
        if not 1 <= port <= 65535:
            self.usage_error(f"--port {port} is not a port; give a number from 1 to 65535.")
        address = Address(host="127.0.0.1", port=port)
        address.ensure_free()
        self.stdout.write("Preparing the database …")
        call_command("migrate", verbosity=0)
        call_command("seed_demo", model=options["model"], stdout=self.stdout, stderr=self.stderr)
        sys.exit(serve(address, when_ready=lambda: self._welcome(address), say=self._say))

    def _welcome(self, address: Address) -> None:
        lines = ["", f"Stereoscope is at {address.url}", "", "Sign in as"]
        lines += [
            f"  {account['role']:<14} {account['username']:<12} {account['password']}"
            for account in settings.DEMO_ACCOUNTS
        ]
        lines += ["", "Press Ctrl-C to stop. All labels are kept.", ""]
        self.stdout.write("\n".join(lines))
        self.stdout.flush()

    def _say(self, text: str) -> None:
        self.stderr.write(text, str)
