"""Quota rules in three forms: as leads write them, as stored, and as sentences.

Most are presets: `woman_and_man`, `one_non_man`, `from_the_country`. Any other rule is one line that contains codes
(`accounts.profile_codes.codes`) or their names:

    at_least 1 gender != man
    at_least 1 region_of_origin = 030 | 034
    at_most 2 languages = en
    at_least 1 nationality = group.nationality
    distinct region_of_origin
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from typing import Any

from accounts import profiles
from accounts.models import AnnotatorProfile
from accounts.profile_codes import code_tables, codes
from annotation.assignment.quotas import (
    AT_LEAST,
    DISTINCT,
    Rule,
    TaskRules,
    normalise,
)
from annotation.kinds.declaration import Kind
from annotation.models import Campaign, QuotaRule
from foundation.errors import DomainError

AT_MOST_RULES = 20
AT_MOST_VALUES = 250
_GROUP = "group."
_LINE = re.compile(
    r"(?P<kind>at_least|at_most)\s+(?P<k>\d{1,4})\s+(?P<field>\w+)\s*"
    r"(?P<how>!=|=|\bnot\s+in\b|\bin\b)\s*(?P<values>\S.*)|(?P<all>distinct)\s+(?P<one>\w+)",
    re.IGNORECASE,
)
FIELD_WORDS = {
    "gender": "gender",
    "region_of_origin": "region of origin",
    "nationality": "nationality",
    "country_of_residence": "country of residence",
    "age_band": "age band",
    "languages": "language",
}


@dataclass(frozen=True)
class Preset:
    """Frequently used rules, under one name."""

    title: str
    lines: tuple[str, ...]

    @property
    def needs_group(self) -> bool:
        """Whether the rule refers to the group shown; ratings show no group."""
        return any(_GROUP in text for text in self.lines)


PRESETS: Mapping[str, Preset] = {
    "woman_and_man": Preset(
        "At least one woman and one man", ("at_least 1 gender = woman", "at_least 1 gender = man")
    ),
    "one_non_man": Preset("At least one person who is not a man", ("at_least 1 gender != man",)),
    "one_non_woman": Preset("At least one person who is not a woman", ("at_least 1 gender != woman",)),
    "from_the_country": Preset(
        "At least one person of the nationality shown", ("at_least 1 nationality = group.nationality",)
    ),
    "from_elsewhere": Preset(
        "At least one person of a nationality other than the one shown",
        ("at_least 1 nationality != group.nationality",),
    ),
    "from_the_region": Preset(
        "At least one person from the region shown", ("at_least 1 region_of_origin = group.region",)
    ),
    "different_nationalities": Preset("All of different nationalities", ("distinct nationality",)),
    "different_regions": Preset("All from different regions", ("distinct region_of_origin",)),
    "different_genders": Preset("All of different genders", ("distinct gender",)),
    "different_ages": Preset("All of different age bands", ("distinct age_band",)),
}
_HOW_TO = (
    f"Give a preset ({', '.join(PRESETS)}) or a rule such as ‘at_least 1 gender != man’, "
    "‘at_most 2 languages = en | fr’, ‘at_least 1 nationality = group.nationality’ or ‘distinct region_of_origin’."
)


def parse(written_rules: Sequence[object], *, annotators_per_task: int, kind: Kind) -> tuple[Rule, ...]:
    """Return checked rules from presets, lines or objects; DomainError `quotas_invalid` names each wrong one."""
    rules: list[Rule] = []
    wrong: dict[str, str] = {}
    for number, written_rule in enumerate(written_rules, start=1):
        preset = PRESETS.get(written_rule.strip()) if isinstance(written_rule, str) else None
        for part in preset.lines if preset else (written_rule,):
            try:
                rule = _coded(_parse_line(part) if isinstance(part, str) else _parse_object(part))
                _check(rule, annotators_per_task, kind)
            except ValueError as error:
                wrong[f"quotas.{number}"] = f"Rule {number}: {error}"
            else:
                if rule not in rules:
                    rules.append(rule)
    if len(written_rules) > AT_MOST_RULES:
        wrong["quotas"] = f"A campaign can have at most {AT_MOST_RULES} rules."
    if wrong:
        message = " ".join(wrong.values())
        raise DomainError("quotas_invalid", message, fields={**wrong, "quotas": message})
    if message := _contradiction([rule for rule in rules if not rule.matches_group], annotators_per_task):
        raise DomainError("quotas_impossible", message, fields={"quotas": message})
    return tuple(rules)


def _contradiction(rules: Sequence[Rule], annotators_per_task: int) -> str:
    """Return a sentence that names rules which no annotators can meet together, "" if all can be met.

    Rules on different fields never contradict each other.
    """
    together = f"{annotators_per_task} {'person answers' if annotators_per_task == 1 else 'people answer'} each screen"
    for field in dict.fromkeys(rule.field for rule in rules):
        of_field = [rule for rule in rules if rule.field == field]
        if TaskRules(tuple(of_field)).completable([], annotators_per_task):
            continue
        for pair in combinations(of_field, 2):
            if not TaskRules(pair).completable([], annotators_per_task):
                first, second = (in_words(rule).rstrip(".") for rule in pair)
                return f"“{first}” and “{second}” cannot both be met: {together}."
        return f"The rules on {FIELD_WORDS[field]} cannot all be met: {together}."
    return ""


def store(campaign: Campaign, rules: Sequence[Rule]) -> None:
    """Replace the rules of a draft."""
    campaign.quota_rules.all().delete()
    QuotaRule.objects.bulk_create(
        QuotaRule(
            campaign=campaign,
            kind=rule.kind,
            field=rule.field,
            k=None if rule.kind == DISTINCT else rule.k,
            values=sorted(rule.values),
            negated=rule.negated,
            matches_group=rule.matches_group,
        )
        for rule in rules
    )


def stored(campaign: Campaign) -> tuple[Rule, ...]:
    """Return the rules of a campaign in their order; none for an unsaved campaign."""
    if campaign.pk is None:
        return ()
    return tuple(
        Rule(
            quota_rule.kind,
            quota_rule.field,
            quota_rule.k or 0,
            frozenset(quota_rule.values),
            quota_rule.negated,
            quota_rule.matches_group,
        )
        for quota_rule in campaign.quota_rules.all()
    )


def line(rule: Rule) -> str:
    """Return a rule as a lead would write it."""
    if rule.kind == DISTINCT:
        return f"distinct {rule.field}"
    written = sorted(codes.canonical(rule.field, value) or value for value in rule.values)
    values = f"{_GROUP}{rule.matches_group}" if rule.matches_group else " | ".join(written)
    return f"{rule.kind} {rule.k} {rule.field} {'!=' if rule.negated else '='} {values}"


def in_words(rule: Rule) -> str:
    """Return a rule as a sentence about the annotators of one task."""
    field = FIELD_WORDS[rule.field]
    if rule.kind == DISTINCT:
        return f"No two annotators have the same {field}, and all of them stated it."
    number = f"{'At least' if rule.kind == AT_LEAST else 'At most'} {rule.k} of each task’s annotators"
    values = "the same as for the group shown" if rule.matches_group else names_of(rule)
    return f"{number}: {field} {'given, and not' if rule.negated else 'is'} {values}."


def presets_in(rules: Sequence[Rule]) -> tuple[list[str], list[Rule]]:
    """Return the presets contained in rules, and the remaining rules."""
    preset_names = [name for name, preset in PRESETS.items() if set(_rules_of(preset)) <= set(rules)]
    covered = {rule for name in preset_names for rule in _rules_of(PRESETS[name])}
    return preset_names, [rule for rule in rules if rule not in covered]


def _rules_of(preset: Preset) -> list[Rule]:
    return [_parse_line(text) for text in preset.lines]


def names_of(rule: Rule) -> str:
    """Return the values of a rule in words."""
    return " or ".join(value_names(rule))


def value_names(rule: Rule) -> list[str]:
    """Return the names of a rule's values within a sentence; countries and regions are proper names."""
    if rule.field not in codes.CODED:
        return sorted(rule.values)
    return [name for name, _ in _named_codes(rule)]


