"""Reading a JSON export of Label Studio as a table with one judgement per row, and counting what is not an answer."""

import hashlib
import json
import re
from collections import Counter
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np

from annotation.label_studio.format.inventory import Inventory, take_inventory
from annotation.label_studio.format.names import NONE_WORDS, OURS, Names
from annotation.label_studio.format.options import ExportOptions
from annotation.label_studio.format.regions import Answered, read_results, size_of, whole
from catalog.attributes import normalise
from foundation.errors import DomainError
from foundation.tables.reader import Table, read_bytes

MAX_DEPTH = 100
MAX_OBJECTS = 10_000_000  # an annotation with a box has about ten
# Strings are skipped as a whole, so that brackets in them do not count. So is an unterminated string, which would
# otherwise be searched again from each quotation mark in it.
_STRUCTURE = re.compile(rb'"[^"\\]*+(?:\\.[^"\\]*+)*+"?|[\[\]{}]', re.DOTALL)
_COLUMNS = (
    "image",
    "group",
    "attribute",
    "annotator",
    "present",
    "rating",
    "box",
    "image_width",
    "image_height",
    "model",
    "condition",
    "screen",
    "submitted_at",
    "seconds",
    "justification",
)
_OF_RATINGS = ("attribute", "annotator", "rating", "justification", "submitted_at", "seconds")
_IGNORED = {
    "cancelled": "annotations that were skipped or cancelled were left out",
    "drafts": "drafts were left out",
    "predictions": "predictions of models were left out",
    "truths": "annotations are marked as ground truth and were imported like any other",
    "left_out_truths": "annotations marked as ground truth were left out",
    "other": "results of controls that were not mapped were left out",
    "unanswered": "tasks have no annotation",
}


@dataclass(frozen=True)
class Export:
    """The rows of an export, the contents of their columns, and what was left out."""

    table: Table
    columns: dict[str, str]
    notes: tuple[str, ...]
    inventory: Inventory

    @property
    def rates(self) -> bool:
        return "rating" in self.columns


@dataclass
class _Rows:
    """Collects rows. A row's number is the number of its task in the file, from 1."""

    options: ExportOptions
    rates: bool
    none_words: frozenset[str]  # choices that mean that none of the attributes is in the image
    none_is_a_choice: bool  # one of these is among the choices of `present` somewhere in the file
    tasks: list[int] = field(default_factory=list)
    rows: list[tuple[str, ...]] = field(default_factory=list)
    refused: list[tuple[int, str]] = field(default_factory=list)
    ignored: Counter[str] = field(default_factory=Counter)
    places: dict[str, tuple[int, int]] = field(
        default_factory=dict
    )  # task and place of annotations with an id

    def add(self, task: int, **cells: str) -> None:
        self.tasks.append(task)
        self.rows.append(tuple(cells.get(column, "") for column in _COLUMNS))

    def notes(self) -> tuple[str, ...]:
        """Return sentences with the numbers of annotations that were left out or marked."""
        return tuple(
            f"{self.ignored[cause]:,} {sentence}"
            for cause, sentence in _IGNORED.items()
            if self.ignored[cause]
        )


def is_export(source: Path) -> bool:
    """Whether a file looks like a JSON export of Label Studio: a list in a file called .json."""
    if source.suffix.lower() != ".json" or not source.is_file():
        return False
    with source.open("rb") as file:
        return file.read(64).removeprefix(b"\xef\xbb\xbf").lstrip().startswith(b"[")


def read_export(
    source: Path | BinaryIO, options: ExportOptions | None = None, *, file_name: str | None = None
) -> Export:
    """Read an export. Raises DomainError if it is not an export; a problem in one annotation rejects its rows.

    By default Label Studio marks all imported annotations as ground truth, and anybody may mark more. So the mark does
    not make an annotation better or worse; annotations with the mark are counted.
    """
    options = options or ExportOptions()
    name = file_name or Path(str(getattr(source, "name", source))).name
    data = read_bytes(source, name)
    tasks = _tasks(data, name)
    inventory = take_inventory(tasks)
    if unknown := inventory.unknown(options.names):
        raise DomainError(
            "map_bad",
            f"“{name}” does not contain the name in {unknown}.\n{inventory.lists()}",
            fields={"map": f"{unknown}: the file does not contain this name"},
        )
    rows = _read_tasks(tasks, options)
    columns = {
        column: np.array([row[place] for row in rows.rows], dtype=object)
        for place, column in enumerate(_COLUMNS)
    }
    return Export(
        table=Table(
            name=name,
            columns=columns,
            rows=np.array(rows.tasks, dtype=np.int64),
            positions=frozenset({"screen"}),
            unreadable=tuple(rows.refused),
            digest=_digest(data, options),
        ),
        columns={column: column for column in _COLUMNS if _serves(column, rows, columns)},
        inventory=inventory,
        notes=rows.notes(),
    )


