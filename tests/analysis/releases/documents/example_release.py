"""A release of an invented study, made by hand: its facts, and a folder with its tables."""

import hashlib
from dataclasses import replace
from datetime import date
from pathlib import Path, PurePosixPath
from typing import Any

import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet as pq
from PIL import Image

from analysis.releases.contents import (
    FOLDERS,
    Absence,
    CampaignFacts,
    Changes,
    CocoFacts,
    Contents,
    FieldPrivacy,
    Guidelines,
    ImageFacts,
    PastRelease,
    PrivacyReport,
    QualityCheck,
    ReleasedFile,
    ReleaseTable,
    StudyFacts,
)
from analysis.releases.parameters import ReleaseParameters
from analysis.releases.tables.columns import COLUMNS, DESCRIPTIONS, TABLES

DAY = date(2026, 3, 1)
TYPES = {
    "string": pa.string(),
    "boolean": pa.bool_(),
    "integer": pa.int64(),
    "number": pa.float64(),
    "date": pa.date32(),
}
_IMAGE = {"model": "sketch", "condition": "default", "identity_group": "Velmari", "region": "North Isles"}
ROWS: dict[str, list[dict[str, Any]]] = {
    "judgements": [
        {
            "judgement": number,
            "annotation": 1 + number // 3,
            "campaign": "marking",
            **_IMAGE,
            "image": "I-1",
            "attribute": attribute,
            "role": "stereotype" if number % 2 else None,
            "annotator": f"R1-A{number // 3}",
            "present": number % 2 == 0,
            "guidelines": 1 if number < 3 else None,
            "submitted": DAY,
        }
        for number, attribute in enumerate(["tall hat", "drum", "=kite"] * 2)
    ],
    "boxes": [
        {
            "box": 1,
            "judgement": 0,
            "image": "I-1",
            "attribute": "tall hat",
            "annotator": "R1-A0",
            "x": 0.1,
            "y": 0.2,
            "width": 0.25,
            "height": 0.5,
            "clipped": False,
        }
    ],
    "ratings": [
        {
            "annotation": 3,
            "campaign": "rating",
            "attribute": "kind",
            "annotator": "R1-A1",
            "rating": 3,
            "guidelines": 1,
            "submitted": DAY,
        }
    ],
    "annotations": [
        {
            "annotation": number,
            "campaign": "rating" if number == 3 else "marking",
            "kind": "attribute_likert" if number == 3 else "stereotype_marking",
            "image": None if number == 3 else "I-1",
            "annotator": f"R1-A{min(number - 1, 1)}",
            "none_of_the_above": None if number == 3 else False,
            "active_seconds": 3.5 if number == 1 else None,
            "guidelines": 1,
            "submitted": DAY,
            "justification": "who | knows" if number == 3 else None,
        }
        for number in (1, 2, 3)
    ],
    "annotators": [
        {
            "annotator": f"R1-A{number}",
            "origin": "person",
            "gender": "woman" if number else None,
            **dict.fromkeys(
                ("region_of_origin", "nationality", "country_of_residence", "age_band", "languages")
            ),
            "annotations": 1 + number,
            "judgements": 3,
            "ratings": number,
        }
        for number in (0, 1)
    ],
    "images": [
        {
            "image": "I-1",
            **_IMAGE,
            "prompt": "a Velmari person",
            "file": "images/I-1.png",
            "reason": None,
            "sha256": "ab" * 32,
            "width": 4,
            "height": 4,
            "source_name": None,
            "provenance": '{"seed": 7}',
        }
    ],
    "soft_labels": [
        {
            "kind": "presence",
            "image": "I-1",
            "attribute": "tall hat",
            "n": 2,
            "k": 1,
            "share": 0.5,
            **dict.fromkeys([f"share_{value}" for value in range(1, 6)]),
            "majority": None,
            "majority_rating": None,
        }
    ],
    "associations": [
        {column.name: None for column in COLUMNS["associations"]}
        | {
            "identity_group": "Velmari",
            "attribute": "drum",
            "role": "stereotype",
            "in_region_stereotype": 2,
            "offensiveness": -1.0,
        }
    ],
}
NOTHING_CHANGED = Changes(
    previous=None,
    annotators_new=0,
    annotators_gone={},
    annotations_added=0,
    annotations_removed={},
    images_added=0,
    images_removed={},
    parameters={},
    guidelines_new={},
    campaigns_new=(),
    rows={},
)
CHANGED = Changes(
    previous=1,
    annotators_new=1,
    annotators_gone={"withdrawn": 1, "annotator_excluded": 2},
    annotations_added=1200,
    annotations_removed={"withdrawn": 3},
    images_added=0,
    images_removed={"retracted": 1},
    parameters={"k": (3, 5), "formats": (["parquet"], ["parquet", "csv"])},
    guidelines_new={"marking": (2, 3)},
    campaigns_new=("rating",),
    rows={"judgements": (9, 6), "boxes": (1, 1)},
)


