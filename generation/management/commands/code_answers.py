import argparse
from typing import Any

from accounts.commands import add_person_argument, person
from foundation.commands import DomainCommand
from foundation.errors import DomainError
from generation.management.arguments import amount, positive, study_named
from generation.probing.codings import code_by_rules
from generation.probing.model_coder import CoderPlan, code_by_model, uncoded_answers

_OF_MODELS = ("model", "endpoint", "price_in", "price_out", "budget", "limit")


class Command(DomainCommand):
    help = (
        "Code models’ answers, by rules or by a model. Run the command again when there are more answers; "
        "no answer is coded twice. Codings by a model are shown and compared with people’s, but never decide how "
        "an answer is coded."
    )
    example = "python manage.py code_answers --study Pairs"

    def add_arguments(self, parser: argparse.ArgumentParser) -> None:
        parser.add_argument("--study", required=True, metavar="NAME", help="name or short name of the study")
        parser.add_argument("--coder", choices=["rules", "model"], default="rules")
        parser.add_argument(
            "--model",
            metavar="ID",
            help="with --coder model: the model at the endpoint that codes the answers",
        )
        parser.add_argument(
            "--endpoint",
            metavar="URL",
            help="an endpoint that the operator allows (default: the first endpoint)",
        )
        parser.add_argument("--price-in", type=amount, metavar="X", help="price of a million input tokens")
        parser.add_argument("--price-out", type=amount, metavar="Y", help="price of a million output tokens")
        parser.add_argument(
            "--budget",
            type=amount,
            metavar="Z",
            help="stop before the model's codings of this study cost more than this",
        )
        parser.add_argument(
            "--limit", type=positive, metavar="N", help="let the model code at most N answers now"
        )
        parser.add_argument(
            "--unsure",
            action="store_true",
            help="let the model code only answers that the rules are not sure of",
        )
        parser.add_argument(
            "--dry-run", action="store_true", help="only print how many answers the model would code"
        )
        add_person_argument(parser)

    def handle(self, *args: Any, **options: Any) -> None:
        study, by = study_named(options["study"]), person(options["by"])
        if options["coder"] == "model":
            if not options["model"]:
                raise DomainError("model_missing", "Name the model that codes the answers: use --model.")
        elif given := [name for name in _OF_MODELS if options[name] is not None]:
            raise DomainError(
                "coder_takes_no_options",
                f"--{given[0].replace('_', '-')} needs --coder model, because rules cost nothing.",
            )
        progress = self.progress("Coding")
        try:
            if options["coder"] == "rules":
                result: object = code_by_rules(study=study, by=by, progress=progress)
            else:
                plan = CoderPlan(
                    study=study,
                    model_id=options["model"],
                    endpoint=options["endpoint"] or "",
                    price_in=options["price_in"],
                    price_out=options["price_out"],
                    budget=options["budget"],
                    limit=options["limit"],
                    unsure_only=options["unsure"],
                )
                if options["dry_run"]:
                    result = f"{uncoded_answers(plan).count():,} answers to code."
                else:
                    result = code_by_model(plan=plan, by=by, progress=progress)
        finally:
            progress.finish()
        self.stdout.write(str(result))
