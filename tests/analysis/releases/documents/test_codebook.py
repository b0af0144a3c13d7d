"""The codebook knows every column of every table, and no other."""

import csv
import io

import pytest

from analysis.releases.documents.codebook import HEADER, NEVER, codebook, codebook_csv
from analysis.releases.tables.columns import COLUMNS
from tests.analysis.releases.documents.example_release import a_release

pytestmark = pytest.mark.database_free


def rows(contents):
    return list(csv.DictReader(io.StringIO(codebook_csv(contents))))


def test_the_codebook_has_exactly_the_columns_of_all_tables(tmp_path):
    contents = a_release(tmp_path)
    explained = [(row["table"], row["column"]) for row in rows(contents)]
    assert explained == [(one.name, column.name) for one in contents.tables for column in one.columns]
    assert set(explained) == {
        (table, column.name) for table, columns in COLUMNS.items() for column in columns
    }
    text = codebook(contents)
    for one in contents.tables:
        _, _, about = text.partition(f"\n## {one.name}\n")
        about = about.partition("\n## ")[0]
        assert all(f"| `{column.name}` |" in about for column in one.columns)


def test_every_row_states_type_description_and_when_it_is_empty(tmp_path):
    contents = a_release(tmp_path)
    for row in rows(contents):
        assert set(row) == set(HEADER)
        assert row["type"]
        assert row["description"]
        assert row["missing"]
    nullable = {(one.name, column.name): column.nullable for one in contents.tables for column in one.columns}
    assert all((row["missing"] == NEVER) != nullable[row["table"], row["column"]] for row in rows(contents))


def test_units_are_stated_where_numbers_have_one(tmp_path):
    units = {(row["table"], row["column"]): row["unit"] for row in rows(a_release(tmp_path))}
    assert units["boxes", "width"] == "share of the image's width, 0 to 1"
    assert units["images", "width"] == "pixels"
    assert units["annotations", "active_seconds"] == "seconds"
    assert units["soft_labels", "share_3"] == "share, 0 to 1"
    assert units["annotators", "judgements"] == ""


def test_values_have_their_meaning(tmp_path):
    values = {(row["table"], row["column"]): row["values"] for row in rows(a_release(tmp_path))}
    assert values["ratings", "rating"].startswith("1 = Strongly Disagree; 2 = Disagree; 3 = Unsure")