def _read_tasks(tasks: list[dict[str, Any]], options: ExportOptions) -> _Rows:
    none_words = NONE_WORDS | {options.none_text}
    rows = _Rows(
        options,
        rates=_rates(tasks, options.names),
        none_words=none_words,
        none_is_a_choice=_chooses(tasks, options.names.controls["present"], none_words),
    )
    for number, task in enumerate(tasks, start=1):
        _read_task(number, task, rows)
    return rows


def look_into(source: Path | BinaryIO, *, file_name: str) -> Inventory:
    """Return the inventory of an export. Raises DomainError if the file is not an export."""
    return take_inventory(_tasks(read_bytes(source, file_name), file_name))


def _digest(data: bytes, options: ExportOptions) -> str:
    """Return a digest that identifies an import: with other names or with some annotations left out, it is another
    table."""
    if options.names != OURS:
        data += json.dumps(options.names.described(), sort_keys=True).encode()
    return hashlib.sha256(data if options.ground_truth else data + b"-").hexdigest()


def _chooses(tasks: list[dict[str, Any]], control: str, words: Collection[str]) -> bool:
    """Return whether one of these words is chosen in any task."""
    return any(
        isinstance(text, str) and " ".join(text.split()).casefold() in words
        for task in tasks
        for annotation in _list(task, "annotations")
        for result in _list(annotation, "result")
        if isinstance(result, dict) and result.get("from_name") == control
        for text in _list(result.get("value"), "choices")
    )


def _serves(column: str, rows: _Rows, columns: Mapping[str, Any]) -> bool:
    if rows.rates:
        return column in _OF_RATINGS
    if column in ("model", "condition", "image_width", "image_height"):
        return any(columns[column])
    return column not in ("rating", "justification")


def _tasks(data: bytes, name: str) -> list[dict[str, Any]]:
    _refuse_too_much(data, name)
    try:
        tasks = json.loads(data.decode("utf-8-sig"))
    except (ValueError, RecursionError) as error:
        raise _refusal(name, "is not JSON in UTF-8") from error
    if not isinstance(tasks, list) or not all(isinstance(task, dict) for task in tasks):
        raise _refusal(name, "is not a list of tasks, as in Label Studio’s export as JSON")
    if not any("annotations" in task for task in tasks):
        raise _refusal(
            name, "has no task with annotations; export it from Label Studio as JSON, not as JSON-MIN"
        )
    return tasks


def _refuse_too_much(data: bytes, name: str) -> None:
    """Refuse data that nests too deeply, or has so many values that reading it would fill the memory."""
    depth, opened = 0, 0
    for match in _STRUCTURE.finditer(data):
        mark = match[0][:1]
        if mark in b"[{":
            depth, opened = depth + 1, opened + 1
            if depth > MAX_DEPTH:
                raise _refusal(name, f"is nested more than {MAX_DEPTH} levels deep, unlike any export")
            if opened > MAX_OBJECTS:
                raise _refusal(
                    name, f"contains more than {MAX_OBJECTS:,} lists and objects, which is the limit"
                )
        elif mark in b"]}":
            depth -= 1


def _rates(tasks: list[dict[str, Any]], names: Names) -> bool:
    """Whether the first rating or mark in the file is a rating."""
    marking = {names.controls[name] for name in ("present", "box", "none_of_the_above")}
    for task in tasks:
        for annotation in _list(task, "annotations"):
            for result in _list(annotation, "result"):
                control = result.get("from_name") if isinstance(result, dict) else None
                if not isinstance(control, str) or not control:
                    continue
                if control == names.controls["rating"]:
                    return True
                if control in marking:
                    return False
    return False


def _list(holder: object, key: str) -> list[Any]:
    value = holder.get(key) if isinstance(holder, dict) else None
    return value if isinstance(value, list) else []


def _read_task(number: int, task: dict[str, Any], rows: _Rows) -> None:
    rows.ignored["drafts"] += len(_list(task, "drafts"))
    rows.ignored["predictions"] += len(_list(task, "predictions"))
    annotations = _list(task, "annotations")
    rows.ignored["unanswered"] += not annotations
    for place, annotation in enumerate(annotations, start=1):
        if isinstance(annotation, dict) and annotation.get("was_cancelled"):
            rows.ignored["cancelled"] += 1
            continue
        if isinstance(annotation, dict) and annotation.get("ground_truth") is True:
            rows.ignored["truths" if rows.options.ground_truth else "left_out_truths"] += 1
            if not rows.options.ground_truth:
                continue
        try:
            _read_annotation(number, place, task, annotation, rows)
        except ValueError as error:
            rows.refused.append((number, f"annotation {place} of the task: {error}"))


