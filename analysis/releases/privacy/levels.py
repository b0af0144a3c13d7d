"""Levels of a profile field: from the stated value, through coarser values, to nothing."""

from collections.abc import Callable, Iterator, Mapping
from functools import cache
from itertools import product
from pathlib import Path

from accounts.models import AnnotatorProfile
from accounts.profile_codes import codes

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
Levels = tuple[int, ...]  # one level a field: an index of `names_of`
NOTHING: Profile = (None,) * len(FIELDS)
FINEST: Levels = (0,) * len(FIELDS)


def _region(country: str) -> str | None:
    return _subregions().get(country.casefold())


_COARSER: Mapping[str, tuple[tuple[str, Callable[[str], str | None]], ...]] = {
    "nationality": ((REGION, _region),),
    "country_of_residence": ((REGION, _region),),
    "age_band": ((WIDER_BANDS, _WIDER.get),),
}


def names_of(field: str) -> tuple[str, ...]:
    """Return the levels of a field, finest first."""
    return (AS_STATED, *(name for name, _ in _COARSER.get(field, ())), WITHHELD)


def last_level(index: int) -> int:
    """Return the level at which the field of that index is withheld."""
    return len(names_of(FIELDS[index])) - 1


def choices(floor: Levels = FINEST) -> Iterator[Levels]:
    """Yield every choice of one level a field that is nowhere finer than `floor`, finest first."""
    return product(*(range(least, last_level(index) + 1) for index, least in enumerate(floor)))


def coarser(index: int, value: str | None, *, level: int, since: int = 0) -> str | None:
    """Return a value of the field of that index at `level`; the value itself is at level `since`."""
    if value is None or level == since:
        return value
    if level == last_level(index):
        return None
    return _COARSER[FIELDS[index]][level - 1][1](value)


def information(profile: Profile, levels: Levels) -> float:
    """Return how much of a released profile is kept: for each value, 1 as stated down to 0 withheld."""
    return sum(
        1 - level / last_level(index)
        for index, (level, value) in enumerate(zip(levels, profile, strict=True))
        if value is not None
    )


@cache
def _subregions() -> dict[str, str]:
    """UN M49 sub-region by the country's name, as people are offered it."""
    listed = (Path(__file__).parent / "data" / "subregions.txt").read_text(encoding="utf-8")
    regions = {}
    for line in listed.splitlines():
        region, _, countries = line.partition("\t")
        for code in countries.split():
            regions[codes.label("nationality", code, language="en").casefold()] = region
    return regions
