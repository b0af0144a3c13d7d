"""Tables that are designed to consume time or memory, damaged tables, and text that no database can store."""

import io
import json
import time
import zipfile

import pytest

from annotation.imports.boxes import parse_numbers
from annotation.imports.marks import group_of_file
from catalog.imports.resources import _number, read_pairs
from foundation.errors import DomainError
from foundation.tables import limits
from foundation.tables.reader import read_table
from tests.foundation.damage import how_many, mutated, mutated_json

SECONDS = 5  # of processor time: each takes a fraction of a second; with quadratic code it was 16 or more


def read(content: bytes, name: str = "table.csv", **options):
    return read_table(io.BytesIO(content), name=name, **options)


def refusal(content: bytes, name: str = "table.csv", *, seconds: int = SECONDS, **options) -> str:
    began = time.process_time()
    with pytest.raises(DomainError) as refused:
        read(content, name, **options)
    assert time.process_time() - began < seconds
    assert refused.value.message.count(". ") == 0
    return refused.value.message


def changed(workbook, change, name="changed.xlsx"):
    """Return a workbook with changed parts: `change(name, content)` returns the new name and content."""
    source = workbook({"one": [["a", "b"], ["x", 2], [None, 2.5]], "two": [["c"], ["z"]]})
    path = source.with_name(name)
    with zipfile.ZipFile(source) as archive, zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as copy:
        for part in archive.namelist():
            copy.writestr(*change(part, archive.read(part).decode()))
    return path


def test_a_table_of_20_000_columns_is_refused_at_once():
    header = ",".join(f"column {n}" for n in range(20_000))
    assert refusal(header.encode()) == "“table.csv” has 20,000 columns; 1,000 are allowed."


def test_json_lines_that_name_another_column_each_are_refused_at_once():
    lines = "\n".join(json.dumps({f"key {n}": n}) for n in range(100_000))
    assert refusal(lines.encode(), "table.jsonl") == (
        "“table.jsonl” names more than 1,000 columns in its first 1001 lines; 1,000 are allowed."
    )


def test_a_table_with_as_many_columns_as_are_allowed_is_read():
    header = ",".join(f"column {n}" for n in range(1_000))
    assert len(read(f"{header}\n{','.join(['x'] * 1_000)}\n".encode()).columns) == 1_000


def test_too_many_rows_or_cells_are_refused(monkeypatch):
    monkeypatch.setattr("foundation.tables.reader.MAX_ROWS", 10)
    assert "more than" in refusal(b"a\n" + b"x\n" * 11)
    assert len(read(b"a\n" + b"x\n" * 9)) == 9
    monkeypatch.setattr("foundation.tables.reader.MAX_ROWS", limits.MAX_ROWS)
    monkeypatch.setattr("foundation.tables.reader.MAX_CELLS", 20)
    assert "more than" in refusal(b"a,b\n" + b"x,y\n" * 11)
    assert "more than" in refusal(b'{"a": 1, "b": 2}\n' * 11, "a.jsonl")


def test_a_row_of_a_million_cells_costs_no_more_than_its_bytes():
    table = read(b"a,b\n" + b"," * 1_000_000 + b"\n1,2\n")
    assert table.unreadable == ((2, "1000001 cells where the header has 2"),)


@pytest.mark.parametrize("name", ["a.csv", "a.jsonl", "a.xlsx"])
def test_one_giant_cell_is_refused_in_every_kind_of_table(name, workbook):
    giant = "x" * 140_000
    content = {
        "a.csv": f'a,b\n1,"{giant}"\n'.encode(),
        "a.jsonl": json.dumps({"a": giant}).encode(),
        "a.xlsx": workbook({"one": [["a"], [giant]]}).read_bytes(),
    }[name]
    assert "has a cell of more than 131,072 characters in" in refusal(content, name)


@pytest.mark.parametrize("depth", [500, 990, 100_000])
def test_json_that_nests_deeply_is_read_or_refused(depth):
    line = b'{"a": ' + b"[" * depth + b"]" * depth + b"}"
    try:
        table = read(line, "a.jsonl")
    except DomainError as refused:
        assert "is not JSON in line 1" in refused.message  # noqa: PT017 -- being read is as good
    else:
        assert len(table.columns["a"][0]) == 2 * depth


