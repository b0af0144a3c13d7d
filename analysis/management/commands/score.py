import argparse
from pathlib import Path
from typing import Any

from django.urls import reverse

from accounts.commands import add_person_argument, person
from analysis.models import Scorer
from analysis.scoring.backends.choices import ASSOCIATIONS, CAPTIONS
from analysis.scoring.inputs.ngrams import keep_ngrams
from analysis.scoring.launch import plan_scorer, start, start_here
from analysis.scoring.parameters import DEFAULT_MODELS, KINDS
from foundation.commands import DomainCommand
from foundation.errors import DomainError
from generation.management.arguments import add_parameters_argument, parameters, positive, study_named


class Command(DomainCommand):
    help = (
        "Score a study's images with models: CLIP scores of attributes, captions, classifiers of captions or "
        "associations, a judge of associations, "
        "or the vectors that stereotypical pull and MCAS compare. If you run the command again, it continues where it "
        "stopped."
    )
    example = (
        "python manage.py score --study Isles --scorer clip --model ViT-B-32 --pretrained laion2b_s34b_b79k\n"
        "  python manage.py score --study Isles --scorer captions --model ./bart --param captions=50 --queue\n"
        "  python manage.py score --study Words --scorer judge --of associations --model gpt-4o-mini"
    )

    def add_arguments(self, parser: argparse.ArgumentParser) -> None:
        parser.add_argument("--study", required=True, metavar="NAME", help="name or short name of the study")
        parser.add_argument("--scorer", required=True, choices=KINDS)
        parser.add_argument(
            "--model",
            default="",
            metavar="ID",
            help="architecture of open_clip, folder, JSON configuration or hub id "
            f"(clip, pull, mcas: {DEFAULT_MODELS['clip']})",
        )
        parser.add_argument(
            "--pretrained", metavar="TAG", help="clip, pull, mcas: checkpoint, as an open_clip tag or a file"
        )
        parser.add_argument(
            "--ngrams", type=Path, metavar="FILE", help="captions: file with one n-gram per line"
        )
        parser.add_argument(
            "--of",
            choices=(CAPTIONS, ASSOCIATIONS),
            help="sentiment, toxicity, judge: what is scored, captions or associations of words with descriptors "
            "(a judge always scores associations)",
        )
        parser.add_argument(
            "--label", default="", help="name of the scorer in tables (default: derived from the model)"
        )
        parser.add_argument(
            "--device",
            default="",
            help="device to compute on, such as cuda or cpu (default: the fastest available)",
        )
        parser.add_argument(
            "--batch-size",
            type=positive,
            metavar="N",
            help="number of images scored at once; reduced if memory runs out",
        )
        parser.add_argument("--queue", action="store_true", help="queue a job for a background worker")
        add_parameters_argument(
            parser,
            help="a parameter of the scorer, such as 'templates=[\"a photo of {attr}\"]'; may be repeated",
        )
        add_person_argument(parser)

    def handle(self, *args: Any, **options: Any) -> None:
        by = person(options["by"])
        scorer = plan_scorer(
            study=study_named(options["study"]),
            kind=options["scorer"],
            model_id=options["model"],
            parameters=_parameters(options),
            label=options["label"],
            by=by,
        )
        how: dict[str, Any] = {"by": by, "device": options["device"], "batch_size": options["batch_size"]}
        if options["queue"]:
            job = start(scorer=scorer, **how)
            self.stdout.write(f"Queued as job {job.pk}.")
            return
        progress = self.progress("Scoring")
        job = start_here(scorer=scorer, progress=progress, **how)
        progress.finish()
        self.stdout.write(job.result["summary"])
        self.stdout.write(_where(scorer))


def _parameters(options: dict[str, Any]) -> dict[str, Any]:
    values = parameters(options["param"])
    if options["of"] is not None:
        values["of"] = options["of"]
    if options["pretrained"] is not None:
        values["pretrained"] = options["pretrained"]
    if options["ngrams"] is not None:
        try:
            values["ngrams"] = keep_ngrams(options["ngrams"].read_bytes())
        except OSError as error:
            raise DomainError(
                "ngrams_unreadable", f"{options['ngrams']} cannot be read: {error.strerror}."
            ) from None
    return values


def _where(scorer: Scorer) -> str:
    page = reverse("scoring:list", args=[scorer.study.slug])
    return (
        f"To see the scores, use “python manage.py analyze --study {scorer.study.slug} --output DIR” or "
        f"open {page}."
    )
