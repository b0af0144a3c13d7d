"""What a JSON export of Label Studio contains: the fields of its tasks' data, and the controls that were answered.

If an export is not ours, people choose from these names; so a refusal lists them with samples, and a page offers them.
"""

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, field
from typing import Any

from annotation.imports.column_map import RATING_WORDS
from annotation.label_studio.format.names import CONTROLS, DATA_FIELDS, NONE_WORDS, Names

# Limit for each kind: a malicious file may contain millions.
MOST_NAMES = 60
_MOST_SAMPLES = 5
_LONGEST_NAME, _LONGEST_SAMPLE = 100, 60
_IN_MESSAGE, _SAMPLES_IN_MESSAGE = 15, 3
_TEXTS = ("choices", "rectanglelabels", "labels", "text", "rating", "number")
_PICTURES = (".png", ".jpg", ".jpeg", ".webp", ".gif", ".bmp")
_GROUPS = ("group", "identity_group", "identity", "people", "nationality", "country", "ethnicity")


@dataclass(frozen=True)
class Item:
    """A field or a control. `kind` is a control's type; `count` is the number of tasks or results that have it."""

    name: str
    kind: str
    count: int
    samples: tuple[str, ...]

    def __str__(self) -> str:
        kind = f" ({self.kind}, {self.count:,} times)" if self.kind else f" ({self.count:,} tasks)"
        samples = ", ".join(f"“{sample}”" for sample in self.samples[:_SAMPLES_IN_MESSAGE])
        return f"{self.name}{kind}" + (f": {samples}" if samples else "")


@dataclass(frozen=True)
class Inventory:
    """The fields and controls of a file, the most frequent first."""

    tasks: int
    annotations: int
    fields: tuple[Item, ...]
    controls: tuple[Item, ...]

    def described(self) -> dict[str, Any]:
        """Return the inventory as plain data."""
        return asdict(self)

    @classmethod
    def of(cls, described: Mapping[str, Any]) -> "Inventory":
        """Return the inventory that `described` returned as plain data."""
        fields, controls = (
            tuple(
                Item(**{**description, "samples": tuple(description["samples"])})
                for description in described[name]
            )
            for name in ("fields", "controls")
        )
        return cls(described["tasks"], described["annotations"], fields, controls)

    def lists(self) -> str:
        """Return the names that a person can choose from."""
        summary = f"The file contains {self.tasks:,} tasks with {self.annotations:,} annotations."
        return "\n".join(
            (
                summary,
                f"Fields of their data: {_listed(self.fields)}.",
                f"Controls that were answered: {_listed(self.controls)}.",
                "State what each field or control contains with --map FIELD=NAME or on the study’s Label Studio page.",
            )
        )

    def unknown(self, names: Names) -> str:
        """Return the first given name that the file does not contain, as `FIELD=NAME`; "" if there is none."""
        data, controls = {item.name for item in self.fields}, {item.name for item in self.controls}
        if max(len(data), len(controls)) >= MOST_NAMES:
            return ""  # the file has more names than are listed
        for subject in names.given:
            named_items, name = (
                (data, names.data[subject][0])
                if subject in DATA_FIELDS
                else (controls, names.control(subject))
            )
            if name not in named_items:
                return f"{subject}={name}"
        return ""


@dataclass
class _Count:
    count: int = 0
    samples: dict[str, None] = field(default_factory=dict)

    def add(self, texts: Iterable[str]) -> None:
        self.count += 1
        if len(self.samples) < _MOST_SAMPLES:
            for text in texts:
                self.samples.setdefault(text)
                if len(self.samples) >= _MOST_SAMPLES:
                    break


def take_inventory(tasks: Iterable[Mapping[str, Any]]) -> Inventory:
    """Return the contents of the tasks of an export, whatever their structure."""
    number, annotated = 0, 0
    fields: dict[tuple[str, str], _Count] = {}
    controls: dict[tuple[str, str], _Count] = {}
    for task in tasks:
        number += 1
        data = task.get("data")
        for name, value in data.items() if isinstance(data, Mapping) else ():
            _add(fields, (_short(str(name), _LONGEST_NAME), ""), _samples(value))
        annotations = task.get("annotations")
        for annotation in annotations if isinstance(annotations, list) else ():
            annotated += 1
            results = annotation.get("result") if isinstance(annotation, Mapping) else None
            for result in results if isinstance(results, list) else ():
                if isinstance(result, Mapping) and isinstance(result.get("from_name"), str):
                    kind = _short(str(result.get("type") or "no type"), 40)
                    name = _short(result["from_name"], _LONGEST_NAME)
                    _add(controls, (name, kind), _said(result.get("value")))
    return Inventory(number, annotated, _items(fields), _items(controls))


