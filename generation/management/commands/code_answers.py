import argparse
from typing import Any

from accounts.commands import add_person_argument, person
from foundation.commands import DomainCommand
from generation.management.arguments import study_named
from generation.probing.codings import code_by_rules


class Command(DomainCommand):
    help = "Code models’ answers: what each says, by rules. Repeat it after more answers; nothing is coded twice."
    example = "python manage.py code_answers --study Pairs"

    def add_arguments(self, parser: argparse.ArgumentParser) -> None:
        parser.add_argument("--study", required=True, metavar="NAME", help="the study's name or slug")
        parser.add_argument("--coder", choices=["rules"], default="rules")
        add_person_argument(parser)

    def handle(self, *args: Any, **options: Any) -> None:
        progress = self.progress("Coding")
        try:
            result = code_by_rules(
                study=study_named(options["study"]), by=person(options["by"]), progress=progress
            )
        finally:
            progress.finish()
        self.stdout.write(str(result))
