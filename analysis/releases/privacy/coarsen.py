"""Profiles made so coarse that every combination released is shared by at least k people of one origin, or withheld.

Every field has levels, from what was stated to nothing. Of all choices of one level a field that are nowhere finer
than earlier releases, the one is taken that keeps most while it exposes nobody in the table that readers get by
joining all releases (`joined`). docs/releases.md has the measure and its limits.
"""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from accounts import codes
from analysis.releases.contents import FieldPrivacy, JoinedPrivacy, PrivacyReport
from analysis.releases.privacy.levels import (
    FIELDS,
    FINEST,
    NOTHING,
    WITHHELD,
    Levels,
    Profile,
    choices,
    names_of,
)
from analysis.releases.privacy.linkage import Earlier, Kind, Outcome, Past, People


@dataclass(frozen=True)
class Coarsened:
    """What is released of each person, by their key, and the report about it."""

    profiles: Mapping[int, Profile]
    report: PrivacyReport
    levels: Levels = FINEST
    # People whom no choice of levels protects in the joined table: the release is refused, or made without them.
    exposed: frozenset[int] = frozenset()
    left_out: frozenset[int] = frozenset()

    @property
    def floor(self) -> Levels:
        """Return the levels that a later release may not be finer than.

        What is withheld from everybody counts as withheld, except fields that nobody stated; where no profile is
        released at all, nothing binds a later release.
        """
        if not self.report.combinations:
            return FINEST
        return tuple(
            0 if not one.stated else names_of(one.field).index(one.kept) for one in self.report.fields
        )


def coarsen(
    stated: Mapping[int, Profile],
    *,
    k: int,
    without_profile: int,
    origins: Mapping[int, str] | None = None,
    justifications: str = WITHHELD,
    earlier: Sequence[Earlier] = (),
) -> Coarsened:
    """Return profiles in which every combination belongs to at least `k` of these people, of one origin.

    `origins` has everybody in the release, with a profile or without; without it, all are of the same origin. With
    `earlier` releases, everybody is also among that many people in the table of all releases joined by person;
    those of them that show no profile at all tell nothing and are passed over.
    """
    earlier = [one for one in earlier if any(any(profile) for _, profile in one.profiles.values())]
    one_spelling = _one_spelling(stated)
    everyone = origins or dict.fromkeys(stated, "")
    kinds = {
        key: kind
        for key, origin in everyone.items()
        if (kind := _kind(key, origin, one_spelling.get(key, NOTHING), earlier)) is not None
    }
    people = People(Counter(kinds.values()), _gone(everyone, earlier), earlier, k)
    outcome = best(people)
    profiles = {key: outcome.released[kind] for key, kind in kinds.items() if any(kind.stated)}
    report = _report(kinds, profiles, outcome, k=k, floor=floor_of(earlier))
    report = replace(
        report,
        without_profile=without_profile + len(stated) - len(profiles),
        justifications=justifications,
        joined=_joined(everyone, outcome, earlier),
    )
    exposed = frozenset(key for key, kind in kinds.items() if kind in outcome.exposed)
    return Coarsened(profiles, report, outcome.levels, exposed)


def best(people: People) -> Outcome:
    """Try every choice of levels; of those that expose the fewest and keep equally much, take the first."""
    return min(
        (people.outcome(levels) for levels in choices(floor_of(people.earlier))),
        key=lambda outcome: outcome.rank,
    )


def floor_of(earlier: Sequence[Earlier]) -> Levels:
    """Return the finest levels that earlier releases leave open."""
    return tuple(max((one.floor[index] for one in earlier), default=0) for index in range(len(FIELDS)))


def without_exposed(
    stated: Mapping[int, Profile],
    *,
    k: int,
    without_profile: int,
    origins: Mapping[int, str],
    justifications: str = WITHHELD,
    earlier: Sequence[Earlier] = (),
) -> Coarsened:
    """Return profiles as `coarsen` does after leaving out whom nothing else protects."""
    left_out: set[int] = set()
    while True:
        rest = {key: profile for key, profile in stated.items() if key not in left_out}
        made = coarsen(
            rest,
            k=k,
            without_profile=without_profile - len(left_out - stated.keys()),
            origins={key: origin for key, origin in origins.items() if key not in left_out},
            justifications=justifications,
            earlier=earlier,
        )
        if not made.exposed:
            report = replace(made.report, left_out=len(left_out))
            return replace(made, report=report, left_out=frozenset(left_out))
        left_out |= made.exposed


