"""Who may share a task: quota rules, and whether a task with some annotators can still meet all of them.

Nothing here uses the database. A rule concerns one profile field. A future annotator may have any value in any field,
or none. So the fields can be considered separately, while the rules on one field are solved together, exactly.
"""

import hashlib
import unicodedata
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache
from itertools import combinations
from typing import NamedTuple

from accounts.models import AnnotatorProfile
from accounts.profile_codes.codes import UNCODED

AT_LEAST, AT_MOST, DISTINCT = "at_least", "at_most", "distinct"
SEVERAL_VALUES = frozenset({"languages"})
_AGES = frozenset(AnnotatorProfile.AgeBand.values)  # the one field with a closed list of answers
_LONGEST_MIX = 1500  # an index row of PostgreSQL has at most 2,700 bytes

# A profile: per field the codes, normalised; a field that is empty or only has own words is absent.
Profile = Mapping[str, frozenset[str]]


def normalise(value: str) -> str:
    """Return `value` in the form in which it is compared: case and spaces do not matter."""
    return " ".join(unicodedata.normalize("NFKC", value).casefold().split())


def profile_of(values: Mapping[str, object]) -> Profile:
    """Return the comparable profile of raw field values (texts, and a list of languages)."""
    profile: dict[str, frozenset[str]] = {}
    for field, answer in values.items():
        texts = answer if isinstance(answer, list | tuple) else [answer]
        if (normal_values := frozenset(filter(None, (normalise(str(text or "")) for text in texts)))) - {
            UNCODED
        }:
            profile[field] = normal_values
    return profile


@dataclass(frozen=True)
class Rule:
    """At least or at most `k` annotators of a task with `field` in `values`, or all distinct on `field`.

    `negated`: the field is given and none of its values is listed. `matches_group` ('region' or 'nationality') means
    the values of the depicted group.
    """

    kind: str
    field: str
    k: int = 0
    values: frozenset[str] = frozenset()
    negated: bool = False
    matches_group: str = ""

    def met_by(self, profile: Profile) -> bool:
        """Return whether an annotator counts. One who left the field empty never does.

        An annotator whose own words have no code does not count as *not* having these values, because the words may
        mean one of them.
        """
        answers = profile.get(self.field, frozenset())
        if self.negated and UNCODED in answers:
            return False
        return bool(answers) and bool(answers & self.values) != self.negated


class Member(NamedTuple):
    """The rules' view of an annotator: the rules that count them, and marks of their values if all must differ."""

    counted: tuple[bool, ...]
    marks: tuple[frozenset[str], ...]


@dataclass(frozen=True)
class TaskRules:
    """The rules of one task, with the group's own values."""

    rules: tuple[Rule, ...]

    @cached_property
    def counting(self) -> tuple[Rule, ...]:
        return tuple(rule for rule in self.rules if rule.kind != DISTINCT)

    @cached_property
    def distinct(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys(rule.field for rule in self.rules if rule.kind == DISTINCT))

    @cached_property
    def key(self) -> str:
        """Return a name for these rules, which is equal for groups with equal values."""
        group_values = [sorted(rule.values) for rule in self.rules if rule.matches_group]
        return hashlib.sha256(repr(group_values).encode()).hexdigest()[:12] if group_values else "-"

    def member(self, profile: Profile) -> Member:
        return Member(
            tuple(rule.met_by(profile) for rule in self.counting),
            tuple(
                frozenset(_mark(value) for value in profile.get(field, ()) if value != UNCODED)
                for field in self.distinct
            ),
        )

    def completable(self, members: Sequence[Member], slot_count: int) -> bool:
        """Return whether a task held by `members` can still end with `slot_count` annotators and every rule met."""
        return _completable(self, tuple(sorted(members, key=repr)), slot_count)

    def mix(self, members: Iterable[Member], slot_count: int) -> str:
        """Return the rules' view of a task, as text: tasks with the same mix are open to the same people.

        A mix too long for an index begins with '?': only a look at the task itself decides.
        """
        written = " ".join(sorted(map(_written, members)))
        text = f"{slot_count}/{self.key}/{written}"
        return text if len(text) <= _LONGEST_MIX else f"?{slot_count}/{self.key}"

    def allows(self, mix: str, profile: Profile) -> bool:
        """Return whether an annotator may join a task with this mix; True if the mix is too long."""
        return mix.startswith("?") or _allows(self, mix, self.member(profile))

    def joined(self, mix: str, profile: Profile) -> str | None:
        """Return the mix after an annotator joined; None if `mix` is too long."""
        if mix.startswith("?"):
            return None
        return self.mix([*members_of(mix), self.member(profile)], int(mix.split("/", 1)[0]))


