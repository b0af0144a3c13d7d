"""The rows of a draft's form in which a lead puts quota rules together; they are added and removed without scripts."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from django import forms

from annotation.assignment import quota_rules
from annotation.assignment.quotas import AT_LEAST, AT_MOST, DISTINCT, Rule
from annotation.kinds.declaration import Kind
from foundation.errors import DomainError

ADD, REMOVE = "add rule", "remove rule "
COUNT = "quota_rows"
PROFILE_FIELDS = [(name, words.capitalize()) for name, words in quota_rules.FIELD_WORDS.items()]
_PARTS = ("kind", "number", "field", "relation", "values")
_GROUP = "group."


@dataclass(frozen=True)
class RuleRow:
    """A rule in the form: its fields, and the value of the button that removes it."""

    number: int
    fields: tuple[forms.BoundField, ...]

    @property
    def remove(self) -> str:
        return f"{REMOVE}{self.number}"


class QuotaRows(forms.Form):
    """Rules in rows. An empty row is no rule."""

    def __init__(self, *args: Any, rules: Sequence[Rule] = (), **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.row_count = len(rules) + 1
        if self.is_bound:
            self.data = _edited(self.data)
            self.row_count = _count(self.data)
        for number in range(1, self.row_count + 1):
            initial = _initial(rules[number - 1]) if number <= len(rules) else {}
            for part, field in _fields(number).items():
                field.initial = initial.get(part, field.initial)
                self.fields[_name(part, number)] = field

    @property
    def rule_rows(self) -> list[RuleRow]:
        return [
            RuleRow(number, tuple(self[_name(part, number)] for part in _PARTS))
            for number in range(1, self.row_count + 1)
        ]

    @property
    def full(self) -> bool:
        return self.row_count >= quota_rules.AT_MOST_RULES

    def rules(self, values: Mapping[str, Any]) -> list[dict[str, object]]:
        """Return the rules of the rows in the format of the API."""
        return [rule for _, rule in self._numbered(values)]

    def check_rows(self, values: Mapping[str, Any], *, annotators_per_task: int, kind: Kind) -> bool:
        """Show problems beside their row; return whether each rule is valid by itself."""
        wrong = False
        for number, rule in self._numbered(values):
            try:
                quota_rules.parse([rule], annotators_per_task=annotators_per_task, kind=kind)
            except DomainError as error:
                wrong = True
                # The API lists all codes; beside a field this would hide the problem.
                sentence = error.message.removeprefix("Rule 1: ").partition(" Codes are:")[0]
                part = "number" if " of " in sentence and "annotators per task" in sentence else "values"
                self.add_error(_name(part, number), sentence[:1].upper() + sentence[1:])
        return not wrong

    def last_row(self, values: Mapping[str, Any]) -> str:
        """Return the field beside which a contradiction among the rules is shown; "" if no row has a rule."""
        numbers = [number for number, _ in self._numbered(values)]
        return _name("values", numbers[-1]) if numbers else ""

    def _numbered(self, values: Mapping[str, Any]) -> list[tuple[int, dict[str, object]]]:
        rules = []
        for number in range(1, self.row_count + 1):
            row = {part: values.get(_name(part, number)) for part in _PARTS}
            if row["kind"]:
                rules.append((number, _rule(row)))
        return rules


def _rule(row: Mapping[str, Any]) -> dict[str, object]:
    if row["kind"] == DISTINCT:
        return {"kind": DISTINCT, "field": row["field"]}
    text = (row["values"] or "").strip()
    rule = {
        "kind": row["kind"],
        "k": row["number"],
        "field": row["field"],
        "negated": row["relation"] == "!=",
    }
    if text.startswith(_GROUP):
        return rule | {"matches_group": text.removeprefix(_GROUP)}
    return rule | {"values": [value.strip() for value in text.split(",") if value.strip()]}


def _initial(rule: Rule) -> dict[str, Any]:
    # A comma separates values, so a country with a comma in its name is shown by its code.
    names = zip(quota_rules.value_names(rule), quota_rules.value_codes(rule), strict=True)
    values = ", ".join(code if "," in name else name for name, code in names)
    return {
        "kind": rule.kind,
        "number": rule.k if rule.kind != DISTINCT else 1,
        "field": rule.field,
        "relation": "!=" if rule.negated else "=",
        "values": f"{_GROUP}{rule.matches_group}" if rule.matches_group else values,
    }


def _fields(number: int) -> dict[str, forms.Field]:
    return {
        "kind": forms.ChoiceField(
            required=False,
            label=f"Rule {number}",
            choices=[
                ("", "No rule"),
                (AT_LEAST, "At least"),
                (AT_MOST, "At most"),
                (DISTINCT, "All different"),
            ],
        ),
        "number": forms.IntegerField(
            required=False, min_value=0, max_value=100, initial=1, label="Of each screen’s people"
        ),
        "field": forms.ChoiceField(required=False, label="Whose", choices=PROFILE_FIELDS),
        "relation": forms.ChoiceField(
            required=False, label="Relation", choices=[("=", "is one of"), ("!=", "is given but is none of")]
        ),
        "values": forms.CharField(required=False, max_length=2_000, label="Values"),
    }


def _name(part: str, number: int) -> str:
    return f"quota_{part}_{number}"


def _count(data: Mapping[str, Any]) -> int:
    text = str(data.get(COUNT) or "")
    count = int(text) if text.isascii() and text.isdecimal() and len(text) < 4 else 1
    return min(max(count, 1), quota_rules.AT_MOST_RULES)


def _edited(data: Any) -> Any:
    """Return the submitted data, with a row added or removed if that button was pressed."""
    action, count = str(data.get("action") or ""), _count(data)
    if action == ADD:
        return _with_values(data, {COUNT: min(count + 1, quota_rules.AT_MOST_RULES)})
    gone = action.removeprefix(REMOVE)
    if not action.startswith(REMOVE) or not gone.isdecimal() or not 1 <= int(gone) <= count:
        return data
    rows = [
        {part: data.get(_name(part, number), "") for part in _PARTS}
        for number in range(1, count + 1)
        if number != int(gone)
    ] or [{"kind": ""}]
    changes = {
        _name(part, place): text for place, row in enumerate(rows, start=1) for part, text in row.items()
    }
    return _with_values(data, changes | {COUNT: len(rows)})


def _with_values(data: Any, values: Mapping[str, object]) -> Any:
    edited = data.copy()
    for name, value in values.items():
        edited[name] = str(value)
    return edited
