"""Everything `make demo` does once Python is set up."""

import sys
from typing import Any

from django.conf import settings
from django.core.management import call_command
from django.core.management.base import CommandParser

from demo.server import ensure_port_free, serve
from foundation.commands import DomainCommand


class Command(DomainCommand):
    help = "Migrate, seed the demo study if it is not there, and run web server and worker until Ctrl-C."
    example = "make demo PORT=8010"

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--port", type=int, default=8000)
        parser.add_argument(
            "--model",
            default="",
            help="draw with this diffusers pipeline (folder or hub id) instead of sketches",
        )

    def handle(self, *args: Any, **options: Any) -> None:
        port = options["port"]
        if not 1 <= port <= 65535:
            self.usage_error(f"--port {port} is no port; give 1 to 65535.")
        ensure_port_free(port)
        self.stdout.write("Preparing the database …")
        call_command("migrate", verbosity=0)
        call_command("seed_demo", model=options["model"], stdout=self.stdout, stderr=self.stderr)
        sys.exit(serve(port=port, when_ready=lambda: self._welcome(port)))

    def _welcome(self, port: int) -> None:
        lines = ["", f"Stereoscope is at http://127.0.0.1:{port}", "", "Sign in as"]
        lines += [
            f"  {account['role']:<10} {account['username']:<10} {account['password']}"
            for account in settings.DEMO_ACCOUNTS
        ]
        lines += ["", "Ctrl-C stops it; what was labelled is kept.", ""]
        self.stdout.write("\n".join(lines))
        self.stdout.flush()
