"""Map the columns of a table to the fields of a judgement."""

import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from typing import Any

from annotation.imports.boxes import BoxFormat
from catalog.attributes import NONE_OF_THE_ABOVE, normalise
from foundation.errors import DomainError
from foundation.parameters import ParameterSet, parameter
from foundation.tables.reader import Table
from generation.models import Condition

FIELDS = {
    "image": "which image: a path or name",
    "group": "identity group of the image, as the resource spells it",
    "attribute": "the attribute that was judged",
    "annotator": "who judged the attribute",
    "present": "whether the attribute is in the image: yes or no",
    "rating": "1 to 5, or Strongly Disagree … Strongly Agree, Unsure",
    "box": "all boxes of the row in one cell",
    "box_1": "first number of the box, if each row has one box",
    "box_2": "second number of the box",
    "box_3": "third number of the box",
    "box_4": "fourth number of the box",
    "image_width": "width of the image in pixels",
    "image_height": "height of the image in pixels",
    "role": "stereotype or random",
    "model": "the model that made the image",
    "condition": "default, stereotypical or non_stereotypical",
    "screen": "an id that all answers of one screen share, such as a screen, task or annotation id",
    "submitted_at": "when the answer was submitted, such as 2026-11-21T03:32:40Z",
    "seconds": "seconds of active work",
    "justification": "why a rating is Unsure",
    "language": "the language in which the screen was read: a code such as en or de",
}
BOX_COLUMNS = ("box_1", "box_2", "box_3", "box_4")
YES_WORDS = ("yes", "true", "1", "present", "y", "t", "checked", "selected")
NO_WORDS = ("no", "false", "0", "absent", "n", "f", "unchecked", "not selected")
RATING_WORDS = {
    "strongly agree": 5,
    "agree": 4,
    "unsure": 3,
    "unsure (with justification)": 3,
    "disagree": 2,
    "strongly disagree": 1,
    **{str(value): value for value in range(1, 6)},
}
_SIZE = re.compile(r"([1-9]\d{0,5})[x×]([1-9]\d{0,5})")


@dataclass(frozen=True)
class ColumnMap:
    """Settings for reading a table of judgements. Marks map `present`, ratings map `rating`; never both."""

    columns: Mapping[str, str]  # field → column
    box_format: BoxFormat = BoxFormat.CORNERS
    image_size: tuple[int, int] | None = None
    none_value: str = NONE_OF_THE_ABOVE  # the attribute that means the answer 'none of the above'
    group_from_image: bool = False  # the group is the file name without its number: `Mexican5.png`
    yes: tuple[str, ...] = YES_WORDS
    no: tuple[str, ...] = NO_WORDS
    ratings: Mapping[str, int] = field(default_factory=lambda: RATING_WORDS)
    model: str = ""
    condition: str = Condition.DEFAULT

    @property
    def rates(self) -> bool:
        return "rating" in self.columns

    @property
    def none_text(self) -> str:
        return normalise(self.none_value)

    def to_dict(self) -> dict[str, object]:
        """Return the map as plain data, for the digest of an import."""
        return asdict(self)

    def check(self, table: Table) -> None:
        """Raise DomainError if the table lacks a mapped column, or if the map lacks or contradicts fields."""
        for name, column in self.columns.items():
            if column not in table.columns:
                has = ", ".join(list(table.columns)[:20])
                raise _bad(name, f"“{table.name}” has no column “{column}” ({name}); it has {has}")
        if ("present" in self.columns) == self.rates:
            raise _bad("map", "map either present (for marks) or rating (for ratings)")
        needed = ["annotator", "attribute"]
        if not self.rates:
            needed += ["image"] if self.group_from_image else ["image", "group"]
        missing = [name for name in needed if name not in self.columns]
        if missing:
            raise _bad(missing[0], f"map {missing[0]}: say which column contains it ({FIELDS[missing[0]]})")
        box_columns = [name for name in BOX_COLUMNS if name in self.columns]
        if box_columns and len(box_columns) < len(BOX_COLUMNS):
            raise _bad("box_1", "map all four of box_1, box_2, box_3 and box_4, or none of them")
        if box_columns and "box" in self.columns:
            raise _bad("box", "map either box or box_1 to box_4")
        if len(self.model) > 120 or not self.model.isprintable():
            raise _bad("model", "the name of the model is longer than 120 characters, or not printable")
        not_for_ratings = {"image", "group", "box", "role", "model", "condition", *BOX_COLUMNS}
        if self.rates and (extra := not_for_ratings & set(self.columns)):
            raise _bad(
                min(extra),
                f"{min(extra)} cannot be mapped for ratings, because ratings are about attributes "
                f"without images",
            )