def value_codes(rule: Rule) -> list[str]:
    """Return the values of a rule in written form, in the order of `value_names`."""
    return sorted(rule.values) if rule.field not in codes.CODED else [code for _, code in _named_codes(rule)]


def _named_codes(rule: Rule) -> list[tuple[str, str]]:
    names = ((codes.label(rule.field, value, language="en"), value) for value in rule.values)
    return sorted(
        (name.lower() if rule.field == "gender" else name, codes.canonical(rule.field, value) or value)
        for name, value in names
    )


def _coded(rule: Rule) -> Rule:
    """Return the rule with codes for its values; raises ValueError with a value that has no code, and the list."""
    if rule.field not in codes.CODED:
        return rule
    code_by_value = {
        value: profiles.code_of(rule.field, value) or codes.canonical(rule.field, value)
        for value in rule.values
    }
    if unknown := sorted(value for value, code in code_by_value.items() if not code):
        listed = ", ".join(code_tables.field_codes(rule.field))
        raise ValueError(f"“{unknown[0]}” is not a code for {FIELD_WORDS[rule.field]}. Codes are: {listed}.")
    return replace(rule, values=frozenset(map(normalise, code_by_value.values())))


def _parse_line(text: str) -> Rule:
    match = _LINE.fullmatch(text.strip())
    if match is None:
        raise ValueError(f"“{text.strip()[:80]}” is not a rule. {_HOW_TO}")
    if match["all"]:
        return Rule(DISTINCT, match["one"].lower())
    values = match["values"].strip()
    group = values.removeprefix(_GROUP) if values.startswith(_GROUP) else ""
    return Rule(
        kind=match["kind"].lower(),
        field=match["field"].lower(),
        k=int(match["k"]),
        values=frozenset() if group else _normalised(values.split("|")),
        negated=match["how"].lower() not in {"=", "in"},
        matches_group=group,
    )


