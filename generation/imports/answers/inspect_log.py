"""Logs of Inspect AI (`.json`, and `.eval` archives) as tables of answers: one row for each sample and epoch.

Fields read: of the log, `eval.model`; of each sample, `id`, `epoch`, `input`, `metadata`, `error`, and of its `output`
`model`, `completion` or the first choice's `message.content`, `stop_reason`, `usage` and `time`.
"""

import io
import json
from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np
from django.conf import settings

from foundation.tables.limits import MAX_COLUMNS, refusal
from foundation.tables.reader import Table, storable
from foundation.tables.workbook_process import text_of
from generation.imports.sources import ZipSource

_ZIP = b"PK\x03\x04"
_OUTCOMES = {"content_filter": "declined"}


def is_inspect_log(name: str) -> bool:
    """Return whether a file is a log of Inspect AI, judging by its suffix."""
    return name.lower().endswith((".json", ".eval"))


def inspect_table(data: bytes, *, name: str, digest: str) -> Table:
    """Return the samples of a log as a table; rows are numbered from 1 in the order of the log.

    Columns are named like fields; other facts of a sample are `id` and `metadata.<name>`. Raises DomainError if the
    file is not such a log.
    """
    if data.startswith(_ZIP):
        header, samples = _archived(data, name)
    else:
        header = _object(data, name)
        listed = header.get("samples")
        samples = iter(listed if isinstance(listed, list) else [])
    facts = header.get("eval")
    if not isinstance(facts, dict):
        raise refusal(name, "is not a log of Inspect AI: it has no description of the evaluation (eval)")
    model = text_of(facts.get("model"))
    rows = [
        {storable(column): storable(cell) for column, cell in _row(sample, model).items()}
        for sample in samples
        if isinstance(sample, dict)
    ]
    if not rows:
        raise refusal(name, "is a log of Inspect AI without samples", "table_empty")
    names = list(dict.fromkeys(column for row in rows for column in row))
    if len(names) > MAX_COLUMNS:
        raise refusal(name, f"has samples with more than {MAX_COLUMNS:,} different fields", "table_too_large")
    columns = {
        column: np.array([row.get(column, "") for row in rows], dtype=object) for column in names if column
    }
    return Table(name, columns, np.arange(1, len(rows) + 1, dtype=np.int64), (), digest)


def _archived(data: bytes, name: str) -> tuple[dict[str, Any], Iterator[Any]]:
    source = ZipSource(io.BytesIO(data))
    limit = settings.TABLE_MAX_BYTES
    if "header.json" not in source.names():
        raise refusal(name, "is not a finished log of Inspect AI: it has no header.json")
    header = _object(source.read("header.json", limit=limit, subject="header.json"), name)
    members = [
        member for member in source.names() if member.startswith("samples/") and member.endswith(".json")
    ]
    return header, (
        _object(source.read(member, limit=limit, subject=f"“{member}”"), name) for member in members
    )


def _object(data: bytes, name: str) -> dict[str, Any]:
    try:
        value = json.loads(data)
    except (ValueError, RecursionError) as error:
        raise refusal(name, "is not JSON", "table_not_json") from error
    if not isinstance(value, dict):
        raise refusal(name, "contains something other than an object", "table_not_json")
    return value


def _row(sample: Mapping[str, Any], model: str) -> dict[str, str]:
    output = _mapping(sample.get("output"))
    usage = _mapping(output.get("usage"))
    reason = text_of(_first_choice(output).get("stop_reason"))
    failed = sample.get("error") not in (None, "", {})
    row = {
        "id": text_of(sample.get("id")),
        "text": _completion(output),
        "question": _words(sample.get("input")),
        "repeat": text_of(sample.get("epoch")),
        "outcome": "failed" if failed else _OUTCOMES.get(reason, "done"),
        "model": model or text_of(output.get("model")),
        "served_model": text_of(output.get("model")),
        "finish_reason": reason,
        "tokens_in": text_of(usage.get("input_tokens")),
        "tokens_out": text_of(usage.get("output_tokens")),
        "seconds": text_of(output.get("time")),
    }
    metadata = {key: text_of(value) for key, value in _mapping(sample.get("metadata")).items()}
    row |= {f"metadata.{key}": value for key, value in metadata.items()}
    # Metadata that the author of the task gave a sample identifies it better than its text.
    stated = (
        "question",
        "experiment",
        "scenario",
        "group",
        "image",
        "descriptor",
        "letter",
        "order",
        "first",
    )
    return row | {name: metadata[name] for name in stated if metadata.get(name)}


def _completion(output: Mapping[str, Any]) -> str:
    completion = output.get("completion")
    if isinstance(completion, str) and completion:
        return completion
    return _content(_mapping(_first_choice(output).get("message")).get("content"))


def _first_choice(output: Mapping[str, Any]) -> Mapping[str, Any]:
    choices = output.get("choices")
    return _mapping(choices[0]) if isinstance(choices, list) and choices else {}


def _words(asked: Any) -> str:
    """Return the text of the last message by a user."""
    if isinstance(asked, str):
        return asked
    messages = [_mapping(message) for message in asked] if isinstance(asked, list) else []
    users = [message for message in messages if message.get("role") == "user"]
    return _content(users[-1].get("content")) if users else ""


def _content(content: Any) -> str:
    if isinstance(content, str):
        return content
    parts = [_mapping(part) for part in content] if isinstance(content, list) else []
    return "\n".join(text_of(part.get("text")) for part in parts if part.get("type") == "text")


def _mapping(value: Any) -> Mapping[str, Any]:
    return value if isinstance(value, dict) else {}
