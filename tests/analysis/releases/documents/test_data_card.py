"""The data card describes the dataset for its readers, and lets `datasets` load it."""

import json
import os
import re
import subprocess
import sys

import pytest
import yaml

from analysis.releases.documents import WRITERS, write_documents
from analysis.releases.documents.data_card import data_card
from analysis.releases.documents.licences import LICENCES, licence_of, licence_text
from analysis.releases.tables.columns import TABLES
from tests.analysis.releases.documents.example_release import ROWS, a_release

pytestmark = pytest.mark.database_free

LOAD = """
import json, sys, datasets
folder, *names = sys.argv[1:]
found = {name: datasets.load_dataset(folder, name) for name in names}
found[""] = datasets.load_dataset(folder)
print(json.dumps({
    name: {split: [json.loads(json.dumps(row, default=str)) for row in rows] for split, rows in one.items()}
    for name, one in found.items()
}))
"""


def load(folder, cache, *names):
    """Load tables in a separate process, with no network and a separate cache."""
    offline = {"HF_HUB_OFFLINE": "1", "HF_DATASETS_OFFLINE": "1", "HF_HOME": str(cache), "HOME": str(cache)}
    done = subprocess.run(
        [sys.executable, "-c", LOAD, str(folder), *names],
        capture_output=True,
        text=True,
        check=False,
        timeout=300,
        env={**os.environ, **offline},
    )
    assert done.returncode == 0, done.stderr[-3000:]
    return json.loads(done.stdout.splitlines()[-1])


def front(text):
    return yaml.safe_load(text.split("---\n")[1])


@pytest.mark.slow
@pytest.mark.parametrize("formats", [("parquet", "csv", "jsonl", "images"), ("jsonl",)])
def test_every_table_loads_by_name_and_judgements_without(tmp_path, formats):
    folder = tmp_path / "release"
    folder.mkdir()
    write_documents(contents=a_release(folder, formats=formats), folder=folder)
    found = load(folder, tmp_path / "cache", *TABLES)
    for name in TABLES:
        assert len(found[name]["train"]) == len(ROWS[name])
    assert found[""] == found["judgements"]
    assert found["boxes"]["train"][0]["x"] == 0.1
    if "parquet" in formats:
        expected = [{**row, "submitted": str(row["submitted"])} for row in ROWS["judgements"]]
        assert found["judgements"]["train"] == expected


def test_ratings_are_loaded_by_default_where_there_are_no_judgements(tmp_path):
    rows = {**ROWS, "judgements": [], "boxes": []}
    head = front(data_card(a_release(tmp_path, rows=rows)))
    assert [one["config_name"] for one in head["configs"] if one.get("default")] == ["ratings"]
    # `datasets` cannot load a table without rows.
    assert {one["config_name"] for one in head["configs"]} == set(TABLES) - {"judgements", "boxes"}


@pytest.mark.parametrize(
    "said",
    [
        "2 annotators with labels that count",
        "from 2026-02-01 to 2026-03-01",
        "gender | 9 | as stated | 7 | Every value is shared by 7 people.",
        "so that at least 5 people of the same origin share every combination",
        "To protect everybody in this way, the whole profile of 2 people is withheld",
        "12.5 EUR for each hour of active work",
        "Annotators were told: Paid monthly.",
        "Marking: by region of origin and gender",
        "default v1",
        "What you do\nYou look at pictures. ```Stop``` when you like.",
        "# Look\n\nTick what you see.",
        "10% of the tasks were gold tasks",
        "asked for accuracy on gold tasks of at least 70%, after 10 screens; annotators who missed it were "
        "paused",
        "4 annotations of Marking: Answer to a gold task.",
        "times of day: only days are released",
        'datasets.load\\_dataset("DIR")',
        "inputs sha256:" + "ab" * 32,
        "The peoples in this dataset are invented",
        "as facts about people",
        "Creative Commons Attribution 4.0 International",
    ],
)
def test_the_card_contains(said, tmp_path):
    text = data_card(a_release(tmp_path))
    assert said.replace("\\_dataset", "_dataset") in text


def test_simulated_labels_are_announced_at_the_very_top(tmp_path):
    text = data_card(a_release(tmp_path, simulated=True))
    body = text.split("---\n", 2)[2].lstrip()
    assert body.split("\n\n")[1].startswith("> **Simulated.**")
    assert "simulated" in front(text)["tags"]
    assert "12.5 EUR" not in text


def test_text_of_people_cannot_become_markup(tmp_path):
    text = data_card(a_release(tmp_path))
    assert "# Isles \\| \\<b\\>of\\</b\\> \\*Velmari\\*, release 1" in text
    assert front(text)["pretty_name"] == "Isles | <b>of</b> *Velmari*"
    # The consent text holds three backticks: its block is fenced by four.
    assert re.search(r"^````text\nWhat you do\n.*```Stop```.*\n````$", text, re.MULTILINE)


@pytest.mark.parametrize("chosen", LICENCES)
def test_each_licence_is_named_with_its_identifier_and_address(chosen, tmp_path):
    contents = a_release(tmp_path, licence=chosen)
    text = licence_text(contents)
    licence = licence_of(chosen.lower())
    assert licence == LICENCES[chosen]
    assert licence.name in text
    assert licence.url in text
    assert ("SPDX-License-Identifier" in text) == bool(licence.spdx)
    assert front(data_card(contents))["license"] == licence.hub


def test_without_a_licence_all_rights_are_reserved_and_words_stay_as_they_are():
    assert licence_of("").name == "All rights reserved"
    assert "has not chosen" in licence_of(" ").statement
    assert licence_of("On request").name == "On request"


def test_equal_contents_give_equal_bytes(tmp_path):
    contents = a_release(tmp_path, version=2)
    written = [path.read_bytes() for path in write_documents(contents=contents, folder=tmp_path)]
    again = [path.read_bytes() for path in write_documents(contents=contents, folder=tmp_path)]
    assert written == again
    assert len(written) == len(WRITERS)
    assert all(content.endswith(b"\n") and b"\r" not in content for content in written)
