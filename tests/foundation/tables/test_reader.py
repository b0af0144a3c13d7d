"""Uploaded tables: contents are read as text, and invalid tables are refused in one sentence."""

import io
import zipfile

import pytest
from hypothesis import given
from hypothesis import strategies as st

from foundation.errors import DomainError
from foundation.tables.reader import read_table


def read(content: bytes, name: str = "table.csv", **options):
    return read_table(io.BytesIO(content), name=name, **options)


def test_cells_are_text_as_they_stand_and_na_is_not_missing():
    table = read(b"name,value\nNA,\nnan, 007 \n")
    assert table.columns["name"].tolist() == ["NA", "nan"]
    assert table.columns["value"].tolist() == ["", " 007 "]


def test_rows_are_numbered_as_a_spreadsheet_numbers_them():
    table = read(b'name,value\n"two\nlines",1\n\nlater,2\n')
    assert table.rows.tolist() == [2, 4]


def test_a_row_with_more_or_fewer_cells_than_the_header_is_set_apart():
    table = read(b"name,value\na,1,extra\nb\nc,3\n")
    assert table.columns["name"].tolist() == ["c"]
    assert [row for row, _ in table.unreadable] == [2, 3]
    assert table.read == 3


@pytest.mark.parametrize("mark", [b",", b";", b"\t"])
def test_commas_semicolons_and_tabs_separate(mark):
    table = read(mark.join([b"name", b"value"]) + b"\n" + mark.join([b"a", b"1"]) + b"\n")
    assert list(table.columns) == ["name", "value"]


def test_a_byte_order_mark_is_no_part_of_the_first_column():
    assert list(read("\ufeffname,value\na,1\n".encode()).columns) == ["name", "value"]


def test_json_lines_number_their_objects_from_1_and_keep_types_as_text():
    table = read(b'{"a": "x", "b": true, "c": 2.0}\n\n{"a": null, "b": [1, 2]}\n', name="labels.jsonl")
    assert table.rows.tolist() == [1, 3]
    assert {name: list(cells) for name, cells in table.columns.items()} == {
        "a": ["x", ""],
        "b": ["true", "[1, 2]"],
        "c": ["2", ""],
    }


def test_a_workbook_is_read_by_its_first_sheet_or_the_one_named(workbook):
    file = workbook({"one": [["a", "b"], ["x", 2], [None, 2.5]], "two": [["c"], ["z"]]})
    first = read_table(file)
    assert first.columns["b"].tolist() == ["2", "2.5"]
    assert first.columns["a"].tolist() == ["x", ""]
    assert list(read_table(file, sheet="two").columns) == ["c"]
    with pytest.raises(DomainError, match="has no sheet “three”"):
        read_table(file, sheet="three")


@pytest.mark.parametrize(
    ("content", "name", "sentence"),
    [
        (b"", "a.csv", "“a.csv” is empty"),
        (b" \n\n", "a.csv", "“a.csv” is empty"),
        (b",,\n1,2,3\n", "a.csv", "row 1 names no column"),
        (b"a,a\n1,2\n", "a.csv", "two columns called “a”"),
        (b"a,b\n1,\xe9\n", "a.csv", "not UTF-8 text (row 2)"),
        ("a,b\n1,2\n".encode("utf-16"), "a.csv", "not UTF-8 text (row 1)"),
        (b"a,b\n1,\0\n", "a.csv", "row 2 contains a NUL"),
        (b'a,b\n1,"2\n', "a.csv", "not a well-formed CSV file"),
        (b"a,b\n1," + b"x" * 140_000 + b"\n", "a.csv", "more than 131,072 characters in row 2"),
        (b'{"a": 1}\nnonsense\n', "a.jsonl", "not JSON in line 2"),
        (b"[1, 2]\n", "a.jsonl", "other than an object in line 1"),
        (b"[" * 100_000, "a.jsonl", "not JSON in line 1"),
        (b"PK\x03\x04 not a workbook", "a.xlsx", "not a workbook that can be read"),
        (b"\xd0\xcf\x11\xe0 neither", "a.xls", "an old Excel file"),
    ],
)
def test_what_is_no_table_is_refused_in_one_sentence_that_names_the_file(content, name, sentence):
    with pytest.raises(DomainError) as refusal:
        read(content, name)
    assert sentence in refusal.value.message
    assert name in refusal.value.message
    assert refusal.value.message.count(". ") == 0


def test_a_file_over_the_limit_is_refused_naming_the_limit():
    with pytest.raises(DomainError, match="larger than the 10 bytes"):
        read(b"a,b\n1,2\n3,4\n", max_bytes=10)


def test_a_workbook_that_unpacks_to_more_than_the_limit_is_refused():
    bomb = io.BytesIO()
    with zipfile.ZipFile(bomb, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("xl/worksheets/sheet1.xml", b"0" * 5_000_000)
    with pytest.raises(DomainError, match="unpacks to more than the 100,000 bytes"):
        read(bomb.getvalue(), "bomb.xlsx", max_bytes=100_000)


@pytest.mark.parametrize(
    "cell",
    [
        '<c r="XFD1048576"><v>1</v></c>',
        '<c r="A99999999999"><v>1</v></c>',
        "<c r = 'ZZZZZ9999999'><v>1</v></c>",
    ],
)
def test_a_cell_so_far_out_that_its_sheet_would_fill_the_memory_is_refused(workbook, tmp_path, cell):
    source, far = workbook({"one": [["a"], ["x"]]}), tmp_path / "far.xlsx"
    with zipfile.ZipFile(source) as archive, zipfile.ZipFile(far, "w") as copy:
        for part in archive.namelist():
            content = archive.read(part).decode()
            copy.writestr(part, content.replace("</row></sheetData>", f"{cell}</row></sheetData>"))
    with pytest.raises(DomainError, match=r"“far\.xlsx” needs more memory than a table may take"):
        read_table(far)


def test_a_wide_sheet_is_read(workbook):
    book = workbook({"one": [[f"column {n}" for n in range(26)], list(range(26))]})
    assert len(read_table(book).columns) == 26


def test_another_archive_is_no_workbook():
    other = io.BytesIO()
    with zipfile.ZipFile(other, "w") as archive:
        archive.writestr("a.csv", "x,y\n1,2\n")
    with pytest.raises(DomainError, match=r"is an archive but not an \.xlsx workbook"):
        read(other.getvalue(), "a.xlsx")


@given(st.binary(max_size=300), st.sampled_from(["a.csv", "a.tsv", "a.jsonl", "a.xlsx"]))
def test_any_bytes_are_a_table_or_refused(content, name):
    try:
        table = read(content, name)
    except DomainError as refusal:
        assert name in refusal.message  # noqa: PT017 -- a table is as good an outcome
        return
    assert all(len(cells) == len(table.rows) for cells in table.columns.values())


def test_a_spreadsheet_is_refused_where_a_csv_is_asked_for(workbook):
    with pytest.raises(DomainError, match="not a CSV file"):
        read_table(workbook({"one": [["a"], ["x"]]}), workbooks=False)


def test_a_missing_file_is_named(tmp_path):
    with pytest.raises(DomainError, match=r"“absent\.csv” cannot be read"):
        read_table(tmp_path / "absent.csv")
