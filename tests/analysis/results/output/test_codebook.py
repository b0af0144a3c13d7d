"""The codebook of results names every column of every table, with its meaning."""

import csv
import io
import zipfile
from fnmatch import fnmatchcase

import pytest
from django.urls import reverse

from analysis.results import reports
from analysis.results.output.codebook import _COLUMNS, CODEBOOK, HEADER, meaning
from analysis.results.parameters import parameters_of
from analysis.results.probe_tables import PROBE_TABLES, REVIEW_TABLES, WORD_TABLES
from analysis.results.question_tables import QUESTION_TABLES
from analysis.results.schema import BY_LANGUAGE, PROMISED

DECLARED = {**PROMISED, **BY_LANGUAGE, **QUESTION_TABLES, **PROBE_TABLES, **REVIEW_TABLES, **WORD_TABLES}


@pytest.mark.parametrize("table", DECLARED)
def test_every_declared_column_has_a_meaning(table):
    without = [column for column in DECLARED[table] if not meaning(table, column)[1]]
    assert not without


def test_entries_belong_to_existing_tables_and_are_unique():
    rows = csv.DictReader(_COLUMNS.read_text(encoding="utf-8").splitlines())
    entries = [(table, row["column"]) for row in rows for table in row["tables"].split()]
    assert all(any(fnmatchcase(name, table) for name in DECLARED) for table, _ in entries)
    assert len(entries) == len(set(entries))


def test_an_entry_for_a_table_takes_precedence_over_a_pattern():
    assert meaning("pairs_tests", "other")[1] == "The second level, with which the first is compared."
    assert meaning("pairs_scores", "other")[1].startswith("Number of answers that neither")
    assert meaning("unknown", "unknown") == ("", "")


@pytest.mark.django_db
def test_the_zip_explains_every_column_and_has_no_empty_table(analyst_client, analyst, marked):
    parameters = parameters_of(marked.study, resamples=100)
    report = reports.compute_report(study=marked.study, parameters=parameters, by=analyst)
    response = analyst_client.get(reverse("analysis:archive", args=[marked.study.slug]))
    packed = zipfile.ZipFile(io.BytesIO(response.content))
    texts = {name.rpartition("/")[2]: packed.read(name).decode() for name in packed.namelist()}
    rows = list(csv.DictReader(io.StringIO(texts.pop(CODEBOOK))))
    assert tuple(rows[0]) == HEADER
    assert not [row for row in rows if not row["meaning"]]
    named = [(row["table"], row["column"]) for row in rows]
    assert named == [
        (name.removesuffix(".csv"), column)
        for name, text in texts.items()
        for column in next(csv.reader(io.StringIO(text)))
    ]
    assert all(text.count("\n") > 1 for text in texts.values())
    assert "mcas.csv" not in texts
    assert report.summary["empty_tables"]["mcas"]
