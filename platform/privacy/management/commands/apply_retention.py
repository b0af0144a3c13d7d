from typing import Any

from django.core.management.base import CommandParser
from django.utils.timezone import localtime

from foundation.commands import DomainCommand
from privacy.models import RetentionRun
from privacy.retention.apply import apply_retention
from privacy.retention.rules import RULES


class Command(DomainCommand):
    help = (
        "Remove data about people that is no longer needed, by the rules that RETAIN_… settings switch on. "
        "Workers apply the rules once a day; this command applies the rules now and lists what was removed."
    )
    example = "python manage.py apply_retention --dry-run"

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--dry-run", action="store_true", help="only show what would be removed")

    def handle(self, **options: Any) -> None:
        latest_run = RetentionRun.objects.order_by("-applied_at").first()
        when = f"{localtime(latest_run.applied_at):%Y-%m-%d %H:%M}" if latest_run else "never"
        removed = apply_retention(by=None, dry_run=options["dry_run"])
        for rule in RULES:
            if rule.days is None:
                self.stdout.write(f"{rule.key}: kept ({rule.setting} is not set).")
            else:
                effect = "would be removed" if options["dry_run"] else "removed"
                self.stdout.write(
                    f"{rule.key}: {removed[rule.key]:,} {effect}, {rule.days} days after {rule.since}."
                )
        self.stdout.write(f"Last application of the rules: {when}.")
