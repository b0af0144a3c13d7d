"""Fill a demo with a study of invented peoples."""

from typing import Any

from django.core.management.base import CommandParser

from demo.seed import seed_demo
from foundation.commands import DomainCommand


class Command(DomainCommand):
    help = "Create the demo studies: invented peoples, drawn images, campaigns, and models that were asked questions."
    example = "STEREOSCOPE_DEMO=1 python manage.py seed_demo"

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument(
            "--model",
            default="",
            help="generate images with this diffusers pipeline (folder or hub id) instead of sketches",
        )

    def handle(self, *args: Any, **options: Any) -> None:
        progress = self.progress()
        study = seed_demo(progress=progress, say=self.stderr.write, model=options["model"])
        progress.finish()
        images, campaigns = study.images.count(), study.campaigns.count()
        self.stdout.write(f"The demo study is ready: {images} images, {campaigns} campaigns.")