def closed_mix(slot_count: int) -> str:
    """Return the mix of a task that nobody may join: its rules cannot be met."""
    return f"{slot_count}/closed/"


def resolve(rules: Iterable[Rule], group_values: Mapping[str, frozenset[str]]) -> TaskRules:
    """Return the rules for a task whose group has the values `group_values` ('region', 'nationality')."""
    return TaskRules(
        tuple(
            replace(rule, values=group_values.get(rule.matches_group, frozenset()))
            if rule.matches_group
            else rule
            for rule in rules
        )
    )


def _mark(value: str) -> str:
    # Tasks keep no answers of people, and an index row stays short.
    return hashlib.sha256(value.encode()).hexdigest()[:12]


def _written(member: Member) -> str:
    counted = "".join("01"[is_counted] for is_counted in member.counted)
    return ":".join([counted, *(",".join(sorted(marks)) for marks in member.marks)])


def members_of(mix: str) -> list[Member]:
    """Return the annotators of a task with this mix, as the rules see them."""
    return [_read(text) for text in mix.split("/", 2)[2].split(" ") if text]


def _read(text: str) -> Member:
    counted, *marks = text.split(":")
    return Member(
        tuple(digit == "1" for digit in counted),
        tuple(frozenset(filter(None, values.split(","))) for values in marks),
    )


@lru_cache(maxsize=100_000)
def _allows(rules: TaskRules, mix: str, candidate: Member) -> bool:
    slot_count, key, _ = mix.split("/", 2)
    return key == rules.key and rules.completable([*members_of(mix), candidate], int(slot_count))


@lru_cache(maxsize=100_000)
def _completable(task: TaskRules, members: tuple[Member, ...], slot_count: int) -> bool:
    free = slot_count - len(members)
    if free < 0:
        return False
    marks_in_use: dict[str, frozenset[str]] = {}
    for place, field in enumerate(task.distinct):
        marks = [member.marks[place] for member in members]
        everything = frozenset().union(*marks)
        if not all(marks) or len(everything) != sum(map(len, marks)):
            return False
        marks_in_use[field] = everything
    for field in dict.fromkeys(rule.field for rule in task.rules):
        places = [place for place, rule in enumerate(task.counting) if rule.field == field]
        counts = [sum(member.counted[place] for member in members) for place in places]
        rules = [task.counting[place] for place in places]
        if not _field_completable(rules, counts, free, field, marks_in_use.get(field)):
            return False
    return True


def _field_completable(
    rules: Sequence[Rule], counts: Sequence[int], free: int, field: str, marks_in_use: frozenset[str] | None
) -> bool:
    """Return whether `free` more people can meet the rules on one field; `counts` are met by the present ones.

    `marks_in_use` are the marks that nobody else may have, when all must differ.
    """
    needs = tuple(
        max(0, rule.k - met) if rule.kind == AT_LEAST else 0 for rule, met in zip(rules, counts, strict=True)
    )
    rooms = tuple(
        rule.k - met if rule.kind == AT_MOST else free for rule, met in zip(rules, counts, strict=True)
    )
    if min(rooms, default=0) < 0:
        return False
    choices, stock = _choices(rules, field, marks_in_use)
    return _fill(choices, free, needs, tuple(min(room, free) for room in rooms), stock, {})


