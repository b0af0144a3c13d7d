"""Sets of parameters, each declared once: type, default, limits, choices, label and help.

A set is a pydantic model. Form fields, command options and tables of the documentation are derived from it here;
`web.api.bodies` derives fields of the API.
"""

from argparse import ArgumentParser, BooleanOptionalAction
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from types import NoneType, UnionType
from typing import Any, ClassVar, Self, cast, get_args, get_origin

import annotated_types as limits
from django import forms
from pydantic import BaseModel, ConfigDict, Field, ValidationError, field_validator
from pydantic.fields import FieldInfo
from pydantic_core.core_schema import ValidationInfo

from foundation.errors import DomainError

_TYPE_WORDS: Mapping[type, str] = {int: "a whole number", float: "a number", str: "text", bool: "yes or no"}
_LONG_TEXT = 2_000  # characters from which a form field has several lines
_LINES = {"rows": 3}
_METAVARS: Mapping[type, str] = {int: "N", float: "X", str: "TEXT"}


def parameter(
    default: Any = ...,
    *,
    label: str,
    help: str,
    words: Mapping[Any, str] | None = None,
    expected: str = "",
    **rules: Any,
) -> Any:
    """Declare a parameter.

    `words` maps possible values to their wording. `expected` describes allowed values if type and limits do not.
    `rules` are pydantic's (ge, le, gt, lt, multiple_of, max_length).
    """
    read: dict[str, Any] = {"words": words or {}, "expected": expected}
    return Field(default, title=label, description=help, json_schema_extra=read, **rules)


@dataclass(frozen=True)
class Declaration:
    """The declaration of a parameter."""

    name: str
    info: FieldInfo

    @property
    def label(self) -> str:
        return self.info.title or self.name

    @property
    def help(self) -> str:
        return self.info.description or ""

    @property
    def words(self) -> Mapping[Any, str]:
        """Possible value → wording; empty if other values are possible."""
        words: Mapping[Any, str] = self._read["words"]
        return words

    @property
    def default(self) -> Any:
        """The default; None if there is none."""
        return None if self.info.is_required() else self.info.get_default(call_default_factory=True)

    @property
    def value_type(self) -> type[Any]:
        """int, float, bool, str, list or tuple; for optional parameters, the type of values other than None."""
        declared = self.info.annotation
        if isinstance(declared, UnionType):
            declared = next(option for option in get_args(declared) if option is not NoneType)
        return cast("type[Any]", get_origin(declared) or declared)

    def limit(self, rule: type, name: str) -> Any:
        """Return a limit, such as `limit(Ge, "ge")`; None if there is none."""
        return next((getattr(found, name) for found in self.info.metadata if isinstance(found, rule)), None)

    @property
    def least(self) -> Any:
        return self.limit(limits.Ge, "ge")

    @property
    def most(self) -> Any:
        return self.limit(limits.Le, "le")

    @property
    def longest(self) -> int | None:
        """The maximum length of a text."""
        longest: int | None = self.limit(limits.MaxLen, "max_length")
        return longest

    @property
    def expected(self) -> str:
        """The allowed values in words that follow “must be”."""
        if self._read["expected"]:
            return str(self._read["expected"])
        if self.words and self.value_type is tuple:
            return f"some of {', '.join(self.words)}"
        if self.words and self.value_type is not bool:
            values = [str(value) for value in self.words if value != ""]
            return f"one of {', '.join(values)}" if len(values) > 2 else " or ".join(values)
        kind = _TYPE_WORDS.get(self.value_type, "a list")
        if self.longest is not None:
            return f"{kind} of at most {self.longest:,} characters"
        if self.least is None or self.most is None:
            return kind
        step = self.limit(limits.MultipleOf, "multiple_of")
        return f"{kind} from {_figure(self.least)} to {_figure(self.most)}" + (
            f" divisible by {step}" if step else ""
        )

    @property
    def _read(self) -> dict[str, Any]:
        return cast("dict[str, Any]", self.info.json_schema_extra)  # as `parameter` stored it


