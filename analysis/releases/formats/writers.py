"""Tables as Parquet, CSV and JSON lines, page by page; equal rows give equal bytes."""

import json
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from types import TracebackType
from typing import Any, Protocol, Self

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv
import pyarrow.parquet as pq

from analysis.releases.contents import FOLDERS, Column
from analysis.results.output.csv_tables import cell
from foundation.tables.formulas import guarded

_TYPES = {
    "string": pa.string(),
    "boolean": pa.bool_(),
    "integer": pa.int64(),
    "number": pa.float64(),
    "date": pa.date32(),
}
# Consecutive numbers need one bit per row if their differences are stored.
_COUNTING = ("judgement", "annotation", "box")
_LINES_AT_ONCE = 16_384


class _Writer(Protocol):
    def write(self, table: pa.Table) -> None: ...

    def close(self) -> None: ...


class _Parquet:
    def __init__(self, path: Path, columns: Sequence[Column]) -> None:
        counting = {c.name: "DELTA_BINARY_PACKED" for c in columns if c.name in _COUNTING}
        self._writer = pq.ParquetWriter(
            path,
            _dictionary_schema(columns),
            compression="zstd",
            compression_level=1,
            use_dictionary=[c.name for c in columns if c.name not in counting and c.type != "number"],
            column_encoding=counting or None,
            store_schema=False,  # readers get plain strings, whatever was convenient to write
        )

    def write(self, table: pa.Table) -> None:
        self._writer.write_table(table, row_group_size=len(table))

    def close(self) -> None:
        self._writer.close()


class _Csv:
    """Text that a spreadsheet would run as a formula gets an apostrophe in front, here and nowhere else."""

    def __init__(self, path: Path, columns: Sequence[Column]) -> None:
        self._writer = pyarrow.csv.CSVWriter(path, schema_of(columns))
        self._guards = [guarded if column.exact else cell for column in columns]

    def write(self, table: pa.Table) -> None:
        safe = [
            _mapped(column, guard) if _is_text(column) else column
            for column, guard in zip(table.columns, self._guards, strict=True)
        ]
        self._writer.write_table(pa.table(safe, names=table.column_names))

    def close(self) -> None:
        self._writer.close()


class _JsonLines:
    def __init__(self, path: Path, _: Sequence[Column]) -> None:
        self._file = path.open("wb")

    def write(self, table: pa.Table) -> None:
        for start in range(0, len(table), _LINES_AT_ONCE):
            self._file.write(json_objects(table.slice(start, _LINES_AT_ONCE), end="}\n"))

    def close(self) -> None:
        self._file.close()


_WRITERS: Mapping[str, Callable[[Path, Sequence[Column]], _Writer]] = {
    "parquet": _Parquet,
    "csv": _Csv,
    "jsonl": _JsonLines,
}


class TableWriter:
    """One table in every chosen format."""

    def __init__(self, folder: Path, name: str, columns: Sequence[Column], formats: Sequence[str]) -> None:
        self.columns = tuple(columns)
        self.rows = 0
        self.files = {
            file_format: f"{FOLDERS[file_format]}/{name}.{file_format}"
            for file_format in formats
            if file_format in FOLDERS
        }
        for path in self.files.values():
            (folder / path).parent.mkdir(exist_ok=True)
        self._schema = _dictionary_schema(columns)
        self._writers = [
            _WRITERS[file_format](folder / path, columns) for file_format, path in self.files.items()
        ]

    def write(self, columns: Mapping[str, Any]) -> None:
        """Write a page: an array, or a list of Python values, for each column."""
        arrays = [_array(columns[field.name], field.type) for field in self._schema]
        table = pa.table(arrays, schema=self._schema)
        self.rows += len(table)
        if len(table):
            for writer in self._writers:
                writer.write(table)

    def close(self) -> None:
        for writer in self._writers:
            writer.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


def schema_of(columns: Sequence[Column]) -> pa.Schema:
    """The columns as Arrow types them."""
    return pa.schema([pa.field(c.name, _TYPES[c.type], nullable=True) for c in columns])


def _dictionary_schema(columns: Sequence[Column]) -> pa.Schema:
    """A dictionary-encoded column, with every distinct text of a page once; pages have this form, and all writers use
    it."""
    text = pa.dictionary(pa.int32(), pa.string())
    fields = [field.with_type(text) if field.type == pa.string() else field for field in schema_of(columns)]
    return pa.schema(fields)


def json_objects(table: pa.Table, *, end: str) -> bytes:
    """Return the rows as JSON objects, each followed by `end`."""
    if not len(table):
        return b""
    parts: list[Any] = []
    for index, name in enumerate(table.column_names):
        parts += [f"{',' if index else '{'}{json.dumps(name)}:", _json_cells(table.column(index))]
    lines = pc.binary_join_element_wise(*parts, end, "")
    return b"".join(_bytes_of(chunk) for chunk in (lines.chunks if _is_chunked(lines) else [lines]))


def _json_cells(column: pa.ChunkedArray) -> pa.ChunkedArray:
    kind = column.type
    if _is_text(column):
        cells = _mapped(column, _quoted)
        cells = cells.cast(pa.string()) if pa.types.is_dictionary(cells.type) else cells
    elif pa.types.is_boolean(kind):
        cells = pc.if_else(column, "true", "false")
    elif pa.types.is_date(kind):
        cells = pc.binary_join_element_wise('"', column.cast(pa.string()), '"', "")
    else:
        cells = column.cast(pa.string())
    return pc.fill_null(cells, "null")


def _quoted(text: str) -> str:
    return json.dumps(text, ensure_ascii=False)


def _mapped(column: pa.ChunkedArray, change: Callable[[str], str]) -> pa.ChunkedArray:
    """Change each different text once."""
    encoded = column if pa.types.is_dictionary(column.type) else column.dictionary_encode()
    chunks = [
        pa.DictionaryArray.from_arrays(
            chunk.indices, pa.array([change(text) for text in chunk.dictionary.to_pylist()], pa.string())
        )
        for chunk in encoded.chunks
    ]
    return pa.chunked_array(chunks, pa.dictionary(pa.int32(), pa.string())).cast(pa.string())


def _array(values: Any, kind: pa.DataType) -> Any:
    if not isinstance(values, pa.Array):
        values = pa.array(values, kind.value_type if pa.types.is_dictionary(kind) else kind)
    if pa.types.is_dictionary(kind) and not pa.types.is_dictionary(values.type):
        return values.dictionary_encode()
    return values if values.type == kind else values.cast(kind)


def _is_text(column: pa.ChunkedArray) -> bool:
    return bool(pa.types.is_string(column.type) or pa.types.is_dictionary(column.type))


def _is_chunked(values: Any) -> bool:
    return isinstance(values, pa.ChunkedArray)


def _bytes_of(lines: pa.Array) -> bytes:
    """The text of all elements in one buffer."""
    offsets = memoryview(lines.buffers()[1]).cast("i")
    start, end = offsets[lines.offset], offsets[lines.offset + len(lines)]
    return bytes(memoryview(lines.buffers()[2])[start:end])
