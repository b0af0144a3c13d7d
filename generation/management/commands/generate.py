import argparse
import json
from typing import Any

from accounts.errors import Conflict, DomainError, NotFound
from accounts.models import User
from generation.backends import BACKENDS
from generation.creating import set_prompts
from generation.models import GenerationRun
from generation.planning import plan_run
from generation.running import reopen_failed
from generation.starting import start, start_here
from jobs.console import DomainCommand
from studies.models import Study


class Command(DomainCommand):
    help = "Plan the images of a study and make them here, or queue them for a worker. Run again, it goes on."
    example = "python manage.py generate --study Isles --backend diffusers --model ./weights --limit 10"

    def add_arguments(self, parser: argparse.ArgumentParser) -> None:
        parser.add_argument("--study", required=True, metavar="NAME", help="the study's name or slug")
        parser.add_argument("--backend", choices=sorted(BACKENDS), default="sketch")
        parser.add_argument("--model", default="", metavar="ID", help="pipeline folder or hub id")
        parser.add_argument("--label", default="", help="how reports name the model (default: from its id)")
        parser.add_argument(
            "--prompt",
            action="append",
            default=[],
            metavar="TEXT",
            help="for a study without prompts, e.g. 'a photo of {a_an} {id} person'; may be repeated",
        )
        parser.add_argument(
            "--images-per-prompt", type=_positive, default=5, metavar="N", help="with --prompt (default: 5)"
        )
        parser.add_argument("--limit", type=_positive, metavar="N", help="make at most N images now")
        parser.add_argument("--queue", action="store_true", help="let a background worker do it")
        parser.add_argument("--retry-failed", action="store_true", help="ask again for images that failed")
        parser.add_argument(
            "--param",
            action="append",
            default=[],
            metavar="NAME=VALUE",
            help="a parameter of the back-end; may be repeated",
        )
        self.add_person_argument(parser)

    def handle(self, *args: Any, **options: Any) -> None:
        by = self.person(options["by"])
        run = self._plan(options, by)
        if options["retry_failed"]:
            self.stdout.write(f"{reopen_failed(run=run):,} failed requests are asked again.")
        if options["queue"]:
            job = start(run=run, by=by, limit=options["limit"])
            self.stdout.write(f"Queued as job {job.pk}.")
            return
        progress = self.progress("Generating")
        job = start_here(run=run, by=by, limit=options["limit"], progress=progress)
        progress.finish()
        self.stdout.write(job.result["summary"])

    def _plan(self, options: dict[str, Any], by: User | None) -> GenerationRun:
        name = options["study"]
        study = Study.objects.filter(name=name).first() or Study.objects.filter(slug=name).first()
        if study is None:
            raise NotFound("study_not_found", f"There is no study “{name}”.")
        if options["prompt"]:
            if study.prompt_templates.exists():
                raise Conflict(
                    "prompts_exist", f"The study “{study}” has its prompts already; leave out --prompt."
                )
            set_prompts(
                study=study,
                templates=options["prompt"],
                images_per_prompt=options["images_per_prompt"],
                by=by,
            )
        return plan_run(
            study=study,
            backend=options["backend"],
            model_id=options["model"],
            model_label=options["label"],
            parameters=_parameters(options["param"]),
            by=by,
        )


def _parameters(pairs: list[str]) -> dict[str, Any]:
    parameters: dict[str, Any] = {}
    for pair in pairs:
        name, equals, value = pair.partition("=")
        if not equals or not name:
            raise DomainError("parameter_invalid", f"Write --param as NAME=VALUE, not “{pair}”.")
        # A number or an object is meant as one; anything else is text.
        try:
            parameters[name] = json.loads(value)
        except ValueError:
            parameters[name] = value
    return parameters


def _positive(text: str) -> int:
    if not text.isdigit() or int(text) < 1:
        raise argparse.ArgumentTypeError(f"{text!r} is not a whole number of at least 1")
    return int(text)
