"""A declaration as typed into a form: the values, by the paths of the declaration's fields.

A draft has the structure of a kind's file and may be incomplete. In the form, references to questions and answers use
their positions, so that they remain valid after a change of name or code.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from types import NoneType, UnionType
from typing import Annotated, Any, Union, get_args, get_origin

from django.http import QueryDict
from django.utils.datastructures import MultiValueDict
from pydantic.fields import FieldInfo

from annotation.kinds.declaration import Kind
from annotation.kinds.parts import LANGUAGES, Declared
from annotation.kinds.questions import AskedAfter, Question, Region
from foundation.parameters import Declaration

Draft = dict[str, Any]
_INTEGER = re.compile(r"-?[0-9]{1,6}")
_ABSENT = object()
_TOKENS = {None: "", True: "yes", False: "no"}  # of values that are no text, in a form


def token(value: Any) -> str:
    """Return the form value of one of a field's choices."""
    return value if isinstance(value, str) else _TOKENS[value]


def types_in(annotation: Any) -> list[Any]:
    """Return the types that a field's values can have, without None."""
    if get_origin(annotation) is Annotated:
        return types_in(get_args(annotation)[0])
    if get_origin(annotation) in (Union, UnionType):
        return [inner for option in get_args(annotation) for inner in types_in(option)]
    return [] if annotation is NoneType else [annotation]


QUESTION_TYPES: dict[str, type[Declared]] = {
    model.model_fields["type"].default: model for model in types_in(Question)
}


@dataclass(frozen=True)
class Shape:
    """How a field is read: texts by language, rows of parts, one part, or a single value."""

    info: FieldInfo
    types: tuple[Any, ...]

    @classmethod
    def of(cls, info: FieldInfo) -> "Shape":
        return cls(info, tuple(types_in(info.annotation)))

    @property
    def is_texts(self) -> bool:
        return any(get_origin(option) is dict for option in self.types)

    @property
    def languages(self) -> tuple[str, ...]:
        """The languages of its texts; a field only for translations has no English."""
        return LANGUAGES[1:] if self.info.default == {} else LANGUAGES

    @property
    def rows(self) -> tuple[type[Declared], ...]:
        if get_origin(self.types[0]) is not tuple:
            return ()
        inner = types_in(get_args(self.types[0])[0])
        return tuple(model for model in inner if isinstance(model, type) and issubclass(model, Declared))

    @property
    def part(self) -> type[Declared] | None:
        model = self.types[0]
        return model if isinstance(model, type) and issubclass(model, Declared) else None

    @property
    def optional(self) -> bool:
        return not self.info.is_required()


@dataclass(frozen=True)
class Leaf:
    """One field of the form: its path, its declaration, and its input."""

    path: str
    model: type[Declared]
    name: str
    value: Any
    language: str = ""

    @property
    def declared(self) -> Declaration:
        return Declaration(self.name, self.model.model_fields[self.name])

    @property
    def types(self) -> list[Any]:
        return types_in(self.declared.info.annotation)

    @property
    def is_list(self) -> bool:
        return any(get_origin(option) in (tuple, frozenset) for option in self.types)

    @property
    def refers(self) -> bool:
        """Whether its values are places of questions or of their answers."""
        return (self.model is AskedAfter) or (self.model is Region and self.name == "after")


def draft_of(kind: Kind) -> Draft:
    """Return the draft that declares a kind."""
    return kind.model_dump(mode="json", exclude_none=True)


def row_model(models: Sequence[type[Declared]], row: Any) -> type[Declared]:
    """Return the model of a row: of a question, by its type."""
    return models[0] if len(models) == 1 else QUESTION_TYPES[row["type"]]


def leaves(draft: Draft, model: type[Declared] = Kind, prefix: str = "") -> Iterator[Leaf]:
    """Yield every field of a draft, in the order of the declaration."""
    for name, info in model.model_fields.items():
        shape, path, value = Shape.of(info), f"{prefix}{name}", draft.get(name)
        if shape.rows:
            for place, row in enumerate(value or ()):
                yield from leaves(row, row_model(shape.rows, row), f"{path}.{place}.")
        elif shape.part is not None:
            if value is None and shape.optional:
                first = next(iter(shape.part.model_fields))
                yield Leaf(f"{path}.{first}", shape.part, first, None)
            else:
                yield from leaves(value or {}, shape.part, f"{path}.")
        elif shape.is_texts:
            for language in shape.languages:
                yield Leaf(f"{path}.{language}", model, name, (value or {}).get(language), language)
        else:
            default = None if info.is_required() else info.default
            yield Leaf(path, model, name, default if value is None else value)


# From a form to a draft.


def read(posted: QueryDict) -> Draft:
    """Return the draft that a form sends."""
    draft = _part(Kind, posted, "")
    order = posted.get("measures.order", "").split()
    chosen = draft.get("measures", [])
    draft["measures"] = sorted(chosen, key=lambda name: order.index(name) if name in order else len(order))
    for question in draft["questions"]:
        if when := question.get("when"):
            place = when.get("question", "")
            when["question"] = _at(names_of(draft), place)
            when["answers"] = [_at(codes_at(draft, place), answer) for answer in when.get("answers", [])]
        if region := question.get("region"):
            region["after"] = [_at(codes_of(question), answer) for answer in region.get("after", [])]
    return draft


