"""Whether a task can still meet its quotas, compared with an exhaustive search."""

from itertools import combinations_with_replacement, product

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from accounts.profile_codes.codes import UNCODED
from annotation.assignment.quotas import (
    AT_LEAST,
    AT_MOST,
    DISTINCT,
    Rule,
    TaskRules,
    closed_mix,
    profile_of,
    resolve,
)

FIELDS = ("gender", "languages", "age_band")
# Possible profile values: those named by rules, and enough others.
SAID = {
    "gender": [(), ("a",), ("b",), ("c",), ("x1",), ("x2",), ("x3",)],
    "languages": [
        tuple(one.split()) for one in ("", *["a", "b", "a b", "a c", "b c", "c", "a b c", "x1", "x2", "x3"])
    ],
    "age_band": [(), ("18-24",), ("25-34",), ("35-44",), ("45-54",), ("55-64",), ("65+",)],
}
NAMED = {"gender": ["a", "b", "c"], "languages": ["a", "b", "c"], "age_band": ["18-24", "25-34", "65+"]}


def test_own_words_without_a_code_never_count_as_another_value():
    """They may mean the value that is ruled out."""
    other = Rule(AT_LEAST, "languages", 1, frozenset({"en"}), negated=True)
    assert other.met_by(profile_of({"languages": ["fr"]}))
    assert not other.met_by(profile_of({"languages": ["fr", UNCODED]}))


def test_own_words_without_a_code_are_not_equal_to_each_other():
    rules = TaskRules((Rule(DISTINCT, "languages"),))
    people = [rules.member(profile_of({"languages": [code, UNCODED]})) for code in ("fr", "en")]
    assert rules.completable(people, 2)


@st.composite
def rules_on(draw, field):
    kind = draw(st.sampled_from([AT_LEAST, AT_MOST, DISTINCT]))
    if kind == DISTINCT:
        return Rule(kind, field)
    values = draw(st.sets(st.sampled_from(NAMED[field]), min_size=1))
    return Rule(kind, field, draw(st.integers(0, 3)), frozenset(values), draw(st.booleans()))


def met(rules, people):
    """Return whether a complete task of `people` meets every rule, directly from the definition."""
    for rule in rules:
        said = [person.get(rule.field, frozenset()) for person in people]
        if rule.kind == DISTINCT:
            flat = [value for one in said for value in one]
            if not all(said) or len(set(flat)) != len(flat):
                return False
            continue
        number = sum(bool(one) and bool(one & rule.values) != rule.negated for one in said)
        if number < rule.k if rule.kind == AT_LEAST else number > rule.k:
            return False
    return True


def by_trying(rules, held, wanted):
    """Try every future of `wanted − held` people; fields are independent, so each is tried by itself."""
    for field in {rule.field for rule in rules}:
        own = [rule for rule in rules if rule.field == field]
        futures = combinations_with_replacement(SAID[field], wanted - len(held))
        if not any(
            met(own, [*held, *(profile_of({field: list(one)}) for one in future)]) for future in futures
        ):
            return False
    return True


@settings(max_examples=400, deadline=None)
@given(st.data())
def test_feasibility_equals_an_exhaustive_search(data):
    field = data.draw(st.sampled_from(FIELDS))
    rules = data.draw(st.lists(rules_on(field), min_size=1, max_size=3))
    wanted = data.draw(st.integers(1, 3))
    said = data.draw(st.lists(st.sampled_from(SAID[field]), max_size=wanted))
    held = [profile_of({field: list(one)}) for one in said]
    task = TaskRules(tuple(rules))
    members = [task.member(one) for one in held]
    assert task.completable(members, wanted) == by_trying(rules, held, wanted)


@settings(max_examples=200, deadline=None)
@given(st.data())
def test_rules_on_several_fields_hold_jointly(data):
    rules = [data.draw(rules_on(field)) for field in ("gender", "age_band")]
    held = [
        profile_of({"gender": list(gender), "age_band": list(age)})
        for gender, age in data.draw(
            st.lists(
                st.tuples(st.sampled_from(SAID["gender"]), st.sampled_from(SAID["age_band"])), max_size=2
            )
        )
    ]
    task = TaskRules(tuple(rules))
    everybody = [
        profile_of({"gender": list(gender), "age_band": list(age)})
        for gender, age in product(SAID["gender"], SAID["age_band"])
    ]
    futures = combinations_with_replacement(everybody, 2 - len(held))
    expected = any(met(rules, [*held, *future]) for future in futures)
    assert task.completable([task.member(one) for one in held], 2) == expected


