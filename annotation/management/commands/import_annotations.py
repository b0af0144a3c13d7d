"""Import any table of judgements, or a file in a format that an outside tool registers."""

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
    LabelImportOptions,
    parse_columns,
    parse_size,
    parse_words,
    with_words,
)
from annotation.imports.command import ImportCommand
from annotation.imports.formats import ImportFormat, registered
from annotation.imports.importer import ImportReport, ImportTarget, import_annotations
from catalog.models import Resource
from foundation.errors import DomainError, NotFound


class Command(ImportCommand):
    help = (
        "Import any table with one judgement per row (CSV, TSV, JSON lines or XLSX). State which field each column "
        "contains. For marks on images, map a column to present; for ratings of attributes, map a column to rating. "
        f"Fields: {', '.join(FIELDS)}. {' '.join(import_format.help for import_format in registered())}"
    )
    example = (
        "python manage.py import_annotations --study Pilot labels.csv --map image=file --map group=people "
        "--map attribute=word --map annotator=worker --map present=answer"
    )

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("file", type=Path, metavar="FILE", help="the table")
        parser.add_argument(
            "--study", required=True, metavar="NAME", help="the study; created if it does not exist"
        )
        parser.add_argument(
            "--map",
            action="extend",
            nargs="+",
            default=[],
            metavar="FIELD=COLUMN",
            help="the column that contains a field (for a tool’s export: only if its names differ from Stereoscope’s)",
        )
        for import_format in registered():
            import_format.add_arguments(parser)
        parser.add_argument("--sheet", metavar="NAME", help="sheet of the workbook (default: the first)")
        parser.add_argument(
            "--resource", metavar="NAME", help="the resource that defines which attributes are stereotypes"
        )
        parser.add_argument(
            "--value",
            action="extend",
            nargs="+",
            default=[],
            metavar="WORD=MEANING",
            help="another word for yes or no (ja=yes), or for a rating from 1 to 5",
        )
        LabelImportOptions.add_options(parser)
        parser.add_argument(
            "--image-size", metavar="WxH", help="size in pixels of every image, such as 512x512"
        )
        parser.add_argument("--campaign", default="", metavar="NAME", help="name of the imported campaign")
        self.add_report_arguments(parser)

    def handle(self, *args: Any, **options: Any) -> None:
        chosen = _format(options)
        for import_format in registered():
            for name in import_format.options:
                if options[name] and import_format is not chosen:
                    self.usage_error(
                        f"--{name.replace('_', '-')} is only for exports of {import_format.tool}."
                    )
        if not chosen and not options["map"]:
            self.usage_error("State which field each column contains: --map FIELD=COLUMN.")
        try:
            import_labels = chosen.importer(options) if chosen else self._table(options)
        except DomainError as error:
            self.usage_error(error.message)
        self.run_import(
            import_labels,
            output=options["output"],
            target=ImportTarget(
                name=options["study"],
                by=person(options["by"]),
                resource=_resource(options["resource"]),
                campaign=options["campaign"],
            ),
            file=options["file"],
        )

    @staticmethod
    def _table(options: dict[str, Any]) -> Callable[..., ImportReport]:
        chosen = LabelImportOptions.read(LabelImportOptions.chosen(options))
        column_map = ColumnMap(
            columns=parse_columns(options["map"]),
            box_format=BoxFormat(chosen.box_format),
            image_size=parse_size(options["image_size"]) if options["image_size"] else None,
            **chosen.for_every_row(),
        )
        words = parse_words(options["value"])
        column_map = with_words(column_map, words) if words else column_map
        return partial(import_annotations, column_map=column_map, sheet=options["sheet"])


def _format(options: dict[str, Any]) -> ImportFormat | None:
    """Return the format that an option names or the file looks like; None for a table."""
    return next(
        (
            import_format
            for import_format in registered()
            if options[import_format.flag] or import_format.recognises(options["file"])
        ),
        None,
    )


def _resource(name: str | None) -> Resource | None:
    if name is None:
        return None
    resource = Resource.objects.filter(name=name).first()
    if resource is None:
        raise NotFound("resource_not_found", f"There is no resource named “{name}” (--resource).")
    return resource
