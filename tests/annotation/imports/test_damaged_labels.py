"""Damaged tables of labels and exports of Label Studio: imported row by row, or refused in one sentence."""

import io
import json
from functools import partial

import pytest
from django.db import transaction

from annotation.imports.column_map import ColumnMap
from annotation.imports.importer import ImportTarget, import_annotations
from annotation.label_studio.format.importer import import_export
from catalog.imports.resources import import_resource
from foundation.errors import DomainError
from foundation.tables.report import write_rejected
from tests.annotation.label_studio.format.test_importer import a_task, annotation, choices, region
from tests.foundation.damage import how_many, mutated, mutated_json

pytestmark = pytest.mark.django_db

MARKS = {
    "image": "a.png",
    "group": "Velmari",
    "attribute": "kite",
    "annotator": "p1",
    "present": "yes",
    "box": "[1, 2, 30, 40]",
    "screen": "s1",
    "submitted_at": "2026-11-21T03:32:40Z",
    "seconds": 3.5,
}
RATINGS = {"attribute": "kite", "annotator": "p1", "rating": 4, "justification": "a reason", "seconds": 2}


class Undone(Exception):
    """Rolls back a transaction, so that each import starts with the same empty study."""


def outcome(importing, tmp_path) -> str:
    """Import, write the rejected rows and roll back; return whether the import was refused."""
    try:
        with transaction.atomic():
            report = importing()
            if hasattr(report, "reports"):
                write_rejected(report.reports, tmp_path)
                "\n".join(report.lines()).encode()
            raise Undone
    except Undone:
        return "imported"
    except DomainError as refused:
        refused.message.encode()
        return "refused"


def try_all(contents, importing, tmp_path):
    outcomes = {outcome(partial(importing, io.BytesIO(content)), tmp_path) for content in contents}
    assert outcomes == {"imported", "refused"}


@pytest.mark.parametrize(("row", "seed"), [(MARKS, 1), (RATINGS, 2)])
def test_tables_of_judgements_as_json_lines(row, seed, resource, tmp_path):
    def importing(file):
        return import_annotations(
            target=ImportTarget(name="Isles labels", by=None, resource=resource),
            file=file,
            column_map=ColumnMap(columns={name: name for name in row}, image_size=(100, 200)),
            file_name="labels.jsonl",
        )

    whole = json.dumps({**row, "annotator": "p2"}).encode()
    lines = (whole + b"\n" + damaged for damaged in mutated_json(row, how_many(60), seed=seed))
    try_all(lines, importing, tmp_path)


def test_tables_of_judgements_as_csv(resource, tmp_path):
    rows = [MARKS, {**MARKS, "image": "b.png", "present": "no", "box": ""}]
    text = "\n".join(
        ",".join(f'"{value}"' for value in [*row.values()]) for row in [{k: k for k in MARKS}, *rows]
    )

    def importing(file):
        return import_annotations(
            target=ImportTarget(name="Isles labels", by=None, resource=resource),
            file=file,
            column_map=ColumnMap(columns={name: name for name in MARKS}, image_size=(100, 200)),
            file_name="labels.csv",
        )

    try_all(mutated(text.encode(), how_many(60), seed=3), importing, tmp_path)


def test_exports_of_label_studio(resource, tmp_path):
    tasks = [
        a_task(annotation(choices("drum"), region(), lead_time=3.5, created_at="2026-11-21T03:32:40Z")),
        a_task(annotation(by={"id": 9}), image="b.png", drafts=[], predictions=[]),
    ]

    def importing(file):
        return import_export(
            target=ImportTarget(name="Isles", by=None, resource=resource), file=file, file_name="export.json"
        )

    try_all(mutated_json(tasks, how_many(150), seed=4), importing, tmp_path)


def test_resources(tmp_path):
    whole = (
        b"identity,attribute,region_stereo,na_stereo,annotation1,annotation2,annotation3,offensiveness_score\n"
        b"Velmari,kite,2,1,1,0,-1,0\nOrsani,drum,3,0,4,3,2,3\n"
    )

    def importing(file):
        return import_resource(file=file, name="Isles", by=None, file_name="isles.csv")

    try_all(mutated(whole, how_many(200), seed=5), importing, tmp_path)


def test_resources_as_json_lines(tmp_path):
    row = {"identity": "Velmari", "attribute": "kite", "region_stereo": 2, "annotation1": -1}

    def importing(file):
        return import_resource(file=file, name="Isles", by=None, file_name="isles.jsonl")

    try_all(mutated_json(row, how_many(200), seed=6), importing, tmp_path)
