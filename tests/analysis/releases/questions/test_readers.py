"""A release of declared questions loads with the readers people use, without any network."""

import json

import pandas as pd
import pytest

from annotation.kinds.stimuli import Stimuli
from annotation.models import Annotation, Judgement, Task, TaskStimulus
from tests.analysis.questions.campaigns import open_campaign, people
from tests.analysis.questions.kinds import kind, scale
from tests.analysis.releases.conftest import rows
from tests.analysis.releases.documents.test_croissant import read
from tests.analysis.releases.documents.test_data_card import load

pytestmark = [pytest.mark.django_db, pytest.mark.slow]

TEXTS = kind(
    "sentences",
    stimuli=Stimuli(medium="text"),
    questions=(scale("level"),),
    unit="association",
    measures=("means",),
)


def every_reader_loads_it(folder, cache) -> None:
    manifest = json.loads((folder / "release.json").read_text())
    names = [name for name, number in manifest["rows"].items() if number]
    found = load(folder, cache, *names)
    assert found[""] == found["answers"]
    through_croissant = read(folder)
    assert (through_croissant["errors"], through_croissant["warnings"], through_croissant["said"]) == (
        [],
        [],
        [],
    )
    for name in names:
        assert len(found[name]["train"]) == len(through_croissant["rows"][name]) == manifest["rows"][name]


@pytest.mark.parametrize("formats", [("parquet", "csv", "jsonl"), ("jsonl",)])
def test_every_table_loads(asked, released, tmp_path, formats):
    _, folder = released(asked, formats=formats, include_justifications=True)
    manifest = json.loads((folder / "release.json").read_text())
    names = [name for name, number in manifest["rows"].items() if number]
    found = load(folder, tmp_path / "cache", *names)
    assert {name: len(found[name]["train"]) for name in names} == {
        name: manifest["rows"][name] for name in names
    }
    assert found[""] == found["answers"]
    if "parquet" in formats:
        every_reader_loads_it(folder, tmp_path / "cache")


def test_releases_with_only_texts_load(study, released, tmp_path):
    annotators = people(study, 3)
    campaign = open_campaign(study, TEXTS, annotators)
    for text in ("All islanders wear tall hats.", "=SUM(1)"):
        task = Task.objects.create(campaign=campaign, wanted=3)
        TaskStimulus.objects.create(task=task, position=0, text=text)
        for place, annotator in enumerate(annotators):
            annotation = Annotation.objects.create(campaign=campaign, task=task, annotator=annotator)
            Judgement.objects.create(annotation=annotation, question="level", rating=1 + place)
    _, folder = released(study)
    every_reader_loads_it(folder, tmp_path / "cache")
    assert "What annotators said about texts" in (folder / "README.md").read_text()


def test_pandas_reads_the_same_from_every_format(asked, released):
    _, folder = released(asked, include_justifications=True)
    parquet = pd.read_parquet(folder / "data/answers.parquet")
    text = pd.read_csv(folder / "csv/answers.csv", keep_default_na=False, na_values=[""])
    lines = pd.read_json(folder / "jsonl/answers.jsonl", lines=True)
    assert len(parquet) == len(rows(folder, "answers"))
    for column in ("answer", "annotation", "task", "question", "annotator"):
        assert parquet[column].tolist() == text[column].tolist() == lines[column].tolist()
    for column in ("position", "rating", "rank", "code", "text"):
        read_anew = [
            [None if pd.isna(value) else value for value in table[column]] for table in (parquet, text, lines)
        ]
        assert read_anew[0] == read_anew[1] == read_anew[2], column
