"""Import the released ViSAGe files, with their column map and peculiarities."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import pandas as pd
from django.db import transaction
from numpy.typing import NDArray

from accounts.models import User
from annotation.imports.campaign import create_campaign
from annotation.imports.cells import CodedColumn, Reading, choice_parser
from annotation.imports.column_map import RATING_WORDS, ColumnMap
from annotation.imports.importer import (
    ImportReport,
    ImportTarget,
    digest_of,
    imported_before,
    prepare_study,
    read_for_study,
    record_import,
    refuse_empty,
    refuse_labelled,
)
from annotation.imports.marks import Marks, StudyImage, read_attribute
from annotation.imports.ratings import Ratings, read_ratings
from annotation.imports.repeats import Questions, settle_repeats
from annotation.imports.writer import LoadSummary, load_marks, load_ratings
from annotation.kinds.registry import MARKING, RATING
from catalog.imports.resources import import_resource, read_pairs
from catalog.models import Resource
from foundation.errors import DomainError
from foundation.tables.reader import Table, read_table
from foundation.tables.report import RowsReport
from jobs.progress.reporter import Progress, Unwatched
from studies.models import Study

MODEL = "Stable Diffusion v1.4"
MARKS = ColumnMap(
    columns={
        "annotator": "worker_id",
        "image": "img_path",
        "attribute": "attribute",
        "present": "present",
        "box": "coords",
    },
    group_from_image=True,
    image_size=(512, 512),
    model=MODEL,
)
# The regions of an attribute's three raters, by the suffix of their columns.
REGIONS = {"asia": "Asia", "emea": "Europe, Middle East and Africa", "na": "North America"}
_LONG = ColumnMap(columns={"attribute": "attribute", "annotator": "annotator", "rating": "rating"})


@dataclass(frozen=True)
class VisageFiles:
    """The released files; ratings of attributes are optional."""

    stereotypes: Path
    annotations: Path
    visual_attributes: Path | None = None


def import_visage(
    *,
    study: str,
    files: VisageFiles,
    by: User | None,
    model: str = MODEL,
    progress: Progress | None = None,
) -> ImportReport:
    """Import the released files into the study of this name, which is created if it does not exist.

    Everything is written in one transaction. Importing the same files again changes nothing. Raises Conflict
    for a study with other labels, and DomainError naming the file and row or column.
    """
    progress = progress or Unwatched()
    progress.start(5)
    tables = [read_table(files.stereotypes, workbooks=False), read_table(files.annotations)]
    stereotype_rows = read_pairs(tables[0])[1]
    column_map = replace(MARKS, model=model)
    column_map.check(tables[1])
    ratings, rating_rows = None, None
    if files.visual_attributes is not None:
        tables.append(read_table(files.visual_attributes))
        ratings, rating_rows = read_wide_ratings(tables[2])
    digest = digest_of(tables, column_map.to_dict(), None)
    progress.advance(1, message="storing the stereotypes")
    with transaction.atomic():
        target = ImportTarget(name=study, by=by).looked_up()
        if target.study is not None:
            if imported_before(target.study, digest):
                return ImportReport(target.study, (), (), unchanged=True)
            refuse_labelled(target.study)
        target = replace(target, resource=_resource(files.stereotypes, tables[0], target.study, by))
        progress.advance(1, message="checking rows")
        marks, study_images = read_for_study(tables[1], column_map, target)
        refuse_empty(marks.reading)
        target_study, loaded = _load(target, marks, study_images, ratings, progress)
        reports = (stereotype_rows, marks.reading.report("annotations"), rating_rows)
        report = ImportReport(target_study, tuple(rows for rows in reports if rows is not None), loaded)
        record_import(report, digest=digest, by=by)
    progress.advance(1)
    return report


def _load(
    target: ImportTarget,
    marks: Marks,
    study_images: dict[tuple[str, str], StudyImage],
    ratings: Ratings | None,
    progress: Progress,
) -> tuple[Study, tuple[LoadSummary, ...]]:
    """Write marks and ratings, each into a new campaign of the study, which is created if necessary."""
    study = prepare_study(target, groups=sorted(set(marks.group.of(marks.reading.accepted))))
    progress.advance(1, message="writing annotations")
    kind = MARKING
    campaign = create_campaign(study=study, kind=kind, name="", by=target.by)
    loaded = [load_marks(campaign=campaign, marks=marks, study_images=study_images)]
    if ratings is not None:
        progress.advance(1, message="writing ratings")
        kind = RATING
        campaign = create_campaign(study=study, kind=kind, name="", by=target.by)
        loaded.append(load_ratings(campaign=campaign, ratings=ratings, regions=REGIONS))
    return study, tuple(loaded)


def read_wide_ratings(table: Table) -> tuple[Ratings, RowsReport]:
    """Read a table with a row per attribute and a column per rater (`rating_asia` …) into single ratings."""
    raters = [column.removeprefix("rating_") for column in table.columns if column.startswith("rating_")]
    if "attribute" not in table.columns or not raters:
        raise DomainError(
            "column_missing",
            f"“{table.name}” needs a column “attribute” and at least one named “rating_…”.",
            fields={"visual_attributes": "columns missing"},
        )
    reading = Reading(table)
    reading.reject_blank(["attribute", *(f"rating_{rater}" for rater in raters)])
    attribute = read_attribute(reading, _LONG)
    words: dict[str, int | None] = {"": None, **RATING_WORDS}
    ratings = {
        rater: reading.coded(reading.cells(f"rating_{rater}"), choice_parser(f"rating_{rater}", words))
        for rater in raters
    }
    rated = {rater: column.where(lambda value: value is not None) for rater, column in ratings.items()}
    reading.reject(~np.any(list(rated.values()), axis=0), "no rating")
    for rater, has in rated.items():
        if not has.all():
            reading.note_repair(~has, f"imported without rating_{rater}, which is empty")
    zeros = np.zeros(len(table), dtype=np.int64)  # one id for all rows: each row has an answer of every rater
    questions = Questions(
        zeros, zeros, attribute.codes, zeros, zeros.astype(bool), np.full(len(table), np.nan)
    )
    settle_repeats(reading, questions, check_places=False)
    long = _long_table(reading, attribute, ratings)
    notes = _score_notes(reading, ratings)
    return read_ratings(Reading(long), _LONG), reading.report("visual attributes", notes)


def _long_table(
    reading: Reading, attribute: CodedColumn[str], ratings: Mapping[str, CodedColumn[int | None]]
) -> Table:
    """Return the accepted ratings as a table with one rating per row."""
    table = reading.table
    cells = [
        (row, attribute.values[attribute.codes[row]], rater, str(rating))
        for row in np.flatnonzero(reading.accepted).tolist()
        for rater, column in ratings.items()
        if (rating := column.values[column.codes[row]]) is not None
    ]
    rows, *columns = (list(column) for column in zip(*cells, strict=True)) if cells else ([], [], [], [])
    names = ("attribute", "annotator", "rating")
    return Table(
        name=table.name,
        columns={name: np.array(column, dtype=object) for name, column in zip(names, columns, strict=True)},
        rows=table.rows[np.array(rows, dtype=np.int64)],
        unreadable=(),
        digest=table.digest,
    )


def _score_notes(reading: Reading, ratings: Mapping[str, CodedColumn[int | None]]) -> list[str]:
    """Return notes on published scores that differ from the ratings and means that differ from their mean."""
    table, accepted = reading.table, reading.accepted
    differing = np.zeros(len(table), dtype=bool)
    for rater, column in ratings.items():
        if f"score_{rater}" in table.columns:
            score = _numbers(table, f"score_{rater}")
            rating = np.array([np.nan if value is None else value for value in column.values])[column.codes]
            differing |= ~np.isclose(score, rating, equal_nan=True)
    notes = []
    if (count := int((differing & accepted).sum())) > 0:
        notes.append(f"{count:,} rows have a score that does not match the rating; the rating is used")
    if "mean" in table.columns:
        rating_columns = [
            np.array([np.nan if v is None else v for v in c.values])[c.codes] for c in ratings.values()
        ]
        counted = ~np.isnan(rating_columns)
        with np.errstate(invalid="ignore"):
            mean = np.nansum(rating_columns, axis=0) / counted.sum(axis=0)
        wrong = accepted & ~np.isclose(_numbers(table, "mean"), mean, atol=5e-3)
        if wrong.any():
            notes.append(
                f"{int(wrong.sum()):,} rows have a mean that is not the mean of the ratings; this mean is not used"
            )
    return notes


def _numbers(table: Table, column: str) -> NDArray[np.float64]:
    return pd.to_numeric(pd.Series(table.columns[column], dtype=object), errors="coerce").to_numpy(
        dtype=float
    )


def _resource(file: Path, table: Table, study: Study | None, by: User | None) -> Resource:
    """Return the resource imported from this file, importing it if necessary."""
    same_file = Resource.objects.filter(file_digest=table.digest)
    if study is not None and study.resource is not None and study.resource.file_digest == table.digest:
        return study.resource
    if (resource := same_file.order_by("pk").first()) is not None:
        return resource
    name = file.stem[:100] or "stereotypes"
    if Resource.objects.filter(name=name).exists():
        # The resource of this name comes from another file and may be in use.
        name = f"{name} {table.digest[:12]}"
    return import_resource(file=file, name=name, by=by).resource