def suggestions(inventory: Inventory) -> dict[str, str]:
    """Return a guess which name of the file contains which field; a person confirms it."""
    names = {item.name: item for item in inventory.fields}
    names_by_field = {
        subject: next((name for name in usual_names if name in names), "")
        for subject, usual_names in DATA_FIELDS.items()
    }
    names_by_field["group"] = names_by_field["group"] or next((name for name in _GROUPS if name in names), "")
    names_by_field["image"] = names_by_field["image"] or next(
        (item.name for item in inventory.fields if any(_is_picture(text) for text in item.samples)), ""
    )
    used_names: set[str] = set()
    for subject in ("box", "rating", "none_of_the_above", "present", "annotator", "justification"):
        of_kind = [
            item for item in inventory.controls if item.name not in used_names and _may_be(subject, item)
        ]
        usual_controls = [item.name for item in of_kind if item.name == CONTROLS[subject]]
        names_by_field[subject] = next(iter([*usual_controls, *(item.name for item in of_kind)]), "")
        used_names.add(names_by_field[subject])
    return names_by_field


def _may_be(field: str, control: Item) -> bool:
    words = {sample.casefold() for sample in control.samples}
    rates = bool(words) and words <= set(RATING_WORDS)
    if field == "box":
        return control.kind in ("rectanglelabels", "labels")
    if field == "rating":
        return control.kind == "rating" or (control.kind == "choices" and rates)
    if field == "none_of_the_above":
        says_none = control.name == CONTROLS[field] or words <= {*NONE_WORDS, "yes", "no"}
        return control.kind == "choices" and bool(words) and says_none
    if field == "present":
        return control.kind == "choices" and not rates
    if field == "annotator":
        return control.kind == "textarea" and control.name == CONTROLS[field]
    return control.kind == "textarea"


def _is_picture(text: str) -> bool:
    return text.casefold().partition("?")[0].endswith(_PICTURES)


def _add(counts: dict[tuple[str, str], _Count], key: tuple[str, str], texts: Iterable[str]) -> None:
    if key not in counts and len(counts) >= MOST_NAMES:
        return
    counts.setdefault(key, _Count()).add(texts)


def _items(counts: Mapping[tuple[str, str], _Count]) -> tuple[Item, ...]:
    ordered = Counter({key: name_count.count for key, name_count in counts.items()}).most_common()
    return tuple(
        Item(name, kind, count, tuple(counts[name, kind].samples)) for (name, kind), count in ordered
    )


def _said(value: object) -> list[str]:
    """Return the contents of a result, as samples."""
    if not isinstance(value, Mapping):
        return []
    return [text for key in _TEXTS if key in value for text in _samples(value[key])]


def _samples(value: object) -> list[str]:
    values = value[:_MOST_SAMPLES] if isinstance(value, list) else [value]
    texts = []
    for element in values:
        text = element.get("value") if isinstance(element, Mapping) else element
        if isinstance(text, str | float) or (type(text) is int and abs(text) < 10**15):
            texts.append(_short(str(text), _LONGEST_SAMPLE))
    return [text for text in texts if text]


def _short(text: str, longest: int) -> str:
    """Return a text in one line that any database, page and console can show."""
    text = text[: 4 * longest].encode("utf-8", "replace").decode()
    text = " ".join("".join(character if character.isprintable() else " " for character in text).split())
    return text if len(text) <= longest else f"{text[: longest - 1]}…"


def _listed(items: tuple[Item, ...]) -> str:
    if not items:
        return "none"
    more = len(items) - _IN_MESSAGE
    return "; ".join(map(str, items[:_IN_MESSAGE])) + (f"; and {more:,} more" if more > 0 else "")
