"""Options for reading a JSON export of Label Studio."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from annotation.imports.boxes import BoxFormat
from annotation.imports.column_map import ColumnMap, LabelImportOptions, with_words
from annotation.label_studio.format.names import OURS, Names
from catalog.attributes import normalise


@dataclass(frozen=True)
class ExportOptions:
    """The names of fields, and the values that apply to every row. Boxes are always in percent of the image."""

    names: Names = OURS
    rows: LabelImportOptions = field(default_factory=LabelImportOptions)
    ground_truth: bool = True  # whether annotations with this mark are imported like any other, or left out
    words: Mapping[str, str] = field(default_factory=dict)  # further words for yes, no or a rating

    @property
    def none_text(self) -> str:
        """The choice that means that none of the attributes is in the image."""
        return normalise(self.rows.none_of_the_above)

    def column_map(self, columns: dict[str, str]) -> ColumnMap:
        """Return how to read the rows of an export that has these columns."""
        column_map = ColumnMap(columns=columns, box_format=BoxFormat.PERCENT, **self.rows.for_every_row())
        return with_words(column_map, self.words) if self.words else column_map
