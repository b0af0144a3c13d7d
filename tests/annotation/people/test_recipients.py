"""Reading notes and addresses from lines and tables as people write them."""

import io

import pytest

from annotation.people.recipients import Recipient, from_lines, from_table
from foundation.tables.reader import read_table

pytestmark = pytest.mark.database_free


@pytest.mark.parametrize(
    ("line", "note", "address"),
    [
        ("Ada", "Ada", ""),
        ("Ada Example, ada@example.org", "Ada Example", "ada@example.org"),
        ("Ada Example\tada@example.org", "Ada Example", "ada@example.org"),
        ("Ada <ada@example.org>", "Ada", "ada@example.org"),
        ("Example; Ada; ada@example.org", "Example; Ada", "ada@example.org"),
        ("ada@example.org", "", "ada@example.org"),
    ],
)
def test_recipients_are_read_from_lines(line, note, address):
    assert from_lines(f"\n{line}\n \n") == [Recipient(note, address)]


@pytest.mark.parametrize(
    ("table", "people"),
    [
        ("name,email\nAda,ada@example.org\nBo,\n", [("Ada", "ada@example.org"), ("Bo", "")]),
        ("E-Mail Address;Note\nada@example.org;Ada\n;\n", [("Ada", "ada@example.org")]),
        ("who,age\nAda,30\n", [("Ada", "")]),
        ("email\nada@example.org\n", [("", "ada@example.org")]),
    ],
)
def test_recipients_are_read_from_tables(table, people):
    read = read_table(io.BytesIO(table.encode()), name="people.csv", max_bytes=10_000)
    assert from_table(read) == [Recipient(*person) for person in people]