@settings(max_examples=200, deadline=None)
@given(st.data())
def test_a_mix_is_equivalent_to_its_people(data):
    field = data.draw(st.sampled_from(FIELDS))
    task = TaskRules(tuple(data.draw(st.lists(rules_on(field), min_size=1, max_size=3))))
    people = [profile_of({field: list(data.draw(st.sampled_from(SAID[field])))}) for _ in range(3)]
    mix = task.mix([], 3)
    held = []
    for person in people:
        expected = task.completable([task.member(one) for one in [*held, person]], 3)
        assert task.allows(mix, person) == expected
        if not expected:
            return
        held.append(person)
        mix = task.joined(mix, person)
        assert mix == task.mix([task.member(one) for one in held], 3)


def test_three_places_cannot_hold_three_nationalities_once_somebody_else_has_one():
    rules = TaskRules(
        tuple(Rule(AT_LEAST, "nationality", 1, frozenset({one})) for one in ("kenya", "peru", "india"))
    )
    other = rules.member(profile_of({"nationality": "Chad"}))
    kenyan = rules.member(profile_of({"nationality": " KENYA "}))
    assert rules.completable([], 3)
    assert rules.completable([kenyan], 3)
    assert not rules.completable([other], 3)
    assert not rules.completable([kenyan, kenyan], 3)


def test_an_empty_field_meets_no_minimum_breaks_no_maximum_and_is_never_distinct():
    silent = profile_of({"gender": "", "languages": []})
    least = TaskRules((Rule(AT_LEAST, "gender", 1, frozenset({"man"}), negated=True),))
    most = TaskRules((Rule(AT_MOST, "gender", 0, frozenset({"man"})),))
    distinct = TaskRules((Rule(DISTINCT, "gender"),))
    assert not least.allows(least.mix([], 1), silent)
    assert most.allows(most.mix([], 1), silent)
    assert not distinct.allows(distinct.mix([], 1), silent)


def test_any_of_several_languages_counts():
    rules = TaskRules((Rule(AT_LEAST, "languages", 1, frozenset({"swahili"})),))
    assert rules.allows(rules.mix([], 1), profile_of({"languages": ["English", "Swahili"]}))
    assert not rules.allows(rules.mix([], 1), profile_of({"languages": ["English"]}))


def test_ages_run_out_where_all_must_differ():
    rules = TaskRules((Rule(DISTINCT, "age_band"),))
    assert rules.completable([], 6)
    assert not rules.completable([], 7)


def test_a_rule_on_the_groups_own_region_takes_that_of_the_task():
    rule = Rule(AT_LEAST, "region_of_origin", 1, matches_group="region")
    east = resolve([rule], {"region": frozenset({"eastern asia"})})
    nowhere = resolve([rule], {"region": frozenset()})
    easterner = profile_of({"region_of_origin": "Eastern Asia"})
    assert east.allows(east.mix([], 1), easterner)
    assert not east.allows(nowhere.mix([], 1), easterner)
    assert not nowhere.completable([], 1)


def test_a_closed_task_admits_nobody():
    rules = TaskRules((Rule(AT_MOST, "gender", 1, frozenset({"man"})),))
    assert not rules.allows(closed_mix(3), profile_of({"gender": "woman"}))


@pytest.mark.parametrize("wanted", [30, 100])
def test_a_mix_too_long_for_an_index_requires_reading_the_task(wanted):
    rules = TaskRules((Rule(DISTINCT, "languages"),))
    many = [
        rules.member(profile_of({"languages": [f"{one} {two}" for two in range(20)]}))
        for one in range(wanted - 1)
    ]
    mix = rules.mix(many, wanted)
    assert mix.startswith("?")
    assert len(mix) < 100
    assert rules.joined(mix, profile_of({"languages": ["new"]})) is None
