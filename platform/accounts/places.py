"""Words offered where people describe themselves. They are suggestions: any other answer is as good."""

from functools import cache
from pathlib import Path

GENDERS = ("Woman", "Man", "Non-binary")

# UN M49 sub-regions; an unpopulated one (Antarctica) is nobody's origin.
REGIONS = (
    "Australia and New Zealand",
    "Central Asia",
    "Eastern Asia",
    "Eastern Europe",
    "Latin America and the Caribbean",
    "Melanesia",
    "Micronesia",
    "Northern Africa",
    "Northern America",
    "Northern Europe",
    "Polynesia",
    "South-eastern Asia",
    "Southern Asia",
    "Southern Europe",
    "Sub-Saharan Africa",
    "Western Asia",
    "Western Europe",
)


@cache
def _by_code() -> dict[str, str]:
    listed = Path(__file__).with_name("data") / "countries.txt"
    lines = listed.read_text(encoding="utf-8").splitlines()
    return dict(line.split("\t") for line in lines)


def countries() -> tuple[str, ...]:
    """Return the short English names of the countries and territories of ISO 3166-1."""
    return tuple(_by_code().values())


# Countries whose parts (ISO 3166-2) are identity groups of a resource.
_COUNTRY_OF_PARTS = {"US": "USA", "IN": "IND", "GB": "GBR"}


def country(iso_code: str) -> str:
    """Return the name of the country of an ISO 3166 code (`KEN`, or `US-NY` for a part), or "" if unknown."""
    whole, _, part = iso_code.partition("-")
    return _by_code().get(_COUNTRY_OF_PARTS.get(whole, "") if part else whole, "")
