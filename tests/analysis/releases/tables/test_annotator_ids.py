"""Advice on annotator ids in a release: annotators can be followed only where an id is a person."""

import json

import pandas as pd
import pytest

from analysis.metrics import annotator_ids_usable
from analysis.releases.rekey import annotator_id, new_key
from analysis.releases.tables import annotator_rows
from annotation.imports.column_map import ColumnMap
from annotation.imports.importer import ImportTarget, import_annotations
from annotation.people.annotator_ids import ids_usable
from tests.analysis.releases.conftest import rows as rows_of

COLUMNS = ("image", "group", "attribute", "annotator", "present", "screen")
ONE_BY_ONE = "studying how single annotators differ"


def people() -> list[str]:
    """Four people who judge all five images."""
    return [f"i{i}.png,Velmari,{a},p{p},no,1" for i in range(5) for p in range(4) for a in ("hat", "drum")]


def screens() -> list[str]:
    """An id for each image, under which three people answered."""
    return [
        f"i{i}.png,Velmari,{a},s{i},{'yes' if turn else 'no'},{turn}"
        for i in range(5)
        for turn in range(3)
        for a in ("hat", "drum")
    ]


def often_again() -> list[str]:
    """People who answered 5 of 40 judgements once more, differently."""
    return people() + [row.replace(",no,1", ",yes,2") for row in people()[:5]]


@pytest.fixture
def bring(tmp_path, db):
    def bring(rows: list[str]):
        file = tmp_path / "labels.csv"
        file.write_text("\n".join([",".join(COLUMNS), *rows]) + "\n", encoding="utf-8")
        column_map = ColumnMap(columns={name: name for name in COLUMNS})
        return import_annotations(
            target=ImportTarget(name="Brought", by=None), file=file, column_map=column_map
        )

    return bring


@pytest.mark.parametrize(
    ("rows", "usable"),
    [(people(), True), (screens(), False), (often_again(), False)],
    ids=["people", "screens", "again"],
)
def test_the_database_classifies_ids_like_the_library(bring, rows, usable):
    frame = pd.DataFrame([row.split(",") for row in rows], columns=COLUMNS)
    frame = frame.rename(columns={"group": "identity_group"}).assign(present=frame["present"] == "yes")
    assert bool(annotator_ids_usable(frame)) == usable
    assert ids_usable(bring(rows).loaded[0].campaign) == usable


def test_a_release_of_screens_does_not_advise_to_follow_annotators(bring, released):
    _, folder = released(bring(screens()).study, k=2, licence="CC-BY-4.0")
    card = (folder / "README.md").read_text(encoding="utf-8")
    uses, not_for = card.split("## Uses")[1].split("Not for:")
    assert ONE_BY_ONE not in card
    assert "annotator-level" not in card.lower()
    assert "any analysis of single annotators" in not_for
    assert "an id in these labels does not stand for one person" in not_for
    assert "question about an image differ" in uses
    assert "5 annotator ids (an id does not stand for one person)" in card
    assert "Each answer has the id that the imported file gave" in card
    described = json.loads((folder / "croissant.json").read_text(encoding="utf-8"))
    assert not any(ONE_BY_ONE in one for one in described["rai:dataUseCases"])
    assert any("any analysis of single annotators" in one for one in described["rai:dataUseCases"])
    assert any("does not stand for one person" in one for one in described["rai:dataLimitations"])


def test_a_release_of_people_advises_to_follow_annotators(bring, released):
    _, folder = released(bring(people()).study, k=2, licence="CC-BY-4.0")
    card = (folder / "README.md").read_text(encoding="utf-8")
    assert ONE_BY_ONE in card.split("Not for:")[0]
    assert "any analysis of single annotators" not in card
    assert "4 annotators" in card


def test_a_person_has_another_id_in_each_study_and_each_version():
    """The first letters of an id name the version; if the rest stayed the same, it would link two releases."""
    ids = {
        annotator_id("tidal-heron", key=new_key(study=study, version=version), version=1, length=8)
        for study in (1, 2)
        for version in (1, 2)
    }
    assert len(ids) == 4


def test_ids_become_longer_if_two_people_would_have_the_same(marked, released, monkeypatch):
    monkeypatch.setattr(annotator_rows, "LENGTHS", (0, 12))
    _, folder = released(marked.study)
    ids = [row["annotator"] for row in rows_of(folder, "annotators")]
    assert len(set(ids)) == 3
    assert {len(name) for name in ids} == {len("R1-") + 12}
