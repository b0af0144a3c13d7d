from typing import Any

from django.core.management.base import CommandParser

from accounts.models import Annotator
from foundation.commands import DomainCommand
from foundation.errors import DomainError, NotFound
from privacy.erasure.erase import erase_annotator


class Command(DomainCommand):
    help = (
        "Erase an annotator in all studies: the account, what they said about themselves, links, ids and sign-ins. "
        "Answers are deleted or kept under a nameless code, as the consent texts promised. Erasing cannot be undone."
    )
    example = "python manage.py erase_annotator A-7QK3M9XD --confirm A-7QK3M9XD"

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("code", metavar="ID", help="the annotator’s code, as pages for leads show it")
        parser.add_argument("--confirm", default="", metavar="ID", help="the same code again, to confirm")

    def handle(self, **options: Any) -> None:
        annotator = Annotator.objects.filter(pseudonym=options["code"]).first()
        if annotator is None:
            raise NotFound("annotator_not_found", f"There is no annotator {options['code'][:40]}.")
        if options["confirm"] != annotator.pseudonym:
            raise DomainError(
                "erasure_not_confirmed",
                f"Erasing cannot be undone. Add --confirm {annotator.pseudonym} to erase this annotator.",
            )
        report = erase_annotator(annotator=annotator, by=None)
        self.stdout.write(
            f"Erased one person from {report.studies} studies: {report.answers_deleted:,} answers deleted, "
            f"{report.answers_kept:,} kept under a nameless code, {report.entries_redacted} entries of the history "
            "emptied."
        )