class LabelImportOptions(ParameterSet):
    """Options for reading rows, and values for images that the table does not give."""

    none_of_the_above: str = parameter(
        NONE_OF_THE_ABOVE,
        label="‘None of the above’",
        help="The attribute that means the answer ‘none of the above’.",
    )
    group_from_image: bool = parameter(
        False,
        label="The identity group is the file name without its number",
        help="The group is the file name without its number, such as Mexican for Mexican5.png.",
    )
    box_format: str = parameter(
        BoxFormat.CORNERS.value,
        words=dict(BoxFormat.choices),
        label="Boxes",
        help="; ".join(f"{value}: {words}" for value, words in BoxFormat.choices) + ".",
    )
    model: str = parameter(
        "",
        label="Model",
        help="The model that made the images, if the file does not name it.",
    )
    condition: str = parameter(
        Condition.DEFAULT.value,
        words=dict(Condition.choices),
        label="Condition",
        help="The condition of the images, if the file does not state it.",
    )

    def for_every_row(self) -> dict[str, Any]:
        """Return the settings of a `ColumnMap`, without the format of boxes."""
        return {
            "none_value": self.none_of_the_above,
            "group_from_image": self.group_from_image,
            "model": self.model,
            "condition": self.condition,
        }


def parse_columns(pairs: Sequence[str]) -> dict[str, str]:
    """Parse `FIELD=COLUMN` arguments into a map of columns."""
    return split_pairs(pairs, FIELDS)


def split_pairs(pairs: Sequence[str], fields: Collection[str]) -> dict[str, str]:
    """Parse `FIELD=NAME` arguments into a dictionary; each of the `fields` may occur once."""
    names: dict[str, str] = {}
    for pair in pairs:
        field, equals, name = pair.partition("=")
        field = field.strip()
        if not equals or not name.strip():
            raise _bad("map", f"“{pair}” is not FIELD=COLUMN")
        if field not in fields:
            raise _bad("map", f"there is no field “{field}”; the fields are {', '.join(fields)}")
        if field in names:
            raise _bad("map", f"{field} is mapped twice")
        names[field] = name.strip()
    return names


def parse_size(text: str) -> tuple[int, int]:
    """Parse a size such as `512x512` into width and height."""
    match = _SIZE.fullmatch(text.strip())
    if match is None:
        raise _bad("image_size", f"“{text}” is not a size such as 512x512")
    return int(match[1]), int(match[2])


def parse_words(pairs: Sequence[str]) -> dict[str, str]:
    """Parse `WORD=MEANING` arguments (values of present, rating) into a map with case-folded words."""
    words = {}
    for pair in pairs:
        word, equals, meaning = pair.rpartition("=")
        if not equals or not word.strip() or not meaning.strip():
            raise _bad("value", f"“{pair}” is not WORD=MEANING")
        words[word.strip().casefold()] = meaning.strip().casefold()
    return words


def with_words(column_map: ColumnMap, words: Mapping[str, str]) -> ColumnMap:
    """Return the map with additional words for yes and no, or for ratings 1 to 5."""
    if column_map.rates:
        ratings = dict(RATING_WORDS)
        for word, meaning in words.items():
            if meaning not in RATING_WORDS:
                raise _bad("value", f"“{meaning}” is not a rating from 1 to 5")
            ratings[word] = RATING_WORDS[meaning]
        return replace(column_map, ratings=ratings)
    wrong = next((meaning for meaning in words.values() if meaning not in {"yes", "no"}), None)
    if wrong is not None:
        raise _bad("value", f"“{wrong}” is not yes or no")
    yes = tuple(word for word, meaning in words.items() if meaning == "yes")
    no = tuple(word for word, meaning in words.items() if meaning == "no")
    return replace(
        column_map,
        yes=yes + tuple(word for word in YES_WORDS if word not in words),
        no=no + tuple(word for word in NO_WORDS if word not in words),
    )


def _bad(name: str, message: str) -> DomainError:
    return DomainError("map_bad", message[0].upper() + message[1:] + ".", fields={name: message})
