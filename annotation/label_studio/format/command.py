"""Label Studio exports for the command `import_annotations`."""

from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from django.core.management.base import CommandParser

from annotation.imports.column_map import LabelImportOptions, parse_words
from annotation.imports.formats import ImportFormat
from annotation.label_studio.format.names import FIELDS, parse_names
from annotation.label_studio.format.options import ExportOptions

if TYPE_CHECKING:
    from annotation.imports.importer import ImportReport


class LabelStudioExport(ImportFormat):
    """The JSON export of Label Studio."""

    tool = "Label Studio"
    flag = "label_studio"
    options = ("asked", "without_ground_truth")
    help = (
        "A .json file that contains a list is read as a JSON export of Label Studio. NAME is then a field of a task's "
        f"data or the name of a control ({', '.join(FIELDS)})."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument(
            "--label-studio",
            action="store_true",
            help="FILE is a JSON export of Label Studio, even if its name does not end in .json",
        )
        parser.add_argument(
            "--asked",
            nargs="+",
            default=[],
            metavar="ATTRIBUTE",
            help="for Label Studio: the attributes that every task asks about, if its data does not list them",
        )
        parser.add_argument(
            "--without-ground-truth",
            action="store_true",
            help="for Label Studio: leave out annotations marked as ground truth (default: import them like any other)",
        )

    def recognises(self, file: Path) -> bool:
        # Imported here because it loads numpy, and every process imports this module.
        from annotation.label_studio.format.reader import is_export

        return is_export(file)

    def importer(self, options: Mapping[str, Any]) -> "Callable[..., ImportReport]":
        # Imported here because it loads pandas.
        from annotation.label_studio.format.importer import import_export

        export_options = ExportOptions(
            names=parse_names(options["map"], asked=tuple(options["asked"])),
            rows=LabelImportOptions.read(LabelImportOptions.chosen(options)),
            ground_truth=not options["without_ground_truth"],
            words=parse_words(options["value"]),
        )
        return partial(import_export, options=export_options)
