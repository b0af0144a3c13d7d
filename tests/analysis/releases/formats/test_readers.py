"""A release loads with the readers people use, without any network."""

import json
import os
import subprocess
import sys

import pandas as pd
import pytest

pytestmark = pytest.mark.django_db

_LOAD = """
import json, sys
from datasets import load_dataset
folder = sys.argv[1]
found = {}
for name in sys.argv[2:]:
    table = load_dataset(folder, name)
    (split,) = table.values()
    found[name] = [split.num_rows, split.column_names]
print("ANSWER" + json.dumps(found))
"""


def test_every_table_loads_with_one_line_of_datasets(marked, released, tmp_path):
    _, folder = released(marked.study)
    manifest = json.loads((folder / "release.json").read_text())
    names = [name for name, number in manifest["rows"].items() if number]
    environment = os.environ | {
        "HF_HUB_OFFLINE": "1",
        "HF_HOME": str(tmp_path / "hf"),
        "HF_DATASETS_OFFLINE": "1",
    }
    done = subprocess.run(
        [sys.executable, "-c", _LOAD, str(folder), *names],
        env=environment,
        capture_output=True,
        text=True,
        timeout=300,
    )
    assert done.returncode == 0, done.stderr[-2_000:]
    found = json.loads(done.stdout.rpartition("ANSWER")[2])
    assert {name: number for name, (number, _) in found.items()} == {
        name: manifest["rows"][name] for name in names
    }


def test_pandas_reads_the_same_from_every_format(marked, released):
    _, folder = released(marked.study)
    parquet = pd.read_parquet(folder / "data/judgements.parquet")
    text = pd.read_csv(folder / "csv/judgements.csv", keep_default_na=False, na_values=[""])
    lines = pd.read_json(folder / "jsonl/judgements.jsonl", lines=True)
    for column in ("judgement", "image", "attribute", "annotator", "present"):
        assert parquet[column].tolist() == text[column].tolist() == lines[column].tolist()
