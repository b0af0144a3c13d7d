"""Compute every measure a study's labels allow and write them as files."""

from pathlib import Path
from typing import Any

from django.core.management.base import CommandParser

from analysis.results.parameters import PRESETS, parameters_of
from catalog.raters import RaterPools
from foundation.commands import DomainCommand
from foundation.errors import NotFound
from studies.models import Study


class Command(DomainCommand):
    help = "Compute every measure that the study's labels allow: CSV tables, summary.json and report.html."
    example = "python manage.py analyze --study visage-2026 --output results --resamples 2000"

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--study", required=True, metavar="NAME", help="name or slug of the study")
        parser.add_argument("--output", required=True, type=Path, metavar="DIR", help="folder to write to")
        parser.add_argument(
            "--resamples", type=int, default=2_000, metavar="N", help="bootstrap resamples (default 2000)"
        )
        parser.add_argument(
            "--seed", type=int, default=0, metavar="N", help="seed of the resampling (default 0)"
        )
        parser.add_argument(
            "--preset",
            choices=tuple(PRESETS),
            help="use the choices of the published analysis of ViSAGe; other options given take precedence",
        )
        parser.add_argument(
            "--none-of-the-above",
            choices=("ignore", "as_random"),
            help="leave the 'none of the above' answers out (default), or count them as a random attribute",
        )
        parser.add_argument(
            "--min-raters",
            type=int,
            metavar="N",
            help="raters who must call a pair a stereotype (default: the study's)",
        )
        parser.add_argument(
            "--rater-pools",
            choices=tuple(RaterPools.values),
            help="whether these raters are those of one pool, in the region or outside it (separate), or of both "
            "together (summed) (default: the study's)",
        )
        parser.add_argument(
            "--min-stereotypes",
            type=int,
            metavar="N",
            help="visual stereotypes a group needs for θ (default: the study's)",
        )
        parser.add_argument(
            "--without-annotator",
            nargs="+",
            action="extend",
            default=[],
            metavar="ID",
            help="leave out these annotators (pseudonym, or their id in the imported file)",
        )
        parser.add_argument(
            "--campaign", nargs="+", action="extend", default=[], metavar="SLUG", help="only these campaigns"
        )
        parser.add_argument(
            "--offensiveness-source",
            choices=("stored", "ratings"),
            help="take offensiveness as the resource stores it (default), or as the mean of its ratings",
        )
        parser.add_argument(
            "--not-offensive", type=int, choices=(-1, 0), help="what −1 counts as (default −1)"
        )
        parser.add_argument(
            "--target-precision",
            type=float,
            default=0.9,
            metavar="SHARE",
            help="precision from which an attribute can be left to the machine (default 0.9)",
        )
        parser.add_argument(
            "--top-k", type=int, default=5, metavar="N", help="salient attributes of a group (default 5)"
        )
        parser.add_argument(
            "--salient-among",
            choices=("visual", "all"),
            default="visual",
            help="look in captions for the study's visual attributes (default), or for all it lists",
        )

    def handle(self, **options: Any) -> None:
        # Imported here: --help and usage errors need no numerical library.
        from analysis.results.compute import compute
        from analysis.results.data.automated import load_scores
        from analysis.results.data.labels import load
        from analysis.results.output.folder import require_folder, write

        study = _study_named(options["study"])
        parameters = parameters_of(
            study,
            resamples=options["resamples"],
            seed=options["seed"],
            preset=options["preset"],
            none_of_the_above=options["none_of_the_above"],
            min_raters=options["min_raters"],
            rater_pools=options["rater_pools"],
            min_stereotypes=options["min_stereotypes"],
            without_annotators=options["without_annotator"],
            offensiveness_source=options["offensiveness_source"],
            not_offensive=options["not_offensive"],
            campaigns=options["campaign"],
            target_precision=options["target_precision"],
            top_k=options["top_k"],
            salient_among=options["salient_among"],
        )
        require_folder(options["output"])
        progress = self.progress("Computing")
        results = compute(
            data=load(study=study, parameters=parameters),
            scores=load_scores(study),
            parameters=parameters,
            progress=progress,
        )
        progress.finish()
        for path in write(study=study, results=results, output=options["output"]):
            self.stdout.write(str(path))


def _study_named(name: str) -> Study:
    study = Study.objects.select_related("resource").filter(slug=name).first()
    study = study or Study.objects.select_related("resource").filter(name=name).first()
    if study is None:
        raise NotFound("study_not_found", f"There is no study named “{name}” (--study).")
    return study