# One way to fill a place: the rules that count it, and the kinds of value of which it uses one.
_Choice = tuple[tuple[bool, ...], tuple[int, ...]]


def _choices(
    rules: Sequence[Rule], field: str, marks_in_use: frozenset[str] | None
) -> tuple[tuple[_Choice, ...], tuple[int, ...]]:
    """Return the ways to fill a place, and how many unused values there are of each kind.

    Values listed by the same rules are of one kind. The number of values that no rule lists is unlimited, except for
    ages.
    """
    listed = _AGES if field == "age_band" else frozenset().union(*(rule.values for rule in rules))
    kinds: dict[tuple[bool, ...], int] = {}
    for value in listed:
        kind = tuple(value in rule.values for rule in rules)
        kinds[kind] = kinds.get(kind, 0) + (marks_in_use is None or _mark(value) not in marks_in_use)
    names = [kind for kind, unused in kinds.items() if unused]
    largest = len(names) if field in SEVERAL_VALUES else 1
    ways_by_met: dict[tuple[bool, ...], list[tuple[int, ...]]] = {}
    for size in range(1, min(largest, len(names)) + 1):
        for chosen in combinations(range(len(names)), size):
            is_listed = tuple(any(names[index][place] for index in chosen) for place in range(len(rules)))
            ways = ways_by_met.setdefault(_met(rules, is_listed), [])
            use = chosen if marks_in_use is not None else ()
            if not any(set(way) <= set(use) for way in ways):
                ways.append(use)
    if field != "age_band":
        ways_by_met.setdefault(_met(rules, (False,) * len(rules)), []).append(())
    if marks_in_use is None:
        ways_by_met.setdefault((False,) * len(rules), []).append(())  # somebody who leaves the field empty
    choices = {(met, use) for met, ways in ways_by_met.items() for use in ways}
    return tuple(sorted(choices, reverse=True)), tuple(kinds[name] for name in names)


def _met(rules: Sequence[Rule], is_listed: Sequence[bool]) -> tuple[bool, ...]:
    return tuple(listed != rule.negated for rule, listed in zip(rules, is_listed, strict=True))


def _fill(
    choices: tuple[_Choice, ...],
    free: int,
    needs: tuple[int, ...],
    rooms: tuple[int, ...],
    stock: tuple[int, ...],
    solved: dict[object, bool],
) -> bool:
    """Return whether `free` places can be filled by the choices, each any number of times."""
    if max(needs, default=0) > free:
        return False
    if not free:
        return True
    if not choices:
        return False
    state = (len(choices), free, needs, rooms, stock)
    if state not in solved:
        solved[state] = any(
            _fill(choices[1:], free - times, *_after(choices[0], times, needs, rooms, stock), solved)
            for times in range(_most(choices[0], free, rooms, stock), -1, -1)
        )
    return solved[state]


def _most(choice: _Choice, free: int, rooms: tuple[int, ...], stock: tuple[int, ...]) -> int:
    met, use = choice
    limits = [room for room, counted in zip(rooms, met, strict=True) if counted]
    return min([free, *limits, *(stock[kind] for kind in use)])


def _after(
    choice: _Choice, times: int, needs: tuple[int, ...], rooms: tuple[int, ...], stock: tuple[int, ...]
) -> tuple[tuple[int, ...], tuple[int, ...], tuple[int, ...]]:
    met, use = choice
    return (
        tuple(max(0, need - times * is_counted) for need, is_counted in zip(needs, met, strict=True)),
        tuple(room - times * is_counted for room, is_counted in zip(rooms, met, strict=True)),
        tuple(unused - times * (kind in use) for kind, unused in enumerate(stock)),
    )