def _part(model: type[Declared], posted: QueryDict, prefix: str) -> Draft:
    values: Draft = {}
    for name, info in model.model_fields.items():
        shape, path = Shape.of(info), f"{prefix}{name}"
        if shape.rows:
            values[name] = list(_rows(shape.rows, posted, f"{path}."))
        elif shape.part is not None:
            chosen = posted.get(f"{path}.{next(iter(shape.part.model_fields))}")
            if chosen or not shape.optional:
                values[name] = _part(shape.part, posted, f"{path}.")
        elif shape.is_texts:
            typed = {language: posted.get(f"{path}.{language}", "") for language in shape.languages}
            texts = {language: text for language, text in typed.items() if text.strip()}
            if texts or not shape.optional:
                values[name] = texts
        elif (value := _value(Leaf(path, model, name, None), posted)) is not _ABSENT:
            values[name] = value
    return values


def _rows(models: Sequence[type[Declared]], posted: QueryDict, prefix: str) -> Iterator[Draft]:
    numbers = {name.removeprefix(prefix).partition(".")[0] for name in posted if name.startswith(prefix)}
    for number in sorted({int(text) for text in numbers if re.fullmatch(r"[0-9]{1,3}", text)}):
        if len(models) == 1:
            yield _part(models[0], posted, f"{prefix}{number}.")
        elif (type_ := posted.get(f"{prefix}{number}.type", "")) in QUESTION_TYPES:
            yield _part(QUESTION_TYPES[type_], posted, f"{prefix}{number}.")


def _value(leaf: Leaf, posted: QueryDict) -> Any:
    """Return the value of a field, or `_ABSENT` if it is empty."""
    if leaf.is_list:
        return posted.getlist(leaf.path)
    if bool in leaf.types and not leaf.declared.words:
        return leaf.path in posted
    text = posted.get(leaf.path, "").replace("\r\n", "\n")
    if leaf.declared.words:
        values = {token(value): value for value in leaf.declared.words}
        value = values.get(text, text)
        return _ABSENT if value is None or value == "" else value
    if not text.strip():
        return _ABSENT
    if int in leaf.types and _INTEGER.fullmatch(text.strip()):
        return int(text)
    return text


def _at(values: Sequence[Any], place: str) -> Any:
    return values[int(place)] if _INTEGER.fullmatch(place) and 0 <= int(place) < len(values) else place


# From a draft to a form.


def written(draft: Draft) -> MultiValueDict[str, str]:
    """Return the form data of this draft."""
    sent: MultiValueDict[str, str] = MultiValueDict()
    for leaf in leaves(draft):
        sent.setlist(leaf.path, list(_sent(leaf, draft)))
        if not sent.getlist(leaf.path):
            del sent[leaf.path]
    sent["measures.order"] = " ".join(map(str, draft.get("measures", ())))
    return sent


def _sent(leaf: Leaf, draft: Draft) -> Iterator[str]:
    if leaf.refers:
        values = leaf.value if isinstance(leaf.value, list | tuple) else [leaf.value]
        codes = [str(value) for value in referred(leaf, draft)]
        yield from (str(codes.index(str(value))) for value in values if str(value) in codes)
    elif leaf.is_list:
        yield from map(str, leaf.value or ())
    elif bool in leaf.types and not leaf.declared.words:
        if leaf.value is True:
            yield "on"
    elif leaf.declared.words:
        yield token(leaf.value)
    elif leaf.value is not None:
        yield str(leaf.value)


def referred(leaf: Leaf, draft: Draft) -> list[Any]:
    """Return the possible targets of a reference: names of earlier questions, or codes of answers."""
    place = int(leaf.path.split(".")[1])
    question = draft["questions"][place]
    if leaf.model is Region:
        return codes_of(question)
    names = names_of(draft)
    if leaf.name == "question":
        return names[:place]
    earlier = question["when"].get("question")
    return codes_of(draft["questions"][names.index(earlier)]) if earlier in names else []


def names_of(draft: Draft) -> list[str]:
    """Return the names of the questions; `#2` for a question without a name."""
    return [question.get("name") or f"#{place}" for place, question in enumerate(draft["questions"])]


def codes_at(draft: Draft, place: str) -> list[Any]:
    """Return the answers of the question at a place."""
    question = _at(draft["questions"], place)
    return codes_of(question) if isinstance(question, dict) else []


def codes_of(question: Draft) -> list[Any]:
    """Return the answers that a condition on a question can name; `#2` for an answer without a code."""
    if question["type"] == "compare":
        return [0, 1, "tie"] if question.get("tie") else [0, 1]
    rows = question.get("points") or question.get("answers") or []
    return [row.get("code", f"#{place}") for place, row in enumerate(rows)]


def labels_of(question: Draft) -> list[str]:
    """Return how a lead reads these answers."""
    if question["type"] == "compare":
        return ["The first", "The second", "Tie"]
    rows = question.get("points") or question.get("answers") or []
    texts = [row.get("label") or {} for row in rows]
    return [
        f"{code} · {text.get('en') or next(iter(text.values()), '')}".rstrip(" ·")
        for code, text in zip(codes_of(question), texts, strict=True)
    ]
