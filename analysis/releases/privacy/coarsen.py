"""Coarsening profiles until every released combination is shared by at least k people of one origin, or withheld.

Every field has levels, from the stated value to nothing. Among all choices of one level per field that are nowhere
finer than earlier releases, the choice is used that keeps the most while it exposes nobody in the table that readers
get by joining all releases (`joined`). docs/use/reference/releases.md has the measure and its limits.
"""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from accounts.profile_codes import codes
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
from analysis.releases.privacy.linkage import Earlier, JoinedPeople, LevelsOutcome, Past, ProfileKind


@dataclass(frozen=True)
class Coarsened:
    """The released profile of each person, by their key, and the report about it."""

    profiles: Mapping[int, Profile]
    report: PrivacyReport
    levels: Levels = FINEST
    # People whom no choice of levels protects in the joined table: the release is refused or made without them.
    exposed: frozenset[int] = frozenset()
    left_out: frozenset[int] = frozenset()

    @property
    def floor(self) -> Levels:
        """Return the levels that a later release may not be finer than.

        A field that is withheld for everybody counts as withheld, except fields that nobody stated; if no profile is
        released, later releases are not restricted.
        """
        if not self.report.combinations:
            return FINEST
        return tuple(
            0 if not field.stated else names_of(field.field).index(field.kept) for field in self.report.fields
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

    `origins` has everybody in the release, with or without a profile; without it, all have the same origin. With
    `earlier` releases, everybody also shares their combination with that many people in the table of all releases
    joined by person; earlier releases without profiles are skipped.
    """
    everyone = origins or dict.fromkeys(stated, "")
    earlier = [
        replace(release, profiles=_of_origins_now(release, everyone))
        for release in earlier
        if any(any(profile) for _, profile in release.profiles.values())
    ]
    one_spelling = _one_spelling(stated)
    kinds = {
        key: kind
        for key, origin in everyone.items()
        if (kind := _kind(key, origin, one_spelling.get(key, NOTHING), earlier)) is not None
    }
    people = JoinedPeople(Counter(kinds.values()), _gone(everyone, earlier), earlier, k)
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


def best(people: JoinedPeople) -> LevelsOutcome:
    """Try every choice of levels; among those that expose the fewest people and keep the same amount, use the first."""
    return min(
        (people.outcome(levels) for levels in choices(floor_of(people.earlier))),
        key=lambda outcome: outcome.rank,
    )


def floor_of(earlier: Sequence[Earlier]) -> Levels:
    """Return the finest levels that earlier releases leave open."""
    return tuple(
        max((release.floor[index] for release in earlier), default=0) for index in range(len(FIELDS))
    )


def without_exposed(
    stated: Mapping[int, Profile],
    *,
    k: int,
    without_profile: int,
    origins: Mapping[int, str],
    justifications: str = WITHHELD,
    earlier: Sequence[Earlier] = (),
) -> Coarsened:
    """Return profiles like `coarsen`, after leaving out people whom nothing else protects."""
    left_out: set[int] = set()
    while True:
        remaining = {key: profile for key, profile in stated.items() if key not in left_out}
        coarsened = coarsen(
            remaining,
            k=k,
            without_profile=without_profile - len(left_out - stated.keys()),
            origins={key: origin for key, origin in origins.items() if key not in left_out},
            justifications=justifications,
            earlier=earlier,
        )
        if not coarsened.exposed:
            report = replace(coarsened.report, left_out=len(left_out))
            return replace(coarsened, report=report, left_out=frozenset(left_out))
        left_out |= coarsened.exposed


def _of_origins_now(release: Earlier, origins: Mapping[int, str]) -> dict[int, tuple[str, Profile]]:
    """Return what a release shows for people's present origins, because they may have read further languages since."""
    return {key: (origins.get(key, origin), profile) for key, (origin, profile) in release.profiles.items()}


def _kind(key: int, origin: str, stated: Profile, earlier: Sequence[Earlier]) -> ProfileKind | None:
    past = _past(key, earlier)
    return (
        ProfileKind(origin, past, stated)
        if any(stated) or any(profile and any(profile) for profile in past)
        else None
    )


def _past(key: int, earlier: Sequence[Earlier]) -> Past:
    return tuple(
        release.profiles[key][1]
        if key in release.profiles
        else NOTHING
        if key in release.without_profile
        else None
        for release in earlier
    )


def _gone(everyone: Mapping[int, str], earlier: Sequence[Earlier]) -> Counter[tuple[str, Past]]:
    """Count people who gave details for an earlier release and are not in this one."""
    origins = {key: origin for release in earlier for key, (origin, _) in release.profiles.items()}
    return Counter((origin, _past(key, earlier)) for key, origin in origins.items() if key not in everyone)


def _joined(
    everyone: Mapping[int, str], outcome: LevelsOutcome, earlier: Sequence[Earlier]
) -> JoinedPrivacy | None:
    if not earlier:
        return None
    return JoinedPrivacy(
        releases=tuple(sorted(release.version for release in earlier)),
        people=sum(
            any(key in release.profiles or key in release.without_profile for release in earlier)
            for key in everyone
        ),
        smallest=min(outcome.shared.values(), default=None),
    )


def _report(
    kinds: Mapping[int, ProfileKind],
    profiles: Mapping[int, Profile],
    outcome: LevelsOutcome,
    *,
    k: int,
    floor: Levels,
) -> PrivacyReport:
    counts = Counter((kinds[key].origin, profile) for key, profile in profiles.items())
    combinations = {which: number for which, number in counts.items() if any(which[1])}
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
        combinations=len(combinations),
        smallest=min(combinations.values(), default=None),
        suppressed=sum(counts.values()) - sum(combinations.values()),
        kept_share=outcome.information_kept / most if most else None,
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
    released_count = sum(profile[index] is not None for profile in released.values())
    level_name = names_of(name)[level] if released_count else WITHHELD
    if not stated:
        why = "Nobody stated this detail."
    elif 0 < floor == level:
        why = (
            "This field is no more detailed than in an earlier release, because people can be matched "
            "across releases by their answers."
        )
    elif level_name == WITHHELD:
        why = f"If this field were released, too many combinations of values would belong to fewer than {k} people."
    elif released_count < stated:
        why = (
            f"Released for {released_count:,} of the {stated:,} people who stated this detail. For the others, the "
            f"combination would have belonged to fewer than {k} people, or the value cannot be made less precise."
        )
    else:
        why = f"Every combination belongs to at least {k} people."
    return FieldPrivacy(name, level_name, stated, released_count, why)


def _one_spelling(stated: Mapping[int, Profile]) -> dict[int, Profile]:
    """Unify spellings: `woman` and `Woman` are one answer, in the most frequent spelling."""
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

    Answers in own words have no code and are not released.
    """
    return tuple(
        "; ".join(sorted(_names(field, value), key=str.casefold)) or None
        for field, value in zip(FIELDS, values, strict=True)
    )


def _names(field: str, value: object) -> Iterable[str]:
    stated_codes = value if isinstance(value, list) else [value]
    return {
        codes.label(field, str(code), language="en")
        for code in stated_codes
        if code and code != codes.UNCODED
    }
