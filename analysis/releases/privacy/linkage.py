"""Which profiles a release may show, given the profiles in earlier releases.

Readers can match a person of two releases by the answers, so the joined table matters: the contents of all live
releases about each person. A person is hidden among the people with the same row. `ProfileKind` distinguishes people by
their origin, the contents of each earlier release about them, and the details that they gave.
docs/use/reference/releases.md has the rules.
"""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from operator import getitem
from typing import NamedTuple

from analysis.releases.privacy.levels import (
    FIELDS,
    NOTHING,
    Levels,
    Profile,
    coarser,
    information,
    last_level,
)

# The contents of each earlier release about a person: None if they are not in it, NOTHING if they have no profile in
# it.
Past = tuple[Profile | None, ...]
_Knowledge = tuple[tuple[int, str | None] | None, ...]  # level and value of a field; None if nothing is known
_UNKNOWN: _Knowledge = (None,) * len(FIELDS)


@dataclass(frozen=True)
class Earlier:
    """A live release: its k, its levels, and of each person in it the origin and the profile it shows."""

    version: int
    k: int
    levels: Levels
    # A later release must nowhere be finer than this; fields that nobody had stated are not restricted.
    floor: Levels
    profiles: Mapping[int, tuple[str, Profile]]  # of those who had given details; NOTHING if withheld
    without_profile: frozenset[int] = frozenset()  # in it without having stated anything


class ProfileKind(NamedTuple):
    """What distinguishes people before profiles are coarsened."""

    origin: str
    past: Past
    stated: Profile


class Group(NamedTuple):
    """People who look the same in the joined table if their profile is shown."""

    origin: str
    past: Past
    profile: Profile  # NOTHING if they stated nothing that is shown at these levels
    silent: bool  # whether they gave no details: they hide nobody in this release


@dataclass(frozen=True)
class LevelsOutcome:
    """One choice of levels: the result for each kind, how much is kept, and who cannot be protected by it."""

    levels: Levels
    released: Mapping[ProfileKind, Profile]
    information_kept: float
    exposed: Counter[ProfileKind]
    # People of this release with equal rows in the joined table, counted if it shows anything about them.
    shared: Mapping[ProfileKind, int]

    @property
    def rank(self) -> tuple[int, float]:
        """Better outcomes are smaller."""
        return self.exposed.total(), -self.information_kept


@dataclass(frozen=True)
class JoinedPeople:
    """All people in a joined table: those of the new release, and those who are only in earlier releases."""

    counts: Counter[ProfileKind]
    departed: Counter[tuple[str, Past]]
    earlier: Sequence[Earlier]
    k: int

    def outcome(self, levels: Levels) -> LevelsOutcome:
        """Hide as many profiles as these levels need."""
        groups = {
            kind: Group(
                kind.origin,
                kind.past,
                tuple(map(getitem, self._ladders[kind.stated], levels)),
                not any(kind.stated),
            )
            for kind in self.counts
        }
        sizes = Counter[Group]()
        for kind, number in self.counts.items():
            sizes[groups[kind]] += number
        table = _Table(self, levels, sizes)
        table.hide_what_is_rare()
        released = {
            kind: NOTHING if group in table.hidden else group.profile for kind, group in groups.items()
        }
        return LevelsOutcome(
            levels,
            released,
            sum(
                number * information(group.profile, levels)
                for group, number in sizes.items()
                if group not in table.hidden
            ),
            Counter({kind: n for kind, n in self.counts.items() if groups[kind] in table.exposed}),
            table.shared_of(groups),
        )

    @cached_property
    def _ladders(self) -> dict[Profile, list[list[str | None]]]:
        """Return the values of each field at each of its levels, for whatever somebody stated."""
        return {
            stated: [
                [coarser(index, value, level=level) for level in range(last_level(index) + 1)]
                for index, value in enumerate(stated)
            ]
            for stated in {kind.stated for kind in self.counts}
        }

    def k_of(self, past: Past) -> int:
        """Return the largest k of the earlier releases that contain these people."""
        return max(
            (release.k for release, profile in zip(self.earlier, past, strict=True) if profile is not None),
            default=0,
        )

    def adds_nothing(
        self, past: Past, other_past: Past, knowledge: _Knowledge, finest: Levels | None
    ) -> bool:
        """Return whether everything in earlier releases about `other` may also be true for people with `past`."""
        for release, profile, other_profile in zip(self.earlier, past, other_past, strict=True):
            if profile is not None:
                if profile != other_profile:
                    return False
            elif other_profile == NOTHING:
                # Withholding at a finer level would reveal more than is known about these people.
                if finest is not None and any(a < b for a, b in zip(release.levels, finest, strict=True)):
                    return False
            elif other_profile is not None and not _implied(other_profile, release.levels, knowledge):
                return False
        return True

    def past_with_profiles(self, origin: str, past: Past) -> Past:
        """Return the contents of releases that show any profile of that origin; other releases hide everybody
        equally."""
        return tuple(
            profile if origin in shown_origins else None
            for profile, shown_origins in zip(past, self._origins_shown, strict=True)
        )

    @cached_property
    def _origins_shown(self) -> list[set[str]]:
        return [
            {origin for origin, profile in release.profiles.values() if any(profile)}
            for release in self.earlier
        ]

    @cached_property
    def shared_before(self) -> dict[tuple[str, Past], int]:
        """For people who are only in earlier releases: the number of people with equal rows before the new release."""
        everyone = Counter(self.departed)
        for kind, number in self.counts.items():
            everyone[kind.origin, kind.past] += number
        shared = {}
        for origin, past in self.departed:
            knowledge, finest = self.knowledge_of(past)
            shared[origin, past] = sum(
                number
                for (of, other_past), number in everyone.items()
                if of == origin and self.adds_nothing(past, other_past, knowledge, finest)
            )
        return shared

    def knowledge_of(
        self, past: Past, profile: Profile = NOTHING, levels: Levels | None = None
    ) -> tuple[_Knowledge, Levels | None]:
        """Return the finest known values of people, and the finest level of each field."""
        showing = [
            (release.levels, of) for release, of in zip(self.earlier, past, strict=True) if of and any(of)
        ]
        if levels is not None and any(profile):
            showing.append((levels, profile))
        if not showing:
            return _UNKNOWN, None
        knowledge: list[tuple[int, str | None] | None] = []
        for index in range(len(FIELDS)):
            level, value = min(((at[index], of[index]) for at, of in showing), key=lambda pair: pair[0])
            knowledge.append(None if level == last_level(index) else (level, value))
        return tuple(knowledge), tuple(min(at[index] for at, _ in showing) for index in range(len(FIELDS)))