def _kind(key: int, origin: str, stated: Profile, earlier: Sequence[Earlier]) -> Kind | None:
    past = _past(key, earlier)
    return Kind(origin, past, stated) if any(stated) or any(said and any(said) for said in past) else None


def _past(key: int, earlier: Sequence[Earlier]) -> Past:
    return tuple(
        one.profiles[key][1] if key in one.profiles else NOTHING if key in one.others else None
        for one in earlier
    )


def _gone(everyone: Mapping[int, str], earlier: Sequence[Earlier]) -> Counter[tuple[str, Past]]:
    """Count those who stated something for an earlier release and are not in this one."""
    origins = {key: origin for one in earlier for key, (origin, _) in one.profiles.items()}
    return Counter((origin, _past(key, earlier)) for key, origin in origins.items() if key not in everyone)


def _joined(
    everyone: Mapping[int, str], outcome: Outcome, earlier: Sequence[Earlier]
) -> JoinedPrivacy | None:
    if not earlier:
        return None
    return JoinedPrivacy(
        releases=tuple(sorted(one.version for one in earlier)),
        people=sum(any(key in one.profiles or key in one.others for one in earlier) for key in everyone),
        smallest=min(outcome.shared.values(), default=None),
    )


def _report(
    kinds: Mapping[int, Kind], profiles: Mapping[int, Profile], outcome: Outcome, *, k: int, floor: Levels
) -> PrivacyReport:
    left = Counter((kinds[key].origin, profile) for key, profile in profiles.items())
    shown = {which: number for which, number in left.items() if any(which[1])}
    stated = {key: kinds[key].stated for key in profiles}
    most = sum(value is not None for profile in stated.values() for value in profile)
    return PrivacyReport(
        k=k,
        people=len(profiles),
        without_profile=0,
        fields=tuple(
            _field(index, outcome.levels[index], floor[index], stated, profiles, k)
            for index in range(len(FIELDS))
        ),
        combinations=len(shown),
        smallest=min(shown.values(), default=None),
        suppressed=sum(left.values()) - sum(shown.values()),
        kept_share=outcome.kept / most if most else None,
        justifications=WITHHELD,
    )


def _field(
    index: int,
    level: int,
    floor: int,
    people: Mapping[int, Profile],
    released: Mapping[int, Profile],
    k: int,
) -> FieldPrivacy:
    name = FIELDS[index]
    stated = sum(profile[index] is not None for profile in people.values())
    kept = sum(profile[index] is not None for profile in released.values())
    level_name = names_of(name)[level] if kept else WITHHELD
    if not stated:
        why = "Nobody stated it."
    elif 0 < floor == level:
        why = (
            "It is no more detailed than in an earlier release, because people can be matched across releases by "
            "their answers."
        )
    elif level_name == WITHHELD:
        why = f"With it, too many combinations would have belonged to fewer than {k} people."
    elif kept < stated:
        why = (
            f"Released for {kept:,} of the {stated:,} people who stated it; for the others the combination "
            f"would have belonged to fewer than {k}, or the value has no coarser one."
        )
    else:
        why = f"Every combination belongs to at least {k} people."
    return FieldPrivacy(name, level_name, stated, kept, why)


def _one_spelling(stated: Mapping[int, Profile]) -> dict[int, Profile]:
    """`woman` and `Woman` are one answer, spelled as most spell it."""
    spellings: list[dict[str, str]] = []
    for values in zip(*stated.values(), strict=True) if stated else ():
        common = Counter(value for value in values if value)
        ranked = sorted(common, key=lambda value: (-common[value], value))
        chosen: dict[str, str] = {}
        for value in ranked:
            chosen.setdefault(value.casefold(), value)
        spellings.append(chosen)
    return {
        key: tuple(
            spellings[index][value.casefold()] if value else None for index, value in enumerate(profile)
        )
        for key, profile in stated.items()
    }


def stated_by(values: Sequence[object]) -> Profile:
    """Return a profile in words from the codes of `AnnotatorProfile.FIELDS`; languages become one text.

    What somebody said in own words has no code and is not released.
    """
    return tuple(
        "; ".join(sorted(_names(field, value), key=str.casefold)) or None
        for field, value in zip(FIELDS, values, strict=True)
    )


def _names(field: str, value: object) -> Iterable[str]:
    said = value if isinstance(value, list) else [value]
    return {codes.label(field, str(one), language="en") for one in said if one and one != codes.UNCODED}