def tables(
    folder: Path, formats: tuple[str, ...], rows: dict[str, list[dict[str, Any]]]
) -> tuple[ReleaseTable, ...]:
    """Write the tables in the formats, and return their descriptions."""
    made = []
    for name in TABLES:
        schema = pa.schema([(column.name, TYPES[column.type]) for column in COLUMNS[name]])
        written = pa.Table.from_pylist(rows[name], schema)
        files = {one: f"{FOLDERS[one]}/{name}.{one}" for one in formats if one in FOLDERS}
        for one, path in files.items():
            (folder / path).parent.mkdir(exist_ok=True)
            if one == "parquet":
                with pq.ParquetWriter(folder / path, schema) as writer:
                    if rows[name]:  # as releases are written: no row group without rows
                        writer.write_table(written)
            elif one == "csv":
                pyarrow.csv.write_csv(written, folder / path)
            else:
                written.to_pandas().to_json(folder / path, orient="records", lines=True, date_format="iso")
        made.append(ReleaseTable(name, DESCRIPTIONS[name], COLUMNS[name], len(rows[name]), files))
    return tuple(made)


def a_release(
    folder: Path,
    *,
    formats: tuple[str, ...] = ("parquet", "images"),
    rows: dict[str, list[dict[str, Any]]] | None = None,
    version: int = 1,
    licence: str = "CC-BY-4.0",
    picture: str = "png",
    **study: Any,
) -> Contents:
    """Write the data of a release into the folder, and return its contents."""
    made = tables(folder, formats, rows or ROWS)
    if "images" in formats:
        (folder / "images").mkdir(exist_ok=True)
        Image.new("RGB", (4, 4), "teal").save(folder / "images" / f"I-1.{picture}")
    files = [
        ReleasedFile(
            PurePosixPath(path.relative_to(folder).as_posix()),
            hashlib.sha256(path.read_bytes()).hexdigest(),
            path.stat().st_size,
        )
        for path in sorted(folder.rglob("*"))
        if path.is_file()
    ]
    facts = StudyFacts(
        name="Isles | <b>of</b> *Velmari*",
        slug="isles",
        description="What sketches show of two invented peoples.",
        protocol="visage",
        protocol_name="ViSAGe",
        simulated=False,
        min_raters=2,
        rater_pools="separate",
        groups=2,
        regions=("North Isles",),
        resource="Invented peoples",
        resource_citation="Nobody (2026)",
        resource_licence="CC-BY-4.0",
        invented=True,
        consent_version="default v1",
        consent="What you do\nYou look at pictures. ```Stop``` when you like.",
        content_notice="Some words repeat prejudices.",
        support="Take a break.",
    )
    return Contents(
        version=version,
        study=replace(facts, **study),
        parameters=ReleaseParameters(k=5, formats=formats, licence=licence, include_justifications=True),
        inputs_digest="ab" * 32,
        last_day=DAY,
        first_day=date(2026, 2, 1),
        campaigns=(_campaign(), replace(_campaign(), slug="rating", name="Rating", kind="attribute_likert")),
        tables=made,
        images=ImageFacts(
            1, 1 if "images" in formats else 0, {"imported without a file": 2}, ("sketch",), retracted=1
        ),
        coco=CocoFacts(1, 1, 1, left_out=1),
        privacy=PrivacyReport(
            k=5,
            people=9,
            without_profile=1,
            fields=(FieldPrivacy("gender", "as_stated", 9, 7, "Every value is shared by 7 people."),),
            combinations=1,
            smallest=7,
            suppressed=2,
            kept_share=0.5,
            justifications="released",
        ),
        changes=NOTHING_CHANGED if version == 1 else CHANGED,
        history=()
        if version == 1
        else (PastRelease(1, DAY, "cd" * 32, {"judgements": 9, "boxes": 1}, NOTHING_CHANGED),),
        missing=(
            Absence("times of day", "only days are released"),
            Absence("4 annotations of Marking", "Answer to a gold task."),
        ),
        files=tuple(files),
    )


def _campaign() -> CampaignFacts:
    return CampaignFacts(
        slug="marking",
        name="Marking",
        kind="stereotype_marking",
        imported=False,
        ids_are_people=True,
        annotators_per_task=2,
        attributes_per_screen=5,
        boxes_required=True,
        annotations=2,
        judgements=6,
        ratings=0,
        annotators=2,
        first_day=date(2026, 2, 1),
        last_day=DAY,
        not_counted={"gold": 4, "withdrawn": 1},
        guidelines=(
            Guidelines(
                1,
                "# Look\n\nTick what you see.",
                "Which of these?",
                {"5": "Strongly Agree", "1": "Strongly Disagree"},
                DAY,
                2,
            ),
        ),
        quality_checks=(QualityCheck("gold_accuracy", 0.7, 10, "pause"),),
        quota_fields=("region_of_origin", "gender"),
        options={
            "pay_amount": 12.5,
            "pay_currency": "EUR",
            "gold_share": 0.1,
            "practice_pass_mark": 0.8,
            "pay": "Paid monthly.",
        },
    )