def _parse_object(raw: object) -> Rule:
    if not isinstance(raw, Mapping):
        raise ValueError(f"Give the rule as a line of text or as an object. {_HOW_TO}")
    field_names = {"kind", "field", "k", "values", "negated", "matches_group"}
    if unknown := sorted(str(name) for name in raw.keys() - field_names):
        raise ValueError(f"a rule has no {', '.join(unknown)}.")
    data: dict[str, Any] = {name: value for name, value in raw.items() if value is not None}
    k, values, negated = data.get("k", 0), data.get("values", []), data.get("negated", False)
    if type(k) is not int or type(negated) is not bool:
        raise ValueError("k is a whole number, negated is true or false.")
    if not isinstance(values, list | tuple) or not all(isinstance(text, str) for text in values):
        raise ValueError("values is a list of texts.")
    return Rule(
        kind=str(data.get("kind", "")),
        field=str(data.get("field", "")),
        k=k,
        values=_normalised(values),
        negated=negated,
        matches_group=str(data.get("matches_group", "")),
    )


def _normalised(values: Sequence[str]) -> frozenset[str]:
    normal_values = frozenset(filter(None, map(normalise, values)))
    if not all(value.isprintable() for value in normal_values):
        raise ValueError("a value contains a control character.")
    return normal_values


def _check(rule: Rule, annotators_per_task: int, kind: Kind) -> None:
    if rule.kind not in QuotaRule.Kind.values:
        raise ValueError(f"choose one of {', '.join(QuotaRule.Kind.values)}.")
    if rule.field not in AnnotatorProfile.FIELDS:
        raise ValueError(f"“{rule.field}” is not a profile field; use {', '.join(AnnotatorProfile.FIELDS)}.")
    if rule.kind == DISTINCT:
        if rule.k or rule.values or rule.negated or rule.matches_group:
            raise ValueError("‘distinct’ takes a field and nothing else.")
        return
    if rule.kind == AT_LEAST and rule.k < 1:
        raise ValueError("‘at least 0’ requires nobody; give 1 or more.")
    if not 0 <= rule.k <= annotators_per_task:
        raise ValueError(f"{rule.k} of {annotators_per_task} annotators per task are not possible.")
    if rule.matches_group:
        _check_group(rule, kind)
    elif not rule.values or len(rule.values) > AT_MOST_VALUES:
        raise ValueError(f"give 1 to {AT_MOST_VALUES} values.")
    ages = AnnotatorProfile.AgeBand.values
    if rule.field == "age_band" and (unknown := sorted(rule.values - set(ages))):
        raise ValueError(f"“{unknown[0]}” is not an age band; use {', '.join(ages)}.")


def _check_group(rule: Rule, kind: Kind) -> None:
    if rule.values:
        raise ValueError("give values or matches_group, not both.")
    if rule.matches_group not in QuotaRule.GroupPart.values:
        raise ValueError("a rule can refer to group.region or group.nationality.")
    if not kind.stimuli.of_one_group:
        what = "a rating shows no group" if kind.rates_attributes else "its screens do not show one group"
        raise ValueError(f"{what} that a rule could refer to.")
