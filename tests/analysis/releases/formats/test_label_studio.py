"""Tables of a release as Label Studio's tasks: the same judgements, boxes and ratings, screen by screen."""

import json
from dataclasses import replace
from pathlib import Path

import pytest

from analysis.releases.formats.label_studio import write_label_studio
from annotation.label_studio.format.reader import read_export
from tests.analysis.releases.documents.example_release import ROWS, a_release

pytestmark = pytest.mark.database_free


def written(tmp_path, rows=None):
    contents = a_release(tmp_path, formats=("parquet",), rows=rows)
    tables = {one.name: tmp_path / one.files["parquet"] for one in contents.tables}
    write_label_studio(folder=tmp_path, tables=tables, campaigns=contents.campaigns)
    return tmp_path / "label_studio"


def rows_of(path: Path):
    export = read_export(path)
    assert not export.table.unreadable
    assert not export.notes
    columns = export.table.columns
    return [dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True)]


def test_marks_of_one_screen_are_annotations_of_one_task(tmp_path):
    folder = written(tmp_path)
    (task,) = json.loads((folder / "marking.json").read_text(encoding="utf-8"))
    assert task["id"] == 1
    assert task["data"]["image"] == "/data/local-files/?d=images/I-1.png"
    assert task["data"]["attributes"] == [{"value": "tall hat"}, {"value": "drum"}, {"value": "=kite"}]
    assert len(task["annotations"]) == 2
    assert not any(one["ground_truth"] for one in task["annotations"])
    rows = rows_of(folder / "marking.json")
    judged = [
        (row["annotator"], row["attribute"], row["present"] == "yes")
        for row in rows
        if row["attribute"][0] != "n"
    ]
    assert judged == [(row["annotator"], row["attribute"], row["present"]) for row in ROWS["judgements"]]
    assert [row["box"] for row in rows if row["box"]] == ["[10.0, 20.0, 25.0, 50.0]"]
    assert [row["present"] for row in rows if row["attribute"] == "none of the above"] == ["no", "no"]
    assert {row["group"] for row in rows} == {"Velmari"}
    assert "<RectangleLabels" in (folder / "marking.xml").read_text(encoding="utf-8")


def test_ratings_are_tasks_of_one_attribute(tmp_path):
    folder = written(tmp_path)
    (row,) = rows_of(folder / "rating.json")
    assert (row["attribute"], row["rating"], row["justification"], row["annotator"]) == (
        "kind",
        "3",
        "who | knows",
        "R1-A1",
    )
    interface = (folder / "rating.xml").read_text(encoding="utf-8")
    assert 'alias="5"' in interface


def test_pages_of_several_campaigns_keep_tasks_together(tmp_path, monkeypatch):
    monkeypatch.setattr("analysis.releases.formats.label_studio._AT_ONCE", 4)
    rows = {name: list(table) for name, table in ROWS.items()}
    rows["judgements"], rows["boxes"], rows["annotations"] = [], [], []
    for number in range(60):
        campaign = "marking" if number < 31 else "second"
        first = {**ROWS["annotations"][0], "annotation": number + 1, "annotator": f"R1-{number}"}
        rows["annotations"].append({**first, "campaign": campaign})
        for place, attribute in enumerate(("drum", "kite") if number % 3 else ("hat",)):
            judgement = {
                **ROWS["judgements"][0],
                "judgement": len(rows["judgements"]) + 1,
                "attribute": attribute,
            }
            judgement |= {"annotation": number + 1, "campaign": campaign, "present": place == 0}
            rows["judgements"].append(judgement)
            if place == 0 and number % 2:
                box = {**ROWS["boxes"][0], "box": len(rows["boxes"]) + 1, "x": number / 100, "width": 0.1}
                rows["boxes"].append({**box, "judgement": judgement["judgement"]})
    contents = a_release(tmp_path, formats=("parquet",), rows=rows)
    marking = contents.campaigns[0]
    tables = {one.name: tmp_path / one.files["parquet"] for one in contents.tables}
    campaigns = [marking, replace(marking, slug="second")]
    paths = write_label_studio(folder=tmp_path, tables=tables, campaigns=campaigns)
    assert [path.name for path in paths] == ["marking.json", "marking.xml", "second.json", "second.xml"]
    found = {}
    for path in (paths[0], paths[2]):
        tasks = json.loads(path.read_bytes())
        assert [task["id"] for task in tasks] == [1, 2]
        for row in rows_of(path):
            if row["attribute"] != "none of the above":
                box = json.loads(row["box"])[0] / 100 if row["box"] else None
                found[row["annotator"], row["attribute"]] = row["present"], box
    boxes = {box["judgement"]: box["x"] for box in rows["boxes"]}
    numbered = {row["annotation"]: row["annotator"] for row in rows["annotations"]}
    expected = {
        (numbered[row["annotation"]], row["attribute"]): (
            "yes" if row["present"] else "no",
            pytest.approx(boxes[row["judgement"]]) if row["judgement"] in boxes else None,
        )
        for row in rows["judgements"]
    }
    assert found == expected
    assert len(found) == len(rows["judgements"])


def test_a_campaign_without_labels_has_an_empty_list(tmp_path):
    folder = written(tmp_path, {name: [] for name in ROWS})
    assert json.loads((folder / "marking.json").read_text()) == []


def test_the_same_tables_give_the_same_bytes(tmp_path):
    first = (written(tmp_path) / "marking.json").read_bytes()
    assert (written(tmp_path) / "marking.json").read_bytes() == first
