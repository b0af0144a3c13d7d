"""Changes since the last release, in words."""

import pytest

from analysis.releases.documents.changelog import changelog
from analysis.releases.documents.data_card import data_card
from tests.analysis.releases.documents.example_release import a_release

pytestmark = pytest.mark.database_free


def test_the_first_release_has_nothing_to_compare_with(tmp_path):
    text = changelog(a_release(tmp_path))
    assert "## Release 1 (labels until 2026-03-01)" in text
    assert "The first release." in text
    assert "| `judgements` | 6 |" in text


def test_a_later_release_lists_departures_with_reasons_before_additions(tmp_path):
    text = changelog(a_release(tmp_path, version=2))
    newest, _, first = text.partition("## Release 1 ")
    lines = [line for line in newest.splitlines() if line.startswith("- ")]
    assert lines == [
        "- 2 annotators left out: the lead excluded them",
        "- 1 annotator left out: they withdrew their consent",
        "- 1 new annotator",
        "- 3 submissions removed: consent withdrawn",
        "- 1,200 submissions added",
        "- 1 image removed: retracted",
        "- new campaign: rating",
        "- new guidelines in marking: version 2, 3",
        "- `formats` is now parquet, csv; it was parquet",
        "- `k` is now 5; it was 3",
    ]
    assert "| `judgements` | 9 | 6 |" in newest
    assert "`boxes`" not in newest
    assert "The first release." in first


def test_the_text_does_not_promise_that_releases_cannot_be_matched(tmp_path):
    contents = a_release(tmp_path, version=2)
    assert "can still match people" in changelog(contents)
    assert "can still match people" in data_card(contents)
    assert "cannot be joined" not in changelog(contents) + data_card(contents)
