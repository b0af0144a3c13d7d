"""Locations of identity groups: ISO 3166 code, UN M49 sub-region, and the country coloured on maps."""

import re
import unicodedata
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import BinaryIO

from foundation.errors import DomainError
from foundation.tables.reader import read_table

NEEDED_COLUMNS = ("identity", "iso_code", "region")
OWN_FILE = Path(__file__).parent / "data" / "geography.csv"
_ISO_CODE = re.compile(r"[A-Z]{3}|[A-Z]{2}-[A-Z0-9]{1,3}")
_MAP_CODE = re.compile(r"[A-Z]{3}")
_LIMITS = {
    "identity": 120,
    "display_name": 120,
    "iso_code": 10,
    "region": 80,
    "region_code": 8,
    "map_code": 3,
}


@dataclass(frozen=True)
class Locality:
    """The location of an identity group, from one row of a geography file."""

    display_name: str
    iso_code: str = ""
    region: str = ""
    region_code: str = ""
    map_code: str = ""


class Geography:
    """Locations by identity and scope: `Georgian` refers to a country in one resource, a US state in another."""

    def __init__(self, scopes: dict[str, dict[str, Locality]]) -> None:
        self.scopes = scopes

    def places(self, identities: Iterable[str]) -> dict[str, Locality]:
        """Return the location of each identity that has one.

        The scope with most of the identities is used, the first in the file if several have as many. For an identity
        that it lacks, another scope is used if it is the only one with the identity.
        """
        names = list(identities)
        ranked = sorted(self.scopes.values(), key=lambda scope: -sum(name in scope for name in names))
        located = {}
        for name in names:
            if ranked and name in ranked[0]:
                located[name] = ranked[0][name]
                continue
            elsewhere = [scope[name] for scope in ranked[1:] if name in scope]
            if len(elsewhere) == 1:
                located[name] = elsewhere[0]
        return located


@cache
def own_geography() -> Geography:
    """Return the geography included in the platform."""
    return read_geography(OWN_FILE)


def read_geography(file: Path | BinaryIO, *, name: str | None = None) -> Geography:
    """Read a geography file: identity, iso_code, region; optionally scope, display_name, region_code, map_code.

    Raises DomainError, naming file, row and column, for a malformed file.
    """
    table = read_table(file, name=name, workbooks=False)
    for column in NEEDED_COLUMNS:
        if column not in table.columns:
            raise DomainError(
                "geography_column_missing",
                f"“{table.name}” has no column “{column}”; a geography needs identity, iso_code and region.",
            )
    if table.unreadable:
        row, why = table.unreadable[0]
        raise DomainError("geography_row_bad", f"“{table.name}”, row {row}: {why}.")
    scopes: dict[str, dict[str, Locality]] = {}
    for index, row in enumerate(table.rows):
        cells = {column: values[index].strip() for column, values in table.columns.items()}
        scope = scopes.setdefault(cells.get("scope", ""), {})
        try:
            place = _place(cells)
        except ValueError as error:
            raise DomainError("geography_row_bad", f"“{table.name}”, row {row}: {error}.") from error
        if cells["identity"] in scope:
            raise DomainError(
                "geography_twice", f"“{table.name}”, row {row}: “{cells['identity']}” appears twice."
            )
        scope[cells["identity"]] = place
    return Geography(scopes)


def _place(cells: dict[str, str]) -> Locality:
    if not cells["identity"]:
        raise ValueError("identity is empty")
    for column, limit in _LIMITS.items():
        if len(cells.get(column, "")) > limit:
            raise ValueError(f"{column} is longer than {limit} characters")
    iso_code = cells["iso_code"]
    if iso_code and not _ISO_CODE.fullmatch(iso_code):
        raise ValueError(f"iso_code “{iso_code}” is neither three capital letters nor like US-NH")
    map_code = cells.get("map_code", "") or (iso_code if _MAP_CODE.fullmatch(iso_code) else "")
    if map_code and not _MAP_CODE.fullmatch(map_code):
        raise ValueError(f"map_code “{map_code}” is not three capital letters")
    display_name = cells.get("display_name", "") or plain_name(cells["identity"])
    return Locality(display_name, iso_code, cells["region"], cells.get("region_code", ""), map_code)


def plain_name(identity: str) -> str:
    """Return the default display name of an identity: without stray punctuation around it."""

    def stray(character: str) -> bool:
        return unicodedata.category(character)[0] in "PZS" and character not in "()"

    start, end = 0, len(identity)
    while start < end and stray(identity[start]):
        start += 1
    while end > start and stray(identity[end - 1]):
        end -= 1
    return " ".join(identity[start:end].split()) or identity
