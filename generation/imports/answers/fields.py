"""The fields of an imported answer, and the options for fields that a file lacks."""

from collections.abc import Mapping, Sequence
from typing import Any

from pydantic import field_validator

from foundation.errors import DomainError
from foundation.parameters import ParameterSet, parameter
from foundation.tables.reader import Table

FIELDS = {
    "text": "the answer as the model gave it",
    "probe_set": "name of the probe set, if the file has answers to several probe sets",
    "question": "name of the question in the probe set, or its words as they were asked",
    "experiment": "experiment of the question",
    "scenario": "scenario of the image",
    "group": "identity group of the image",
    "image": "path, SHA-256 or released id of the image",
    "descriptor": "identity group that a sentence is about, by name or by its words",
    "letter": "first letter that the word must have",
    "order": "published or reversed",
    "first": "the option named first: plus, minus or its words",
    "repeat": "number of the answer, if there are several answers to the same question",
    "outcome": "done, declined or failed; empty means done",
    "model": "id of the model",
    "label": "name of the model in reports",
    "revision": "revision of the model",
    "run": "run of the model, if several runs asked the same questions",
    "temperature": "sampling temperature; at 0, repeated answers count as copies of one answer",
    "served_model": "the model that the endpoint says it served",
    "fingerprint": "fingerprint that the endpoint reported with the answer",
    "finish_reason": "why the answer ended",
    "tokens_in": "tokens of the request",
    "tokens_out": "tokens of the answer",
    "seconds": "how long the answer took",
    "code": "the coding of the answer, which is not imported because Stereoscope codes the answers",
}
# Fields whose column in the table `probe_answers` of a release has another name.
RELEASED = {"group": "identity_group", "label": "model", "model": "model_id", "run": "probe_run"}
_RELEASE_COLUMNS = frozenset({"probe_answer", "probe_run", "identity_group", "model_id", "text", "outcome"})


class AnswerImportOptions(ParameterSet):
    """Values for all answers of a file that lack their own."""

    model: str = parameter(
        "", max_length=300, label="Model", help="Id of the model, if the file does not contain it."
    )
    label: str = parameter(
        "",
        max_length=120,
        label="Name in reports",
        help="The name of the model in reports. By default, the name is derived from the model’s id.",
    )
    order: str = parameter(
        "published",
        words={"published": "As published", "reversed": "Reversed"},
        label="Order of the options",
        help="The order in which the options were named, if the file does not contain it.",
    )
    first_repeat: int = parameter(
        1,
        ge=0,
        le=1,
        label="Number of the first repeat",
        help="Whether the file counts repeats from 0 or from 1.",
    )

    @field_validator("model", "label", mode="before")
    @classmethod
    def _strip(cls, value: Any) -> Any:
        return " ".join(value.split()) if isinstance(value, str) else value


def columns_of(pairs: Sequence[str]) -> dict[str, str]:
    """Return field → column from `FIELD=COLUMN` arguments."""
    columns: dict[str, str] = {}
    for pair in pairs:
        field, equals, column = (part.strip() for part in pair.partition("="))
        if not equals or not column:
            raise _refusal(f"“{pair}” is not FIELD=COLUMN")
        if field not in FIELDS:
            raise _refusal(f"There is no field “{field}”; the fields are {', '.join(FIELDS)}")
        if field in columns:
            raise _refusal(f"{field} is mapped twice")
        columns[field] = column
    return columns


def is_released(table: Table) -> bool:
    """Return whether a table is the table `probe_answers` of a release."""
    return table.columns.keys() >= _RELEASE_COLUMNS


def mapped(table: Table, columns: Mapping[str, str], *, stated_alone: bool = False) -> dict[str, str]:
    """Return field → column of a table: the stated columns, else the columns named like fields.

    With `stated_alone`, only the stated columns are used. Raises DomainError if a stated column does not exist, or
    if `text` or `question` has no column.
    """
    for field, column in columns.items():
        if column not in table.columns:
            has = ", ".join(list(table.columns)[:20])
            raise _refusal(f"“{table.name}” has no column “{column}” ({field}); it has {has}")
    if is_released(table):
        by_name = {field: RELEASED.get(field, field) for field in FIELDS}
    else:
        by_name = {field: field for field in FIELDS if field not in columns}
    if stated_alone:
        by_name = {}
    # A stated column belongs to one field only: `repeat=run` leaves no column for `run`.
    free = table.columns.keys() - columns.values()
    chosen = {field: column for field, column in by_name.items() if column in free} | dict(columns)
    for field in ("text", "question"):
        if field not in chosen:
            raise _refusal(f"Say which column contains {field} ({FIELDS[field]}): --map {field}=COLUMN")
    return chosen


def _refusal(sentence: str) -> DomainError:
    return DomainError("map_bad", f"{sentence}.", fields={"map": sentence})
