"""The released ViSAGe study, as published: a map of its columns, and what is peculiar to its files."""

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
from django.db import transaction

from accounts.models import User
from annotation.imports.cells import BLANK, Coded, Mask, Reading, choice_of
from annotation.imports.column_map import RATING_WORDS, ColumnMap
from annotation.imports.importer import (
    NAMES,
    ImportReport,
    Target,
    digest_of,
    find_study,
    imported_before,
    prepare_study,
    read_for_study,
    record,
    refuse_labelled,
    refuse_nothing_left,
)
from annotation.imports.marks import read_attribute
from annotation.imports.ratings import Ratings, read_ratings
from annotation.imports.repeats import Questions, settle_repeats
from annotation.imports.writer import create_campaign, load_marks, load_ratings
from annotation.models import Campaign
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
# The three raters of an attribute, by the ending of their columns; what the release says of them.
REGIONS = {"asia": "Asia", "emea": "Europe, Middle East and Africa", "na": "North America"}
_LONG = ColumnMap(columns={"attribute": "attribute", "annotator": "annotator", "rating": "rating"})


def import_visage(
    *,
    study: str,
    stereotypes: Path,
    annotations: Path,
    visual_attributes: Path | None = None,
    by: User | None,
    model: str = MODEL,
    progress: Progress | None = None,
) -> ImportReport:
    """Import the released files into the study of that name, created when there is none.

    Everything is written in one transaction. The same files again change nothing; a study with other labels
    is refused. Raises DomainError naming file and row or column.
    """
    progress = progress or Unwatched()
    progress.start(5)
    listed = read_table(stereotypes, workbooks=False)
    stereotype_rows = read_pairs(listed)[1]
    marks_table = read_table(annotations)
    column_map = replace(MARKS, model=model)
    column_map.check(marks_table)
    wide = read_table(visual_attributes) if visual_attributes is not None else None
    ratings, rating_rows = read_wide_ratings(wide) if wide is not None else (None, None)
    digest = digest_of(
        [t for t in (listed, marks_table, wide) if t is not None], column_map.described(), None
    )
    progress.advance(1, message="storing the stereotypes")
    with transaction.atomic():
        found = find_study(study)
        if found is not None and imported_before(found, digest):
            return ImportReport(found, (), (), already=True)
        if found is not None:
            refuse_labelled(found)
        resource = _resource(stereotypes, listed, found, by)
        progress.advance(1, message="checking rows")
        target = Target(found, study, resource, by)
        marks, known = read_for_study(marks_table, column_map, target)
        refuse_nothing_left(marks.reading)
        filled = prepare_study(target, groups=sorted(set(marks.group.of(marks.reading.accepted))))
        progress.advance(1, message="writing annotations")
        campaign = _campaign(filled, Campaign.Kind.STEREOTYPE_MARKING, by)
        loaded = [load_marks(campaign=campaign, marks=marks, known=known)]
        reports = [stereotype_rows, marks.reading.report("annotations")]
        if ratings is not None and rating_rows is not None:
            progress.advance(1, message="writing ratings")
            campaign = _campaign(filled, Campaign.Kind.ATTRIBUTE_LIKERT, by)
            loaded.append(load_ratings(campaign=campaign, ratings=ratings, regions=REGIONS))
            reports.append(rating_rows)
        report = ImportReport(filled, tuple(reports), tuple(loaded))
        record(report, digest=digest, by=by)
    progress.advance(1)
    return report