@dataclass(frozen=True)
class Problem:
    """A refused value. `declaration` is None if there is no such parameter."""

    name: str
    value: Any
    declaration: Declaration | None


class ParameterSet(BaseModel):
    """A set of related parameters. Unknown names are refused, and instances are immutable."""

    model_config = ConfigDict(extra="forbid", frozen=True, strict=True)

    error_code: ClassVar[str] = "invalid_parameter"

    @field_validator("*")
    @classmethod
    def _require_choice(cls, value: Any, info: ValidationInfo) -> Any:
        words = cls.declaration(str(info.field_name)).words
        if words and not set(value if isinstance(value, tuple) else [value]) <= set(words):
            raise ValueError("not among the choices")
        return value

    @classmethod
    def read(cls, values: Mapping[str, Any]) -> Self:
        """Return validated parameters; raise DomainError for invalid ones."""
        try:
            return cls.model_validate(dict(values))
        except ValidationError as error:
            names = list(dict.fromkeys(str(one["loc"][0]) for one in error.errors()))
        declared = cls.declarations()
        # Unknown names first: other errors may follow from a misspelled name.
        names.sort(key=lambda name: name in declared)
        raise cls.refusal([Problem(name, values.get(name), declared.get(name)) for name in names])

    @classmethod
    def refusal(cls, problems: list[Problem]) -> DomainError:
        """Return the error for refused values, with a sentence about the first."""
        sentence = cls.sentence(problems[0])
        return DomainError(cls.error_code, sentence, fields={problems[0].name: sentence})

    @classmethod
    def sentence(cls, problem: Problem) -> str:
        """Return a sentence about a refused value."""
        if problem.declaration is None:
            return f"There is no parameter {problem.name}; there are {', '.join(cls.model_fields)}."
        value = problem.value
        if type(value) is int:
            value = f"{value:,}"
        elif isinstance(value, list | tuple):
            value = _json_like(value)
        return f"{problem.name} must be {problem.declaration.expected}, not {value}."

    @classmethod
    def declaration(cls, name: str) -> Declaration:
        return Declaration(name, cls.model_fields[name])

    @classmethod
    def declarations(cls) -> dict[str, Declaration]:
        return {name: cls.declaration(name) for name in cls.model_fields}

    @classmethod
    def form_fields(cls, names: Iterable[str] | None = None) -> dict[str, forms.Field]:
        """Return form fields for all or some parameters. No field is required; an empty field sets nothing."""
        return {name: cls.form_field(name) for name in names or cls.model_fields}

    @classmethod
    def form_field(cls, name: str, **settings: Any) -> forms.Field:
        """Return the form field of a parameter; `settings`, such as `choices`, override its declaration."""
        return _form_field(cls.declaration(name), settings)

    @classmethod
    def default(cls, name: str) -> Any:
        return cls.declaration(name).default

    @classmethod
    def add_options(cls, parser: ArgumentParser, names: Iterable[str] | None = None) -> None:
        """Add options for all or some parameters to a command; an unused option is None.

        The name of a list's option is singular, and it takes several values.
        """
        for name in names or cls.model_fields:
            declared = cls.declaration(name)
            flag, settings = _option(declared)
            parser.add_argument(flag, dest=name, help=_option_help(declared), **settings)

    @classmethod
    def chosen(cls, options: Mapping[str, Any]) -> dict[str, Any]:
        """Return the parameters given as options of a command."""
        return {name: options[name] for name in cls.model_fields if options.get(name) is not None}

    @classmethod
    def markdown(cls, *, options: bool = False) -> str:
        """Return a Markdown table of the parameters, or with `options` of the command's options."""
        lines = [f"| {'option' if options else 'parameter'} | default | values | |", "|---|---|---|---|"]
        for name, declared in cls.declarations().items():
            shown = _option(declared)[0] if options else name
            default = "" if declared.default in (None, "", (), []) else f"`{_json_like(declared.default)}`"
            named = (
                []
                if declared.value_type is bool
                else [f"`{value}`" for value in declared.words if value != ""]
            )
            values = ", ".join(named) or declared.expected
            lines.append(f"| `{shown}` | {default} | {values} | {declared.help} |")
        return "\n".join(lines)


