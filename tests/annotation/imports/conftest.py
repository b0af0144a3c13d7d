"""Tables of labels for tests, and their resource."""

from collections.abc import Callable
from pathlib import Path

import pytest

from annotation.imports.column_map import ColumnMap
from annotation.imports.importer import ImportReport, ImportTarget, import_annotations
from tests.foundation.tables.workbooks import workbook

__all__ = ["workbook"]

MARK_COLUMNS = {name: name for name in ("image", "group", "attribute", "annotator", "present", "box")}


@pytest.fixture
def table(tmp_path: Path) -> Callable[..., Path]:
    """Write lines of text as a file."""

    def write(*lines: str, name: str = "labels.csv") -> Path:
        path = tmp_path / name
        path.write_text("\n".join(lines) + "\n", encoding="utf-8")
        return path

    return write


@pytest.fixture
def bring_marks(table, resource) -> Callable[..., ImportReport]:
    """Import rows of image, group, attribute, annotator, present, box into the study “Isles”."""

    def bring(
        *rows: str, study: str = "Isles labels", by=None, with_resource: bool = True, **options
    ) -> ImportReport:
        column_map = ColumnMap(columns=MARK_COLUMNS, **{"image_size": (100, 200), **options})
        return import_annotations(
            target=ImportTarget(name=study, by=by, resource=resource if with_resource else None),
            file=table(",".join(MARK_COLUMNS), *rows),
            column_map=column_map,
        )

    return bring
