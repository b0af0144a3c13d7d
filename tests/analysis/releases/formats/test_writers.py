"""Every format contains the same rows, for any text."""

import csv
import io
import json
import math
from datetime import date

import numpy as np
import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from analysis.releases.contents import Column
from analysis.releases.formats.writers import TableWriter
from analysis.releases.tables.lookups import KeyNames, encoded
from analysis.results.output.csv_tables import rows_to_csv

pytestmark = pytest.mark.database_free

COLUMNS = (
    Column("annotation", "integer", ""),
    Column("text", "string", "", True),
    Column("yes", "boolean", "", True),
    Column("share", "number", "", True),
    Column("day", "date", "", True),
)
# Databases store no null character and no lone surrogate.
text = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), max_size=12)
formulas = st.sampled_from("=+-@\t\r\n").flatmap(lambda first: text.map(lambda rest: first + rest))
row = st.tuples(
    st.integers(-(2**53), 2**53),
    st.none() | text | formulas,
    st.none() | st.booleans(),
    st.none() | st.floats(allow_nan=False, allow_infinity=False),
    st.none() | st.dates(),
)


def write(folder, pages) -> None:
    with TableWriter(folder, "table", COLUMNS, ("parquet", "csv", "jsonl")) as writer:
        for rows in pages:
            writer.write({c.name: [one[i] for one in rows] for i, c in enumerate(COLUMNS)})
    assert writer.rows == sum(map(len, pages))


@settings(deadline=None)
@given(st.lists(st.lists(row, max_size=6), max_size=3))
def test_every_format_contains_the_same_rows(tmp_path_factory, pages):
    folder = tmp_path_factory.mktemp("table")
    write(folder, pages)
    names = [column.name for column in COLUMNS]
    expected = [dict(zip(names, one, strict=True)) for rows in pages for one in rows]
    assert pq.read_table(folder / "data/table.parquet").to_pylist() == expected
    lines = (folder / "jsonl/table.jsonl").read_text(encoding="utf-8").split("\n")
    assert lines.pop() == ""
    loaded = [json.loads(line) for line in lines]
    assert loaded == [one | {"day": one["day"] and one["day"].isoformat()} for one in expected]


@settings(deadline=None)
@given(st.lists(row, max_size=6))
def test_csv_is_neutralised_like_other_tables(tmp_path_factory, rows):
    folder = tmp_path_factory.mktemp("table")
    write(folder, [rows])
    with (folder / "csv/table.csv").open(encoding="utf-8", newline="") as file:
        written = [one["text"] for one in csv.DictReader(file)]
    others = rows_to_csv(["n", "text"], [(one[0], one[1]) for one in rows])
    expected = csv.DictReader(io.StringIO(others, newline=""))
    assert written == [one["text"] for one in expected]


def test_only_csv_is_neutralised(tmp_path):
    write(tmp_path, [[(1, "=1+1", True, 0.1, date(2026, 5, 1))]])
    assert (tmp_path / "csv/table.csv").read_text() == (
        '"annotation","text","yes","share","day"\n1,"\'=1+1",true,0.1,2026-05-01\n'
    )
    assert json.loads((tmp_path / "jsonl/table.jsonl").read_text())["text"] == "=1+1"
    assert pq.read_table(tmp_path / "data/table.parquet").to_pylist()[0]["text"] == "=1+1"


def test_an_empty_table_has_its_columns(tmp_path):
    write(tmp_path, [])
    table = pq.read_table(tmp_path / "data/table.parquet")
    assert table.schema.types == [pa.int64(), pa.string(), pa.bool_(), pa.float64(), pa.date32()]
    assert pyarrow.csv.read_csv(tmp_path / "csv/table.csv").column_names == [c.name for c in COLUMNS]
    assert (tmp_path / "jsonl/table.jsonl").read_bytes() == b""


def test_fractions_keep_every_digit(tmp_path):
    numbers = [0.1 + 0.2, 1e-300, 1e22, math.pi, 5e-324, 1.0]
    write(tmp_path, [[(index, None, None, number, None) for index, number in enumerate(numbers)]])
    lines = (tmp_path / "jsonl/table.jsonl").read_text().splitlines()
    assert [json.loads(line)["share"] for line in lines] == numbers


def test_pages_of_more_rows_than_are_written_at_once(tmp_path):
    rows = [(index, f"word {index % 7}", None, None, None) for index in range(40_000)]
    write(tmp_path, [rows])
    lines = (tmp_path / "jsonl/table.jsonl").read_text().splitlines()
    assert [json.loads(line)["annotation"] for line in lines] == list(range(40_000))


@settings(deadline=None)
@given(st.lists(st.integers(-1, 4)))
def test_codes_become_names_and_only_those_that_occur(codes):
    names = pa.array(["a", "b", "c", "d", "e"])
    made = encoded(np.array(codes, dtype=np.int64), names)
    assert made.to_pylist() == [None if code < 0 else "abcde"[code] for code in codes]
    assert set(made.dictionary.to_pylist()) == {"abcde"[code] for code in codes if code >= 0}


@settings(deadline=None)
@given(st.dictionaries(st.integers(0, 50), text, max_size=10), st.lists(st.integers(-1, 60)))
def test_unknown_keys_have_no_name(known, keys):
    distinct = {key: f"{key} {name}" for key, name in known.items()}
    names = KeyNames.of(list(distinct), list(distinct.values()))
    made = names.of_keys(np.array(keys, dtype=np.int64))
    assert made.to_pylist() == [distinct.get(key) for key in keys]
