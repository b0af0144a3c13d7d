"""The head of the data card states the size of the default table."""

from dataclasses import replace

import pytest
import yaml

from analysis.releases.documents.front_matter import front_matter
from tests.analysis.releases.documents.example_release import a_release

pytestmark = pytest.mark.database_free


def test_a_release_of_ratings_alone_is_as_large_as_its_ratings(tmp_path):
    made = a_release(tmp_path)
    rows = {"judgements": 0, "ratings": 5_000}
    tables = tuple(replace(one, rows=rows.get(one.name, one.rows)) for one in made.tables)
    head = yaml.safe_load(front_matter(replace(made, tables=tables)).strip("-"))
    assert head["size_categories"] == ["1K<n<10K"]
    assert head["configs"][0]["config_name"] == "ratings"