def whole_numbers(text: str) -> list[int]:
    """Return the sorted numbers of a list in text; empty if a part is not a whole number from 1 to 1,000."""
    parts = [part for part in text.replace(",", " ").split() if part]
    numbers = [int(part) for part in parts if part.isascii() and part.isdigit() and len(part) <= 4]
    readable = len(numbers) == len(parts) and all(1 <= number <= 1_000 for number in numbers)
    return sorted(set(numbers)) if readable else []


def _form_field(declared: Declaration, settings: Mapping[str, Any]) -> forms.Field:
    """Return the form field for a parameter."""
    told: dict[str, Any] = {"label": declared.label, "help_text": declared.help, "required": False}
    told |= {"initial": declared.default, **settings}
    if declared.value_type is bool and declared.words:
        told["initial"] = _yes_or_no(declared.default)
        words = [(_yes_or_no(value), text) for value, text in declared.words.items()]
        return forms.ChoiceField(choices=words, **told)
    choices = told.pop("choices", None) or list(declared.words.items())
    if choices and declared.value_type is tuple:
        return forms.MultipleChoiceField(choices=choices, widget=forms.CheckboxSelectMultiple, **told)
    if choices:
        coerce: Callable[[Any], Any] = type(choices[0][0])
        return forms.TypedChoiceField(choices=choices, coerce=coerce, empty_value=None, **told)
    if declared.value_type is bool:
        return forms.BooleanField(**told)
    if declared.value_type is int:
        return forms.IntegerField(min_value=declared.least, max_value=declared.most, **told)
    if declared.value_type is float:
        return forms.FloatField(min_value=declared.least, max_value=declared.most, **told)
    if declared.value_type is list:
        told |= {"initial": "\n".join(declared.default), "widget": forms.Textarea(attrs=_LINES), **settings}
    elif (declared.longest or 0) >= _LONG_TEXT:
        told["widget"] = forms.Textarea(attrs=_LINES)
    return forms.CharField(**{"max_length": declared.longest, **told})


def _option(declared: Declaration) -> tuple[str, dict[str, Any]]:
    flag = "--" + declared.name.replace("_", "-")
    if declared.value_type is bool:
        return flag, {"action": BooleanOptionalAction if declared.default else "store_true", "default": None}
    if declared.value_type is tuple:
        singular = flag.removesuffix("s")
        choices = {"choices": tuple(declared.words)} if declared.words else {}
        metavar = singular.rpartition("-")[2].upper()
        return singular, {"nargs": "+", "action": "extend", "metavar": metavar, **choices}
    if declared.words:
        return flag, {"type": type(next(iter(declared.words))), "choices": tuple(declared.words)}
    return flag, {"type": declared.value_type, "metavar": _METAVARS[declared.value_type]}


def _option_help(declared: Declaration) -> str:
    help_text = declared.help.replace("%", "%%")
    if declared.default is None or declared.default is False or declared.default in ("", ()):
        return help_text
    return f"{help_text} Default: {_json_like(declared.default)}."


def _json_like(value: Any) -> str:
    if isinstance(value, bool):
        return _yes_or_no(value)
    return ", ".join(map(str, value)) if isinstance(value, list | tuple) else str(value)


def _yes_or_no(value: bool) -> str:
    return "yes" if value else "no"


def _figure(number: float) -> str:
    """Return a limit as text, with thousands separators from 10,000 on."""
    return f"{number:g}" if isinstance(number, float) else f"{number:,}" if number >= 10_000 else str(number)