@pytest.mark.parametrize(
    ("odd", "what"), [("\ud800", "half of a surrogate pair"), ("a\0b", "a NUL character")]
)
class TestTextThatNoDatabaseStores:
    def test_its_row_of_json_is_set_apart(self, odd, what):
        lines = [{"a": "x"}, {"a": odd}, {"a": "y"}]
        table = read("\n".join(map(json.dumps, lines)).encode(), "a.jsonl")
        assert table.columns["a"].tolist() == ["x", "y"]
        assert table.rows.tolist() == [1, 3]
        assert table.unreadable == ((2, f"{what} in a"),)

    def test_inside_a_list_it_is_written_out(self, odd, what):
        table = read(json.dumps({"a": [odd]}).encode(), "a.jsonl")
        assert (len(table), len(table.unreadable)) in {(0, 1), (1, 0)}

    def test_as_a_column_it_is_refused(self, odd, what):
        assert f"has {what} in the name of a column" in refusal(json.dumps({odd: 1}).encode(), "a.jsonl")

    def test_a_resource_with_it_is_refused_by_row(self, odd, what):
        lines = [{"identity": "Velmari", "attribute": "kite"}, {"identity": odd, "attribute": "drum"}]
        table = read("\n".join(map(json.dumps, lines)).encode(), "a.jsonl")
        with pytest.raises(DomainError, match=f"row 2: it has {what} in identity"):
            read_pairs(table)


@pytest.mark.parametrize("cell", ["9" * 100_000 + "x", "." + "9" * 100_000 + "x", "1e" + "9" * 100_000 + "x"])
def test_a_cell_of_many_digits_that_is_no_number_is_seen_at_once(cell):
    began = time.process_time()
    with pytest.raises(DomainError, match="not a number"):
        _number(cell, "S(r)")
    with pytest.raises(ValueError, match="are not coordinates"):
        parse_numbers(f"0.1 0.1 0.2 {cell}")
    with pytest.raises(ValueError, match="no group in the file name"):
        group_of_file(cell)
    assert time.process_time() - began < SECONDS


@pytest.mark.parametrize(
    ("cell", "value"),
    [("7", 7), ("7.", 7), ("07.50", 7.5), (".5", 0.5), ("-1e-2", -0.01), ("+2.5E+1", 25), ("1.e3", 1000)],
)
def test_numbers_are_read_however_they_are_written(cell, value):
    assert _number(cell, "S(r)") == value
    assert parse_numbers(cell) == [value]


@pytest.mark.parametrize("cell", [".", "1.2.3", "e5", "1e", "--1", "1 2", "1_000", "0x10", "nan", "inf"])
def test_what_is_no_number_is_refused(cell):
    with pytest.raises(DomainError, match="not a number"):
        _number(cell, "S(r)")
    if cell != "1 2":  # two coordinates
        with pytest.raises(ValueError, match="are not coordinates"):
            parse_numbers(cell)


def test_the_row_of_a_workbook_with_a_nul_is_set_apart(workbook):
    table = read_table(changed(workbook, lambda part, text: (part, text.replace(">x<", ">x\0y<"))))
    assert table.unreadable == ((2, "a NUL character in a"),)
    assert table.columns["b"].tolist() == ["2.5"]


@pytest.mark.parametrize(
    "names",
    [
        [("xl/workbook.xml", "xl/workbook22.xml"), ("xl/_rels/workbook.xml", "xl/_rels/workbook22.xml")],
        [
            ("xl/workbook.xml", "data/book.xml"),
            ("xl/_rels/workbook.xml", "data/_rels/book.xml"),
            ("xl/", "data/"),
        ],
        [("xl/", "")],
        [("sheet1.xml", "First Sheet.data")],
        [("xl/workbook.xml", "XL/Workbook.XML")],
    ],
)
def test_a_workbook_is_read_whatever_its_parts_are_called(workbook, names):
    def renamed(part, text):
        for old, new in names:
            part, text = part.replace(old, new), text.replace(old, new)
        return part, text

    table = read_table(changed(workbook, renamed))
    assert {name: list(cells) for name, cells in table.columns.items()} == {"a": ["x", ""], "b": ["2", "2.5"]}


def test_a_workbook_that_names_a_thousand_parts_in_tags_that_never_end_is_refused_at_once(workbook):
    def endless(part, text):
        name = part.replace("xl/workbook.xml", "xl/book.xml")
        return name, '<Relationship Target="a" ' * 1_000 if part == "_rels/.rels" else text

    path = changed(workbook, endless)
    assert "archive but not an .xlsx workbook" in refusal(path.read_bytes(), path.name)