def _implied(profile: Profile, levels: Levels, knowledge: _Knowledge) -> bool:
    for index, (value, level) in enumerate(zip(profile, levels, strict=True)):
        if level == last_level(index):
            continue
        if knowledge[index] is None:
            return False
        since, finer = knowledge[index] or (0, None)
        if since > level:
            return False
        coarse = coarser(index, finer, level=level, since=since)
        if (coarse or "").casefold() != (value or "").casefold():
            return False
    return True


@dataclass
class _Table:
    """The joined table at one choice of levels, while profiles are hidden in it."""

    people: JoinedPeople
    levels: Levels
    sizes: Counter[Group]
    hidden: set[Group] = field(default_factory=set)
    exposed: set[Group] = field(default_factory=set)

    def hide_what_is_rare(self) -> None:
        """Hide profiles until everybody is among k of each release they are in; keep who cannot be."""
        self.hidden = {group for group in self.sizes if not any(group.profile)}
        while (
            self._hide_rare_combinations()
            or self._hide_rare_joined()
            or self._hide_beside_a_few()
            or self._hide_companions()
        ):
            pass

    def shared_of(self, groups: Mapping[ProfileKind, Group]) -> dict[ProfileKind, int]:
        """Return how many people of this release look the same, for each kind of which anything is shown."""
        if not self.people.earlier:
            return {}
        shared = dict(self._shared())
        return {
            kind: shared[group]
            for kind, group in groups.items()
            if group not in self.hidden or any(profile and any(profile) for profile in group.past)
        }

    def _hide_rare_combinations(self) -> bool:
        """In this release alone: every combination belongs to k people or more."""
        rare = {which for which, number in self._combinations().items() if number < self.people.k}
        return self._hide({group for group in self.sizes if (group.origin, group.profile) in rare})

    def _hide_beside_a_few(self) -> bool:
        """Within this release: fewer than k people without a profile would be conspicuous, so the rarest profiles are
        hidden too."""
        without = Counter[str]()
        for group in self.hidden:
            without[group.origin] += 0 if group.silent else self.sizes[group]
        combinations = self._combinations()
        joining = {
            min(
                (which for which in combinations if which[0] == origin),
                key=lambda which: (combinations[which], [value or "" for value in which[1]]),
                default=None,
            )
            for origin, number in without.items()
            if 0 < number < self.people.k
        }
        return self._hide({group for group in self.sizes if (group.origin, group.profile) in joining})

    def _hide(self, groups: set[Group]) -> bool:
        added = groups - self.hidden
        self.hidden |= added
        return bool(added)

    def _combinations(self) -> Counter[tuple[str, Profile]]:
        combinations = Counter[tuple[str, Profile]]()
        for group, number in self.sizes.items():
            if group not in self.hidden:
                combinations[group.origin, group.profile] += number
        return combinations

    def _hide_rare_joined(self) -> bool:
        """Hide people whom this release and earlier ones together distinguish from all but a few others."""
        if not self.people.earlier:
            return False
        return self._hide({group for group, shared in self._shared() if shared < self._least(group)})

    def _hide_companions(self) -> bool:
        """Hide more profiles if people without one can be distinguished; record whom nothing can hide."""
        if not self.people.earlier:
            return False
        self.exposed = set()
        showing = {origin for origin, _ in self._combinations()}
        for group, shared in sorted(self._shared(), key=lambda pair: _order(pair[0])):
            if group not in self.hidden or shared >= self._least(group):
                continue
            past = self.people.past_with_profiles(group.origin, group.past)
            if group.origin not in showing and not any(past):
                continue  # no release shows a profile from which they could be distinguished
            knowledge, finest = self.people.knowledge_of(past)
            companion = self._rarest(group.origin, past, knowledge, finest)
            if companion is not None:
                self.hidden.add(companion)
                return True
            self.exposed.add(group)
        return self._hide_companions_of_gone()

    def _hide_companions_of_gone(self) -> bool:
        """People who left must remain as well hidden in earlier releases as they were before this one."""
        added = False
        for (origin, past), before in self.people.shared_before.items():
            knowledge, finest = self.people.knowledge_of(past)
            least = min(before, self.people.k_of(past))
            while self._shared_with_gone(origin, past, knowledge, finest) < least:
                companion = self._rarest(origin, past, knowledge, finest)
                if companion is None:
                    break
                self.hidden.add(companion)
                added = True
        return added

    def _rarest(self, origin: str, past: Past, knowledge: _Knowledge, finest: Levels | None) -> Group | None:
        """Return the smallest group with a profile that would look like people with this past without it."""
        return min(
            (
                group
                for group in self.sizes
                if group.origin == origin
                and group not in self.hidden
                and self.people.adds_nothing(
                    past, self.people.past_with_profiles(origin, group.past), knowledge, finest
                )
            ),
            key=lambda group: (self.sizes[group], _order(group)),
            default=None,
        )

    def _shared_with_gone(self, origin: str, past: Past, knowledge: _Knowledge, finest: Levels | None) -> int:
        return sum(
            number
            for (of, other_past), number in self.people.departed.items()
            if of == origin and self.people.adds_nothing(past, other_past, knowledge, finest)
        ) + sum(
            number
            for group, number in self.sizes.items()
            if group.origin == origin
            and self.people.adds_nothing(past, group.past, knowledge, finest)
            and (group in self.hidden or _implied(group.profile, self.levels, knowledge))
        )

    def _least(self, group: Group) -> int:
        return max(self.people.k, self.people.k_of(group.past))

    def _shared(self) -> Iterator[tuple[Group, int]]:
        """Yield each group with the number of people in this release who look the same in the joined table."""
        rows = {group: self._row(group) for group in self.sizes}
        patterns = {tuple(profile is None for profile in past) for _, _, past in rows.values()}
        # By the contents of the releases that include a group: the people in them, and the contents of other releases
        # about them.
        alike: dict[tuple[str, Profile, Past], Counter[Past]] = {}
        for group, (origin, current_profile, past) in rows.items():
            parts = {
                tuple(None if out else profile for out, profile in zip(absent, past, strict=True))
                for absent in patterns
            }
            for part in parts:
                alike.setdefault((origin, current_profile, part), Counter())[past] += self.sizes[group]
        counted: dict[tuple[str, Profile, Past], int] = {}
        for group, row in rows.items():
            if row not in counted:
                _, current_profile, past = row
                knowledge, finest = self.people.knowledge_of(past, current_profile, self.levels)
                counted[row] = sum(
                    number
                    for other_past, number in alike[row].items()
                    if self.people.adds_nothing(past, other_past, knowledge, finest)
                )
            yield group, counted[row]

    def _row(self, group: Group) -> tuple[str, Profile, Past]:
        """Return the joined table's row of a group."""
        if group in self.hidden:
            return group.origin, NOTHING, self.people.past_with_profiles(group.origin, group.past)
        return group.origin, group.profile, group.past


def _order(group: Group) -> tuple[object, ...]:
    """Return a key that sorts groups whatever order the database gave."""
    profiles = [[value or "" for value in profile or ()] for profile in (*group.past, group.profile)]
    return group.origin, [profile is None for profile in group.past], profiles