def read_wide_ratings(table: Table) -> tuple[Ratings, RowsReport]:
    """Read a row for each attribute and a column for each rater (`rating_asia` …) into one rating each."""
    raters = [column.removeprefix("rating_") for column in table.columns if column.startswith("rating_")]
    if "attribute" not in table.columns or not raters:
        raise DomainError(
            "column_missing",
            f"“{table.name}” needs a column “attribute” and at least one named “rating_…”.",
            fields={"visual_attributes": "columns missing"},
        )
    reading = Reading(table)
    reading.reject(_blank(table, ["attribute", *(f"rating_{rater}" for rater in raters)]), BLANK)
    attribute = read_attribute(reading, _LONG)
    words: dict[str, int | None] = {"": None, **RATING_WORDS}
    given = {
        rater: reading.coded(reading.cells(f"rating_{rater}"), choice_of(f"rating_{rater}", words))
        for rater in raters
    }
    rated = {rater: column.where(lambda value: value is not None) for rater, column in given.items()}
    reading.reject(~np.any(list(rated.values()), axis=0), "no rating")
    for rater, has in rated.items():
        if not has.all():
            reading.repaired(~has, f"taken without rating_{rater}, which is empty")
    nobody = np.zeros(len(table), dtype=np.int64)  # each row has an answer of every rater
    asked = Questions(
        nobody, nobody, attribute.codes, nobody, nobody.astype(bool), np.full(len(table), np.nan)
    )
    settle_repeats(reading, asked, places_tell=False)
    rows = np.flatnonzero(reading.accepted)
    cells = [
        (
            row,
            attribute.values[attribute.codes[row]],
            rater,
            str(given[rater].values[given[rater].codes[row]]),
        )
        for row in rows.tolist()
        for rater in raters
        if rated[rater][row]
    ]
    at, *columns = (list(column) for column in zip(*cells, strict=True)) if cells else ([], [], [], [])
    names = ("attribute", "annotator", "rating")
    long = Table(
        name=table.name,
        columns={name: np.array(column, dtype=object) for name, column in zip(names, columns, strict=True)},
        rows=table.rows[np.array(at, dtype=np.int64)],
        unreadable=(),
        digest=table.digest,
    )
    return read_ratings(Reading(long), _LONG), reading.report(
        "visual attributes", _score_notes(reading, given)
    )


def _blank(table: Table, columns: list[str]) -> Mask:
    return np.all([[not cell.strip() for cell in table.columns[column]] for column in columns], axis=0)


def _score_notes(reading: Reading, given: Mapping[str, Coded[int | None]]) -> list[str]:
    """Say how often a published score is not the number of its rating, or a mean not that of the scores."""
    table, accepted = reading.table, reading.accepted
    differing = np.zeros(len(table), dtype=bool)
    for rater, column in given.items():
        if f"score_{rater}" in table.columns:
            score = _numbers(table, f"score_{rater}")
            rating = np.array([np.nan if value is None else value for value in column.values])[column.codes]
            differing |= ~np.isclose(score, rating, equal_nan=True)
    notes = []
    if (count := int((differing & accepted).sum())) > 0:
        notes.append(f"{count:,} rows have a score that is not that of the rating; the rating counts")
    if "mean" in table.columns:
        ratings = [np.array([np.nan if v is None else v for v in c.values])[c.codes] for c in given.values()]
        counted = ~np.isnan(ratings)
        with np.errstate(invalid="ignore"):
            mean = np.nansum(ratings, axis=0) / counted.sum(axis=0)
        wrong = accepted & ~np.isclose(_numbers(table, "mean"), mean, atol=5e-3)
        if wrong.any():
            notes.append(
                f"{int(wrong.sum()):,} rows have a mean that is not that of the ratings; it is not used"
            )
    return notes


def _numbers(table: Table, column: str) -> np.ndarray:
    return pd.to_numeric(pd.Series(table.columns[column], dtype=object), errors="coerce").to_numpy(
        dtype=float
    )


def _campaign(study: Study, kind: Campaign.Kind, by: User | None) -> Campaign:
    return create_campaign(study=study, kind=kind, name=NAMES[kind], by=by)


def _resource(file: Path, table: Table, study: Study | None, by: User | None) -> Resource:
    """Return the resource that was imported from this very file; import it if there is none."""
    same = Resource.objects.filter(file_digest=table.digest)
    if study is not None and study.resource is not None and study.resource.file_digest == table.digest:
        return study.resource
    if (found := same.order_by("pk").first()) is not None:
        return found
    name = file.stem[:100] or "stereotypes"
    if Resource.objects.filter(name=name).exists():
        # Its groups and pairs are another file's: leave them to whoever uses them.
        name = f"{name} {table.digest[:12]}"
    return import_resource(file=file, name=name, by=by).resource