def test_a_workbook_that_claims_four_billion_texts_ends_its_reader_and_not_this_process(workbook):
    shared = (
        '<sst xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main" uniqueCount="4000000000"/>'
    )
    path = changed(workbook, with_shared_texts())
    with zipfile.ZipFile(path, "a") as archive:
        archive.writestr("xl/sharedStrings.xml", shared)
    assert "needs more memory than a table may take" in refusal(path.read_bytes(), path.name)


def test_a_long_text_in_every_cell_of_a_small_workbook_does_not_fill_the_memory(workbook):
    """One text of 100 KB that 100,000 cells refer to: 10 GB from a file of 20 KB."""
    path = changed(workbook, with_shared_texts('<row><c t="s"><v>0</v></c></row>' * 100_000))
    with zipfile.ZipFile(path, "a", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr(
            "xl/sharedStrings.xml",
            '<sst xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main">'
            f"<si><t>{'x' * 100_000}</t></si></sst>",
        )
    assert path.stat().st_size < 50_000
    # The limit is filled before anything is refused.
    assert "needs more memory than a table may take" in refusal(path.read_bytes(), path.name, seconds=60)


def with_shared_texts(rows: str = ""):
    relation = (
        '<Relationship Id="rId9" Target="sharedStrings.xml" '
        'Type="http://schemas.openxmlformats.org/officeDocument/2006/relationships/sharedStrings"/>'
    )

    def change(part, text):
        text = text.replace("</Relationships>", f"{relation}</Relationships>") if "workbook" in part else text
        return part, text.replace("</sheetData>", f"{rows}</sheetData>")

    return change


def test_a_wide_sheet_and_one_with_many_cells_are_refused_with_their_size(workbook):
    wide = changed(workbook, lambda part, text: (part, text.replace('r="B3"', 'r="ZZZ3"')))
    assert refusal(wide.read_bytes(), "a.xlsx").startswith(
        "“a.xlsx” has a sheet of 3 rows and 18,278 columns;"
    )


def test_a_workbook_of_very_many_sheets_is_read_and_names_some_of_them(workbook):
    book = workbook({f"sheet {n}": [["a"], [n]] for n in range(2_000)})
    assert read_table(book, sheet="sheet 1999").columns["a"].tolist() == ["1999"]
    assert len(refusal(book.read_bytes(), "a.xlsx", sheet="none")) < 500


class TestDamagedFiles:
    """Each is read as a table or refused in one sentence; other errors must not occur."""

    def try_all(self, contents, name):
        outcomes = set()
        for content in contents:
            try:
                table = read(content, name)
            except DomainError as refused:
                assert name in refused.message  # noqa: PT017 -- being read is as good
                outcomes.add("refused")
                continue
            outcomes.add("read")
            for cells in table.columns.values():
                assert len(cells) == len(table.rows)
                "\n".join(cells).encode()  # what a database does with it
        assert outcomes == {"read", "refused"}

    def test_csv(self):
        whole = b'identity,attribute,note\nVelmari,kite,"a, b"\n"Orsani",drum,"two\nlines"\n'
        self.try_all(mutated(whole, how_many(1_500), seed=1), "a.csv")

    def test_json_lines(self):
        value = {"identity": "Velmari", "attribute": ["kite", {"a": 1.5}], "note": "a \u2028 b"}
        self.try_all(mutated_json(value, how_many(1_500), seed=2), "a.jsonl")

    def test_workbooks(self, workbook):
        whole = workbook({"one": [["a", "b"], ["x", 2], [None, 2.5]]}).read_bytes()
        self.try_all(mutated(whole, how_many(30), seed=3), "a.xlsx")

    def test_workbooks_whose_parts_are_damaged(self, workbook):
        source = workbook({"one": [["a", "b"], ["x", 2], [None, 2.5]]})
        with zipfile.ZipFile(source) as archive:
            parts = {name: archive.read(name) for name in archive.namelist()}

        def packed(name, content):
            file = io.BytesIO()
            with zipfile.ZipFile(file, "w") as archive:
                for part, whole in parts.items():
                    archive.writestr(part, content if part == name else whole)
            return file.getvalue()

        each = how_many(30) // len(parts) + 1
        self.try_all(
            (
                packed(name, damaged)
                for seed, (name, content) in enumerate(parts.items())
                for damaged in mutated(content, each, seed=seed)
            ),
            "a.xlsx",
        )
