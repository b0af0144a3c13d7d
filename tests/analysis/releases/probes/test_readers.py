"""A release of models' answers loads with the readers people use, without any network."""

import json

import pandas as pd
import pytest

from generation.probing.codings import code_by_rules
from generation.probing.execution import run
from jobs.progress.reporter import Unwatched
from tests.analysis.releases.documents.test_croissant import read
from tests.analysis.releases.documents.test_data_card import load
from tests.generation.probing.probing_study import planned, words

pytestmark = [pytest.mark.django_db, pytest.mark.slow]


def every_reader_loads_it(folder, cache) -> None:
    manifest = json.loads((folder / "release.json").read_text())
    names = [name for name, number in manifest["rows"].items() if number]
    loaded = load(folder, cache, *names)
    assert loaded[""] == loaded["probe_answers"]
    through_croissant = read(folder)
    problems = [through_croissant[part] for part in ("errors", "warnings", "said")]
    assert problems == [[], [], []]
    for name in names:
        assert len(loaded[name]["train"]) == len(through_croissant["rows"][name]) == manifest["rows"][name]


def test_answers_about_images_load(probed, released, tmp_path):
    _, folder = released(probed)
    every_reader_loads_it(folder, tmp_path / "cache")
    parquet = pd.read_parquet(folder / "data/probe_answers.parquet")
    lines = pd.read_json(folder / "jsonl/probe_answers.jsonl", lines=True, dtype={"letter": str})
    for column in ("probe_answer", "model", "identity_group", "text", "outcome"):
        assert parquet[column].tolist() == lines[column].tolist()


def test_releases_with_only_words_load(made_study, lead, released, tmp_path):
    study = made_study("Words")
    run(run=planned(study, lead, probe_set=words()), progress=Unwatched())
    code_by_rules(study=study, by=lead, progress=Unwatched())
    _, folder = released(study)
    every_reader_loads_it(folder, tmp_path / "cache")
