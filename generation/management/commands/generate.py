import argparse
from typing import Any

from django.db.models import Q

from accounts.commands import add_person_argument, person
from accounts.models import User
from catalog.models import Resource
from foundation.commands import DomainCommand
from foundation.errors import Conflict, NotFound
from generation.backends import BACKENDS
from generation.management.arguments import add_parameters_argument, amount, find_study, parameters, positive
from generation.prompts.creation import set_prompts
from generation.prompts.mcas import create_published_mcas_study
from generation.prompts.scenarios import create_parallel_study
from generation.prompts.sets import PUBLISHED, PromptSet, prompt_set
from generation.runs.estimates import estimate, estimate_words
from generation.runs.execution import reopen_failed
from generation.runs.launch import start, start_here
from generation.runs.planning import plan_run
from jobs.run.teams import MOST_WORKERS, team_of
from studies.models import Study
from studies.protocol.creation import create_study
from studies.protocol.descriptors import create_descriptor_study


class Command(DomainCommand):
    help = (
        "Plan a study’s images and generate them here, or queue them for a worker. Run the command again to "
        "continue."
    )
    example = "python manage.py generate --study Isles --prompt-set visage-pull --backend diffusers --model ./weights"

    def add_arguments(self, parser: argparse.ArgumentParser) -> None:
        parser.add_argument("--study", required=True, metavar="NAME", help="name or short name of the study")
        parser.add_argument("--backend", choices=sorted(BACKENDS), default="sketch")
        parser.add_argument("--model", default="", metavar="ID", help="pipeline folder or hub id")
        parser.add_argument(
            "--label", default="", help="name of the model in reports (default: derived from its id)"
        )
        parser.add_argument(
            "--prompt",
            action="append",
            default=[],
            metavar="TEXT",
            help="a prompt for a study without prompts, such as 'a photo of {a_an} {id} person'; may be repeated",
        )
        parser.add_argument(
            "--images-per-prompt", type=positive, default=5, metavar="N", help="with --prompt (default: 5)"
        )
        parser.add_argument(
            "--prompt-set",
            metavar="NAME",
            help=f"a prompt set: that of a published protocol ({', '.join(PUBLISHED)}) or a .toml file",
        )
        parser.add_argument(
            "--variant", default="", help="a variant of the prompt set, such as dall-e-2 of mcas"
        )
        parser.add_argument(
            "--create",
            action="store_true",
            help="create the study if it does not exist: from mcas or pairs-parallel, or with --resource",
        )
        parser.add_argument(
            "--resource", metavar="NAME", help="with --create: all identity groups of this resource"
        )
        parser.add_argument("--price", type=amount, help="price of one image, for paid models")
        parser.add_argument("--budget", type=amount, help="stop before the run costs more than this")
        parser.add_argument(
            "--dry-run", action="store_true", help="only print the number of images, the time and the cost"
        )
        parser.add_argument("--limit", type=positive, metavar="N", help="generate at most N images now")
        parser.add_argument("--queue", action="store_true", help="queue a job for a background worker")
        parser.add_argument(
            "--workers",
            type=positive,
            default=1,
            metavar="N",
            help=f"with --queue: spread the images over N workers (default: 1, at most {MOST_WORKERS})",
        )
        parser.add_argument("--retry-failed", action="store_true", help="try failed images again")
        add_parameters_argument(parser, help="a parameter of the back-end, as NAME=VALUE; may be repeated")
        add_person_argument(parser)

    def handle(self, *args: Any, **options: Any) -> None:
        by = person(options["by"])
        if options["workers"] > 1 and not options["queue"]:
            self.usage_error("--workers needs --queue: without it, one process generates the images.")
        prompt_set = _prompt_set(options)
        study = self._study(options, prompt_set, by)
        self._write_prompts(study, options, by)
        plan = {
            "study": study,
            "backend": options["backend"],
            "model_id": options["model"],
            "model_label": options["label"],
            "parameters": parameters(options["param"]),
            "prompt_set": prompt_set,
            "price": options["price"],
            "budget": options["budget"],
        }
        if options["dry_run"]:
            self.stdout.write(estimate_words(estimate(**plan)))
            return
        run = plan_run(**plan, by=by)
        if options["retry_failed"]:
            self.stdout.write(f"{reopen_failed(run=run):,} failed requests are repeated.")
        if options["queue"]:
            job = start(run=run, by=by, limit=options["limit"], workers=options["workers"])
            numbers = [str(pk) for pk in team_of(job).values_list("pk", flat=True)]
            self.stdout.write(f"Queued as job{'s' if len(numbers) > 1 else ''} {', '.join(numbers)}.")
            return
        progress = self.progress("Generating")
        try:
            job = start_here(run=run, by=by, limit=options["limit"], progress=progress)
        finally:
            progress.finish()
        self.stdout.write(job.result["summary"])

    def _study(self, options: dict[str, Any], prompt_set: PromptSet | None, by: User | None) -> Study:
        name = options["study"]
        study = find_study(name)
        if study is not None:
            return study
        if not options["create"]:
            raise NotFound("study_not_found", f"There is no study “{name}”.")
        if prompt_set is not None and prompt_set.has_phrases:
            study = create_published_mcas_study(name=name, published=prompt_set, by=by)
        elif prompt_set is not None and prompt_set.persons:
            study = create_parallel_study(name=name, prompt_set=prompt_set, by=by)
        elif prompt_set is not None and prompt_set.has_descriptors and options["resource"]:
            study = create_descriptor_study(name=name, resource=_resource_named(options["resource"]), by=by)
        elif options["resource"]:
            resource = _resource_named(options["resource"])
            study = create_study(name=name, resource=resource, groups=resource.groups.all(), by=by)
        else:
            self.usage_error(
                "--create needs --resource, or a --prompt-set with groups of its own, such as mcas or pairs-parallel."
            )
        self.stdout.write(f"Created the study {study}.")
        return study

    def _write_prompts(self, study: Study, options: dict[str, Any], by: User | None) -> None:
        if not options["prompt"]:
            return
        if study.prompt_templates.exists():
            raise Conflict("prompts_exist", f"The study “{study}” already has prompts. Leave out --prompt.")
        set_prompts(
            study=study, templates=options["prompt"], images_per_prompt=options["images_per_prompt"], by=by
        )


def _resource_named(name: str) -> Resource:
    resource = Resource.objects.filter(Q(name=name) | Q(slug=name)).first()
    if resource is None:
        raise NotFound("resource_not_found", f"There is no resource “{name}”.")
    return resource


def _prompt_set(options: dict[str, Any]) -> PromptSet | None:
    name = options["prompt_set"]
    return prompt_set(name, variant=options["variant"]) if name else None
