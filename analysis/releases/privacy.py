"""Profiles made so coarse that every combination released is shared by at least k people of one origin, or withheld.

Every field has levels, from what was stated to nothing. Of all choices of one level a field, the one is taken that
keeps most. People whose combination is still too rare lose their whole profile; they are k or more themselves, so that
having no profile says nothing either. Where labels come from (`origin`) stands beside the profile in every row, and so
is part of each combination. docs/releases.md has the measure and its limits.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import product
from pathlib import Path

from accounts import places
from accounts.models import AnnotatorProfile
from analysis.releases.contents import FieldPrivacy, PrivacyReport

AS_STATED, REGION, WIDER_BANDS, WITHHELD = "as_stated", "region", "wider_bands", "withheld"
FIELDS = AnnotatorProfile.FIELDS
_WIDER = {
    "18-24": "18-34",
    "25-34": "18-34",
    "35-44": "35-54",
    "45-54": "35-54",
    "55-64": "55+",
    "65+": "55+",
}

Profile = tuple[str | None, ...]  # one value a field, in the order of FIELDS
_Kind = tuple[str, Profile]  # origin, and what people of it stated


def _region(country: str) -> str | None:
    return _subregions().get(country.casefold())


_COARSER: Mapping[str, tuple[tuple[str, Callable[[str], str | None]], ...]] = {
    "nationality": ((REGION, _region),),
    "country_of_residence": ((REGION, _region),),
    "age_band": ((WIDER_BANDS, _WIDER.get),),
}


@dataclass(frozen=True)
class Coarsened:
    """What is released of each person, by their key, and the report about it."""

    profiles: Mapping[int, Profile]
    report: PrivacyReport


@dataclass(frozen=True)
class _Choice:
    """One level a field, the profiles that follow, and how much they keep."""

    levels: tuple[int, ...]
    released: Mapping[_Kind, Profile]
    kept: float


def coarsen(
    stated: Mapping[int, Profile],
    *,
    k: int,
    without_profile: int,
    origins: Mapping[int, str] | None = None,
    justifications: str = WITHHELD,
) -> Coarsened:
    """Return profiles in which every combination belongs to at least `k` of these people, of one origin.

    Without `origins`, all are of the same.
    """
    people = {key: profile for key, profile in _one_spelling(stated).items() if any(profile)}
    kinds = {key: ((origins or {}).get(key, ""), profile) for key, profile in people.items()}
    counts = Counter(kinds.values())
    choice = _best(counts, k)
    released = {key: choice.released[kind] for key, kind in kinds.items()}
    left = Counter((kind[0], released[key]) for key, kind in kinds.items())
    nothing = (None,) * len(FIELDS)
    shown = {kind: number for kind, number in left.items() if kind[1] != nothing}
    most = sum(_answers(profile) * number for (_, profile), number in counts.items())
    report = PrivacyReport(
        k=k,
        people=len(people),
        without_profile=without_profile + len(stated) - len(people),
        fields=tuple(
            _field(index, choice.levels[index], people, released, k) for index in range(len(FIELDS))
        ),
        combinations=len(shown),
        smallest=min(shown.values(), default=None),
        suppressed=sum(left.values()) - sum(shown.values()),
        kept_share=choice.kept / most if most else None,
        justifications=justifications,
    )
    return Coarsened(released, report)


def _best(counts: Counter[_Kind], k: int) -> _Choice:
    """Try every choice of levels; of those that keep equally much, the first in the order of FIELDS."""
    best: _Choice | None = None
    for levels in product(*(range(len(_levels(field))) for field in FIELDS)):
        choice = _choose(levels, counts, k)
        if best is None or choice.kept > best.kept:
            best = choice
    if best is None:
        raise ValueError("no field has a level")
    return best


def _choose(levels: tuple[int, ...], counts: Counter[_Kind], k: int) -> _Choice:
    coarse = {(origin, profile): (origin, _at(profile, levels)) for origin, profile in counts}
    sizes = Counter[_Kind]()
    for kind, number in counts.items():
        sizes[coarse[kind]] += number
    rare = {kind for origin in {origin for origin, _ in sizes} for kind in _rare(sizes, origin, k)}
    nothing = (None,) * len(FIELDS)
    released = {kind: nothing if left in rare else left[1] for kind, left in coarse.items()}
    kept = 0.0
    for kind, number in counts.items():
        if released[kind] != nothing:
            kept += number * sum(
                1 - level / (len(_levels(field)) - 1)
                for field, level, value in zip(FIELDS, levels, released[kind], strict=True)
                if value is not None
            )
    return _Choice(levels, released, kept)


def _rare(sizes: Counter[_Kind], origin: str, k: int) -> set[_Kind]:
    """Return the combinations of one origin that are withheld."""
    own = {kind: number for kind, number in sizes.items() if kind[0] == origin}
    rare = {kind for kind, number in own.items() if number < k or not any(kind[1])}
    hidden = sum(own[kind] for kind in rare)
    # Fewer than k without a profile would stand out: the rarest of the others join them.
    rest = sorted(own.keys() - rare, key=lambda kind: (own[kind], [value or "" for value in kind[1]]))
    return rare | set(rest[:1]) if 0 < hidden < k else rare


def _levels(field: str) -> tuple[str, ...]:
    return (AS_STATED, *(name for name, _ in _COARSER.get(field, ())), WITHHELD)


def _at(profile: Profile, levels: Iterable[int]) -> Profile:
    values = []
    for field, level, value in zip(FIELDS, levels, profile, strict=True):
        coarser = _COARSER.get(field, ())
        if value is None or level == 0:
            values.append(value)
        elif level <= len(coarser):
            values.append(coarser[level - 1][1](value))
        else:
            values.append(None)
    return tuple(values)


def _answers(profile: Profile) -> int:
    return sum(value is not None for value in profile)


def _field(
    index: int, level: int, people: Mapping[int, Profile], released: Mapping[int, Profile], k: int
) -> FieldPrivacy:
    name = FIELDS[index]
    stated = sum(profile[index] is not None for profile in people.values())
    kept = sum(profile[index] is not None for profile in released.values())
    level_name = _levels(name)[level] if kept else WITHHELD
    if not stated:
        why = "Nobody stated it."
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
    """Return a profile from the values of `AnnotatorProfile.FIELDS`; languages become one text."""
    return tuple(
        "; ".join(sorted(map(str, value), key=str.casefold)) or None
        if isinstance(value, list)
        else str(value or "") or None
        for value in values
    )


@cache
def _subregions() -> dict[str, str]:
    """UN M49 sub-region by the country's name, as people are offered it."""
    listed = (Path(__file__).parent / "data" / "subregions.txt").read_text(encoding="utf-8")
    found = {}
    for line in listed.splitlines():
        region, _, codes = line.partition("\t")
        for code in codes.split():
            found[places.country(code).casefold()] = region
    return found
