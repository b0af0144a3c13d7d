"""Names in Label Studio: fields of a task's data, and controls of its labelling interface."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass

from annotation.imports.column_map import split_pairs
from foundation.errors import DomainError

# Names of each field in a task's data. The first name that exists is read; the first in the list is written.
DATA_FIELDS: dict[str, tuple[str, ...]] = {
    "image": ("image_id", "image"),
    "group": ("group",),
    "attribute": ("attributes", "attribute"),
    "model": ("model",),
    "condition": ("condition",),
}
CONTROLS: dict[str, str] = {
    "present": "present",
    "box": "box",
    "none_of_the_above": "none_of_the_above",
    "rating": "rating",
    "justification": "justification",
    "annotator": "annotator",
}
# Among the choices for attributes, these mean that none of them is in the image.
NONE_WORDS = frozenset(
    {
        "none",
        "none of the above",
        "none of these",
        "none of them",
        "keine",
        "keine davon",
        "keins davon",
        "nichts davon",
    }
)
FIELDS = {
    "image": "field of data with the image's name or address",
    "group": "field of data with the identity group",
    "attribute": "field of data with the attributes asked about: a list, or the single attribute to rate",
    "model": "field of data with the model that made the image",
    "condition": "field of data with the condition",
    "present": "choices that say which attributes are in the image",
    "box": "rectangles labelled with an attribute; an attribute with a box is in the image",
    "none_of_the_above": "choice of yes or no; not needed if “none of the above” is one of the choices of present",
    "rating": "stars or choice of 1 to 5, or choice of the words for these ratings",
    "justification": "text with the reason why a rating is Unsure",
    "annotator": "text that names the annotator, if completed_by does not",
}


@dataclass(frozen=True)
class Names:
    """Which field of a task's data, or which control (`from_name`), contains what."""

    data: Mapping[str, tuple[str, ...]]
    controls: Mapping[str, str]
    asked: tuple[str, ...] = ()  # the attributes that every task asks about, if its data does not list them
    given: tuple[str, ...] = ()  # the fields with given names: a file that lacks them is refused

    def control(self, field: str) -> str:
        """Return the control that contains a field; "" if another control contains it too."""
        return self.controls[field]

    def described(self) -> dict[str, object]:
        """Return the names as plain data: part of the identity of an import."""
        return asdict(self)


OURS = Names(DATA_FIELDS, CONTROLS)


def parse_names(pairs: list[str], *, asked: tuple[str, ...] = ()) -> Names:
    """Turn `FIELD=NAME` arguments into names; fields without an argument keep the name that our own export writes."""
    columns = split_pairs(pairs, FIELDS)
    data = DATA_FIELDS | {field: (name,) for field, name in columns.items() if field in DATA_FIELDS}
    controls = CONTROLS | {field: name for field, name in columns.items() if field in CONTROLS}
    if controls["none_of_the_above"] == controls["present"]:
        # “None” is one of the choices there, which is recognised without a mapping.
        controls["none_of_the_above"] = ""
        columns.pop("none_of_the_above", None)
    twice = {name for name in controls.values() if list(controls.values()).count(name) > 1}
    if twice:
        raise DomainError(
            "map_bad",
            f"The control “{min(twice)}” is mapped to two fields; map it to one field.",
            fields={"map": "twice"},
        )
    return Names(data, controls, asked, tuple(columns))
