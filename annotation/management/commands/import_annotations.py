"""Import any table of judgements, or what Label Studio exports as JSON."""

from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

from django.core.management.base import CommandParser

from accounts.commands import person
from annotation.imports.boxes import BoxFormat
from annotation.imports.column_map import (
    FIELDS,
    ColumnMap,
    parse_columns,
    parse_size,
    parse_words,
    with_words,
)
from annotation.imports.command import ImportCommand
from annotation.imports.importer import ImportReport, import_annotations
from annotation.label_studio.format.importer import import_export
from annotation.label_studio.format.names import FIELDS as NAMES
from annotation.label_studio.format.names import parse_names
from annotation.label_studio.format.reader import is_export
from catalog.attributes import NONE_OF_THE_ABOVE
from catalog.models import Resource
from foundation.errors import DomainError, NotFound
from generation.models import Condition


class Command(ImportCommand):
    help = (
        "Import any table of judgements (CSV, TSV, JSON lines or XLSX, one a row) by saying which column "
        "holds what. Map present for marks on images, or rating for ratings of attributes. "
        f"Fields: {', '.join(FIELDS)}. A file .json that holds a list is what Label Studio exports as JSON: "
        f"there NAME is a field of a task's data or a control's name ({', '.join(NAMES)})."
    )
    example = (
        "python manage.py import_annotations --study Pilot labels.csv --map image=file --map group=people "
        "--map attribute=word --map annotator=worker --map present=answer"
    )

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("file", type=Path, metavar="FILE", help="the table")
        parser.add_argument(
            "--study", required=True, metavar="NAME", help="created if there is none of that name"
        )
        parser.add_argument(
            "--map",
            action="append",
            nargs="+",
            default=[],
            metavar="FIELD=COLUMN",
            help="which column holds a field (of Label Studio: only where the names are not ours)",
        )
        parser.add_argument(
            "--label-studio",
            action="store_true",
            help="FILE is a JSON export of Label Studio, whatever its name",
        )
        parser.add_argument(
            "--asked",
            nargs="+",
            default=[],
            metavar="ATTRIBUTE",
            help="of Label Studio: what every task asks, where its data does not list it",
        )
        parser.add_argument(
            "--without-ground-truth",
            action="store_true",
            help="of Label Studio: leave out annotations marked as ground truth (default: take them as any other)",
        )
        parser.add_argument("--sheet", metavar="NAME", help="sheet of the workbook (default: the first)")
        parser.add_argument("--resource", metavar="NAME", help="the resource that says what is a stereotype")
        parser.add_argument(
            "--value",
            action="append",
            nargs="+",
            default=[],
            metavar="WORD=MEANING",
            help="a further word for yes or no (ja=yes), or for a rating 1 to 5",
        )
        parser.add_argument(
            "--none-of-the-above",
            default=NONE_OF_THE_ABOVE,
            metavar="TEXT",
            help=f"the attribute that stands for that answer (default: {NONE_OF_THE_ABOVE})",
        )
        parser.add_argument(
            "--group-from-image",
            action="store_true",
            help="the group is the file name without its number: Mexican5.png",
        )
        parser.add_argument(
            "--box-format",
            choices=BoxFormat.values,
            default=BoxFormat.CORNERS,
            help="; ".join(f"{value}: {label}" for value, label in BoxFormat.choices),
        )
        parser.add_argument(
            "--image-size", metavar="WxH", help="size in pixels of every image, such as 512x512"
        )
        parser.add_argument("--model", default="", help="what reports call the model of every image")
        parser.add_argument("--condition", choices=Condition.values, default=Condition.DEFAULT)
        parser.add_argument(
            "--campaign", default="", metavar="NAME", help="what to call the imported campaign"
        )
        self.add_report_arguments(parser)

    def handle(self, *args: Any, **options: Any) -> None:
        exported = options["label_studio"] or is_export(options["file"])
        for name in ("asked", "without_ground_truth"):
            if options[name] and not exported:
                self.usage_error(f"--{name.replace('_', '-')} is for what Label Studio exports.")
        if not exported and not options["map"]:
            self.usage_error("Say which column holds what: --map FIELD=COLUMN.")
        try:
            importing = self._export(options) if exported else self._table(options)
        except DomainError as error:
            self.usage_error(error.message)
        self.run_import(
            importing,
            output=options["output"],
            study=options["study"],
            file=options["file"],
            by=person(options["by"]),
            resource=_resource(options["resource"]),
            name=options["campaign"],
        )

    @staticmethod
    def _table(options: dict[str, Any]) -> Callable[..., ImportReport]:
        column_map = ColumnMap(
            columns=parse_columns(_flat(options["map"])),
            box_format=BoxFormat(options["box_format"]),
            image_size=parse_size(options["image_size"]) if options["image_size"] else None,
            none_value=options["none_of_the_above"],
            group_from_image=options["group_from_image"],
            model=options["model"],
            condition=options["condition"],
        )
        words = parse_words(_flat(options["value"]))
        column_map = with_words(column_map, words) if words else column_map
        return partial(import_annotations, column_map=column_map, sheet=options["sheet"])

    @staticmethod
    def _export(options: dict[str, Any]) -> Callable[..., ImportReport]:
        return partial(
            import_export,
            names=parse_names(_flat(options["map"]), asked=tuple(options["asked"])),
            words=parse_words(_flat(options["value"])),
            none_value=options["none_of_the_above"],
            ground_truth=not options["without_ground_truth"],
            group_from_image=options["group_from_image"],
            model=options["model"],
            condition=options["condition"],
        )


def _flat(given: list[list[str]]) -> list[str]:
    return [pair for pairs in given for pair in pairs]


def _resource(name: str | None) -> Resource | None:
    if name is None:
        return None
    resource = Resource.objects.filter(name=name).first()
    if resource is None:
        raise NotFound("resource_not_found", f"There is no resource named “{name}” (--resource).")
    return resource
