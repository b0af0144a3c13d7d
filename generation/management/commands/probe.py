import argparse
from typing import Any

from accounts.commands import add_person_argument, person
from foundation.commands import DomainCommand
from generation.answerers import ANSWERERS
from generation.answerers.parameters import BatchParameters
from generation.management.arguments import (
    add_parameters_argument,
    amount,
    parameters,
    positive,
    study_named,
)
from generation.models import ProbeRun
from generation.probing.estimates import estimate, estimate_words
from generation.probing.execution import reopen_failed
from generation.probing.launch import start, start_here
from generation.probing.planning import ProbePlan, plan_run
from generation.probing.probe_sets import PUBLISHED, probe_set


class Command(DomainCommand):
    help = (
        "Ask a model the questions of a probe set, here or in a background worker. Run the command again to "
        "continue."
    )
    example = (
        "python manage.py probe --study Pairs --probe-set pairs --backend chat --model gpt-4o-mini --dry-run"
    )

    def add_arguments(self, parser: argparse.ArgumentParser) -> None:
        parser.add_argument("--study", required=True, metavar="NAME", help="name or short name of the study")
        parser.add_argument(
            "--probe-set", required=True, metavar="NAME", help=f"{', '.join(PUBLISHED)}, or a .toml file"
        )
        parser.add_argument("--backend", choices=sorted(ANSWERERS), default="script")
        parser.add_argument(
            "--model", default="", metavar="ID", help="name of the model at the endpoint, or a folder"
        )
        parser.add_argument(
            "--label", default="", help="name of the model in reports (default: derived from its id)"
        )
        parser.add_argument(
            "--runs",
            type=positive,
            metavar="N",
            help="ask each question N times (default: as the probe set says)",
        )
        parser.add_argument(
            "--orders",
            choices=[str(order) for order in ProbeRun.Orders.values],
            default="",
            help="name the options in the published order, or in both orders (default: as the probe set says)",
        )
        parser.add_argument(
            "--samples-per-request",
            type=positive,
            default=1,
            metavar="N",
            help="ask for N answers in one request if the endpoint supports it (default: 1)",
        )
        parser.add_argument("--price-in", type=amount, metavar="X", help="price of a million input tokens")
        parser.add_argument("--price-out", type=amount, metavar="Y", help="price of a million output tokens")
        parser.add_argument(
            "--budget", type=amount, metavar="Z", help="stop before the run costs more than this"
        )
        parser.add_argument(
            "--dry-run", action="store_true", help="only print requests, tokens, time and cost"
        )
        parser.add_argument("--limit", type=positive, metavar="N", help="ask for at most N answers now")
        parser.add_argument("--queue", action="store_true", help="queue a job for a background worker")
        parser.add_argument(
            "--fresh", action="store_true", help="start a new run that reuses no earlier answers"
        )
        parser.add_argument("--retry-failed", action="store_true", help="ask failed requests again")
        add_parameters_argument(parser, help="a parameter of the back-end, as NAME=VALUE; may be repeated")
        BatchParameters.add_options(parser)
        add_person_argument(parser)

    def handle(self, *args: Any, **options: Any) -> None:
        by = person(options["by"])
        plan = _plan(options)
        if options["dry_run"]:
            self.stdout.write(estimate_words(estimate(plan)))
            return
        run = plan_run(plan=plan, by=by)
        if options["retry_failed"]:
            self.stdout.write(f"{reopen_failed(run=run):,} failed requests are repeated.")
        if options["queue"]:
            job = start(run=run, by=by, limit=options["limit"])
            self.stdout.write(f"Queued as job {job.pk}.")
            return
        progress = self.progress("Asking")
        try:
            job = start_here(run=run, by=by, limit=options["limit"], progress=progress)
        finally:
            progress.finish()
        self.stdout.write(job.result["summary"])


def _plan(options: dict[str, Any]) -> ProbePlan:
    return ProbePlan(
        study=study_named(options["study"]),
        probe_set=probe_set(options["probe_set"]),
        probe_set_name=options["probe_set"].rsplit("/", 1)[-1].removesuffix(".toml"),
        backend=options["backend"],
        model_id=options["model"],
        model_label=options["label"],
        parameters=parameters(options["param"]),
        runs=options["runs"],
        orders=options["orders"],
        samples_per_request=options["samples_per_request"],
        price_in=options["price_in"],
        price_out=options["price_out"],
        budget=options["budget"],
        fresh=options["fresh"],
        batches=BatchParameters.chosen(options),
    )
