"""Tables as CSV."""

import csv
import io
import math

import pandas as pd
import pytest

from analysis.results.output.csv_tables import rows_to_csv, to_csv


@pytest.mark.parametrize("text", ["=1+1", "+cmd", "-foo", "@sum", "\tx", "\rx"])
def test_spreadsheet_formulas_are_prefixed_with_an_apostrophe(text):
    written = rows_to_csv(["attribute"], [[text]])
    assert list(csv.reader(io.StringIO(written, newline="")))[1] == ["'" + text.replace("\r", "\n")]


def test_numbers_stay_numbers():
    assert rows_to_csv(["a", "b"], [[-0.5, -3]]) == "a,b\n-0.5,-3\n"


def test_every_digit_is_kept():
    frame = pd.DataFrame({"x": pd.array([0.1 + 0.2, 1 / 3], dtype="Float64")})
    assert [float(line) for line in to_csv(frame).splitlines()[1:]] == [0.1 + 0.2, 1 / 3]


def test_null_is_an_empty_cell_whatever_the_column():
    frame = pd.DataFrame(
        {
            "number": pd.array([None, 1.5], dtype="Float64"),
            "count": pd.array([None, 2], dtype="Int64"),
            "word": pd.array([None, "hat"], dtype="string"),
            "truth": pd.array([None, True], dtype="boolean"),
        }
    )
    assert to_csv(frame) == "number,count,word,truth\n,,,\n1.5,2,hat,true\n"


def test_a_comma_a_quote_and_a_line_break_survive():
    texts = ["a, b", 'the "hat"', "two\nlines"]
    written = rows_to_csv(["text"], [[text] for text in texts])
    assert [row[0] for row in csv.reader(written.splitlines(keepends=True))][1:] == texts


def test_an_empty_table_keeps_its_header():
    assert to_csv(pd.DataFrame(columns=["a", "b"])) == "a,b\n"


@pytest.mark.parametrize("value", [math.nan, math.inf])
def test_non_finite_numbers_never_reach_a_file(value):
    with pytest.raises(ValueError, match="undefined numbers are null"):
        rows_to_csv(["x"], [[value]])
