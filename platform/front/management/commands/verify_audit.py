from typing import Any

from django.core.management.base import CommandParser

from foundation.commands import DomainCommand
from studies.audit.chain import seal_entries, verify


class Command(DomainCommand):
    help = (
        "Check that no entry of the audit trail was changed, removed or inserted. The command exits with 1 "
        "if the check fails."
    )
    example = "python manage.py verify_audit --head 5f0c…"

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument(
            "--head", default="", help="a digest that this command printed or that syslog received earlier"
        )

    def handle(self, *args: Any, **options: Any) -> None:
        seal_entries()
        found = verify(head=options["head"].strip().lower())
        for problem in found.problems:
            self.stderr.write(problem)
        if found.problems:
            raise SystemExit(1)
        self.stdout.write(f"{found.links:,} entries are unchanged.")
        if found.head:
            self.stdout.write(f"Latest digest: {found.head}")