def _read_annotation(number: int, place: int, task: dict[str, Any], annotation: object, rows: _Rows) -> None:
    data = task.get("data")
    if not isinstance(annotation, dict) or not isinstance(data, dict):
        raise ValueError("the task is not an object with data")
    content = _content(data, annotation)
    if annotation.get("id") is not None:
        first_place = rows.places.setdefault(content, (number, place))
        if first_place != (number, place):
            raise ValueError(f"the same as annotation {first_place[1]} of task {first_place[0]}")
    answered = read_results(_list(annotation, "result"), rows.options.names)
    rows.ignored["other"] += answered.other
    cells = {
        "annotator": answered.annotator.strip() or _completed_by(annotation),
        "submitted_at": _plain(annotation.get("created_at")),
        "seconds": _plain(annotation.get("lead_time")),
        "screen": f"{number}/{place}",
    }
    if not rows.rates:
        _tell_none(answered, rows)
    attributes = _asked(data, rows.options.names, may_be_none=bool(answered.none_of_the_above))
    if rows.rates:
        if len(attributes) != 1:
            raise ValueError(f"{len(attributes)} attributes are rated, but only one is allowed")
        if not answered.rating:
            raise ValueError("the annotation has no rating")
        rows.add(
            number,
            attribute=attributes[0],
            rating=answered.rating,
            justification=answered.justification,
            **cells,
        )
        return
    attributes = [text for text in attributes if text not in rows.none_words]
    _add_marks(number, place, attributes, answered, rows, cells | _shown(data, answered, rows.options.names))


def _tell_none(answered: Answered, rows: _Rows) -> None:
    """Read “none” among the choices as the answer to 'none of the above'."""
    none = answered.ticked & rows.none_words
    answered.ticked -= none
    if answered.none_of_the_above:
        return
    if none:
        if answered.ticked or answered.boxes:
            raise ValueError(f"“{min(none)}” is chosen together with an attribute")
        answered.none_of_the_above = "yes"
    elif rows.none_is_a_choice and (answered.ticked or answered.boxes):
        answered.none_of_the_above = "no"


def _add_marks(
    number: int, place: int, attributes: list[str], answered: Answered, rows: _Rows, cells: dict[str, str]
) -> None:
    answered_attributes = answered.ticked | answered.boxes.keys() | answered.wrong.keys()
    if strange := sorted(answered_attributes - set(attributes)):
        raise ValueError(f"“{strange[0][:60]}” is not one of the attributes that the task asks about")
    for text in attributes:
        if text in answered.wrong:
            rows.refused.append((number, f"annotation {place} of the task, {text}: {answered.wrong[text]}"))
            continue
        boxes = answered.boxes.get(text, [])
        present = "yes" if text in answered.ticked or boxes else "no"
        rows.add(number, attribute=text, present=present, box=json.dumps(boxes) if boxes else "", **cells)
    if answered.none_of_the_above:
        rows.add(number, attribute=rows.options.none_text, present=answered.none_of_the_above, **cells)


def _shown(data: Mapping[str, Any], answered: Answered, names: Names) -> dict[str, str]:
    cells = {field: _data(data, names, field) for field in ("image", "group", "model", "condition")}
    size = answered.size or size_of(data.get("width"), data.get("height"))
    if size is not None:
        cells |= {"image_width": str(size[0]), "image_height": str(size[1])}
    return cells


def _asked(data: Mapping[str, Any], names: Names, *, may_be_none: bool) -> list[str]:
    """Return the attributes that a task asks about: a text, or a list of texts or of objects with a value.

    The list may be empty if 'none of the above' was answered: the task then asked only about that.
    """
    key = next((key for key in names.data["attribute"] if key in data), None)
    listed = data[key] if key is not None else list(names.asked)
    listed = [listed] if isinstance(listed, str) else listed
    if key is not None and listed == [] and may_be_none:
        return []
    if not isinstance(listed, list) or not listed:
        raise ValueError(
            "the file does not list the attributes that the task asks about (map the field "
            "attribute, or use --asked)"
        )
    texts = [attribute.get("value") if isinstance(attribute, dict) else attribute for attribute in listed]
    try:
        return list(dict.fromkeys(normalise(text) for text in _all_texts(texts)))
    except DomainError as error:
        raise ValueError(error.message.rstrip(".")) from error


def _all_texts(values: list[Any]) -> list[str]:
    if not all(isinstance(value, str) for value in values):
        raise ValueError("the attributes that the task asks about are not texts")
    return values


def _data(data: Mapping[str, Any], names: Names, field: str) -> str:
    key = next((key for key in names.data[field] if key in data), None)
    return _plain(data[key]) if key is not None else ""


def _completed_by(annotation: Mapping[str, Any]) -> str:
    """Return the number of the person who answered; addresses and names of people are not imported."""
    person = annotation.get("completed_by")
    number = person.get("id") if isinstance(person, dict) else person
    if isinstance(number, bool) or not isinstance(number, int):
        raise ValueError("the annotation has no number that identifies who answered (completed_by)")
    return str(number)


def _content(data: Mapping[str, Any], annotation: Mapping[str, Any]) -> str:
    """Return a digest that identifies an annotation."""
    text = json.dumps([data, annotation], sort_keys=True)
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


def _plain(value: object) -> str:
    if value is None:
        return ""
    if isinstance(value, str):
        return whole(value)
    if isinstance(value, int | float) and not isinstance(value, bool):
        return repr(value)
    raise ValueError("a value is not a text or a number")


def _refusal(name: str, problem: str) -> DomainError:
    return DomainError("label_studio_unreadable", f"“{name}” {problem}.", fields={"file": problem})
