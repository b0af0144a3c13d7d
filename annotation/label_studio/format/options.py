"""How a JSON export of Label Studio is read."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from annotation.imports.boxes import BoxFormat
from annotation.imports.column_map import ColumnMap, LabelImportOptions, with_words
from annotation.label_studio.format.names import OURS, Names
from catalog.attributes import normalise


@dataclass(frozen=True)
class ExportOptions:
    """Which names hold what, and what applies to every row. Boxes are always in percent of the image."""

    names: Names = OURS
    rows: LabelImportOptions = field(default_factory=LabelImportOptions)
    ground_truth: bool = True  # whether annotations marked as such are taken as any other, or left out
    words: Mapping[str, str] = field(default_factory=dict)  # further words for yes, no or a rating

    @property
    def none_text(self) -> str:
        """How a choice says that none of the attributes is there."""
        return normalise(self.rows.none_of_the_above)

    def column_map(self, columns: dict[str, str]) -> ColumnMap:
        """Return how to read the rows of an export that has these columns."""
        column_map = ColumnMap(columns=columns, box_format=BoxFormat.PERCENT, **self.rows.for_every_row())
        return with_words(column_map, self.words) if self.words else column_map
