"""A release contains the words that models associate with descriptors, from up-to-date results."""

import csv

import pytest

from analysis.releases.tables.probes.words import COLUMNS, TABLE
from analysis.results import reports
from analysis.results.parameters import parameters_of
from analysis.results.probe_tables import WORD_TABLES
from tests.analysis.probing.isles import isles, probe
from tests.analysis.releases.conftest import rows, tree

pytestmark = pytest.mark.django_db


@pytest.fixture
def study(lead, tmp_path):
    study = isles(lead, tmp_path)
    probe(study)
    return study


def compute(study, lead):
    return reports.compute_report(study=study, parameters=parameters_of(study, resamples=100), by=lead)


@pytest.mark.database_free
def test_the_table_has_every_documented_column_but_peoples_levels():
    names = {column.name for column in COLUMNS[TABLE]}
    assert set(WORD_TABLES["associations"]) - names == {"bias_level_people"}


def test_associations_are_those_of_the_results(study, lead, released):
    report = compute(study, lead)
    release, folder = released(study)
    stored = report.rows("associations")
    table = rows(folder, TABLE)
    assert len(table) == len(stored) > 100
    for one, other in zip(table, stored, strict=True):
        assert {name: other[name] for name in one} == one
    with (folder / "csv" / f"{TABLE}.csv").open(encoding="utf-8", newline="") as file:
        assert len(list(csv.DictReader(file))) == len(stored)
    again, other_folder = released(study)
    assert release.version == again.version
    assert tree(folder) == tree(other_folder)


def test_outdated_results_are_left_out(study, lead, released):
    compute(study, lead)
    probe(study, model="other")
    _, folder = released(study)
    assert rows(folder, TABLE) == []
    assert "rows of word_associations" in (folder / "release.json").read_text(encoding="utf-8")
    compute(study, lead)
    _, folder = released(study)
    assert {row["model"] for row in rows(folder, TABLE)} == {"other", "script"}


def test_studies_that_asked_for_no_words_have_no_such_table(probed, released):
    _, folder = released(probed)
    assert not (folder / "data" / f"{TABLE}.parquet").exists()
