"""The places of identity groups: the file that comes with the platform, and one that replaces it."""

import csv
import io
import re

import pytest

from catalog.geography import OWN_FILE, own_geography, plain_name, read_geography
from foundation.errors import DomainError
from foundation.m49 import SUBREGIONS

FILES = {
    "global": ("stereotypes_global_v2.csv", 176),
    "us_states": ("stereotypes_us_states.csv", 55),
    "indian_states": ("stereotypes_indian_states.csv", 14),
}


def identities(shared_data, scope: str) -> set[str]:
    with (shared_data / "seegull" / FILES[scope][0]).open(encoding="utf-8", newline="") as file:
        return {row["identity"] for row in csv.DictReader(file)}


@pytest.mark.parametrize("scope", FILES)
def test_every_identity_of_the_published_files_has_a_code_and_a_sub_region(shared_data, scope):
    names = identities(shared_data, scope)
    assert len(names) == FILES[scope][1]
    places = own_geography().places(names)
    assert set(places) == names
    assert all(place.iso_code and place.region and place.map_code for place in places.values())
    assert set(own_geography().scopes[scope]) == names


def test_codes_are_well_formed_and_sub_regions_are_those_of_the_m49_list():
    for places in own_geography().scopes.values():
        for identity, place in places.items():
            assert re.fullmatch("[A-Z]{3}|(US|IN|GB)-[A-Z]{2,3}", place.iso_code), identity
            assert re.fullmatch("[A-Z]{3}", place.map_code), identity
            assert SUBREGIONS[place.region_code] == place.region, identity
            if len(place.iso_code) == 3:
                assert place.map_code == place.iso_code, identity


def test_a_code_has_the_same_sub_region_everywhere():
    regions: dict[str, set[str]] = {}
    for places in own_geography().scopes.values():
        for place in places.values():
            if len(place.iso_code) == 3:
                regions.setdefault(place.iso_code, set()).add(place.region)
    assert {code: found for code, found in regions.items() if len(found) > 1} == {}


@pytest.mark.parametrize(
    ("scope", "identity", "iso_code", "map_code", "region"),
    [
        ("global", "Georgian", "GEO", "GEO", "Western Asia"),
        ("us_states", "Georgian", "US-GA", "USA", "Northern America"),
        ("global", "Nigerien", "NER", "NER", "Sub-Saharan Africa"),
        ("global", "Nigerian", "NGA", "NGA", "Sub-Saharan Africa"),
        ("global", "Barundi", "BDI", "BDI", "Sub-Saharan Africa"),
        ("global", "Comorans", "COM", "COM", "Sub-Saharan Africa"),
        ("global", "Kosovar", "XKX", "XKX", "Southern Europe"),
        ("global", "Sahrawi", "ESH", "ESH", "Northern Africa"),
        ("global", "Taiwanese", "TWN", "TWN", "Eastern Asia"),
        ("global", "Welsh", "GB-WLS", "GBR", "Northern Europe"),
        ("global", "United KingdomUK", "GBR", "GBR", "Northern Europe"),
        ("us_states", "Guamanian", "GUM", "GUM", "Micronesia"),
        ("us_states", ".New Hampshirite", "US-NH", "USA", "Northern America"),
        ("indian_states", "Punjabi", "IN-PB", "IND", "Southern Asia"),
    ],
)
def test_known_places(scope, identity, iso_code, map_code, region):
    place = own_geography().scopes[scope][identity]
    assert (place.iso_code, place.map_code, place.region) == (iso_code, map_code, region)


def test_an_ambiguous_name_belongs_to_the_scope_with_most_of_the_other_names():
    own = own_geography()
    assert own.places(["Georgian", "Texan", "Iowan"])["Georgian"].iso_code == "US-GA"
    assert own.places(["Georgian", "Texan", "French", "Thai"])["Georgian"].iso_code == "GEO"
    assert own.places(["Georgian", "French", "Punjabi"])["Punjabi"].iso_code == "IN-PB"
    assert own.places(["Velmari"]) == {}


@pytest.mark.parametrize(
    ("identity", "shown"),
    [
        (",New Hampshirite", "New Hampshirite"),
        (".New  Hampshirite ", "New Hampshirite"),
        ("Velmari", "Velmari"),
        ("!!", "!!"),
    ],
)
def test_names_are_shown_without_stray_marks(identity, shown):
    assert plain_name(identity) == shown


def test_our_file_explains_each_disputed_code_in_a_note():
    with OWN_FILE.open(encoding="utf-8", newline="") as file:
        notes = {(row["scope"], row["identity"]): row["note"] for row in csv.DictReader(file)}
    assert all(
        notes["global", name] for name in ("Congolese", "Kosovar", "Taiwanese", "Zanzibari", "Herzegovinian")
    )


def geography(text: str):
    return read_geography(io.BytesIO(text.encode()), name="places.csv")


def test_a_replacing_file_needs_only_identity_code_and_region():
    places = geography("identity,iso_code,region\nVelmari,VEL,North Isles\nOrsani,,South Isles\n")
    found = places.places(["Velmari", "Orsani"])
    assert found["Velmari"].map_code == "VEL"
    assert found["Orsani"].display_name == "Orsani"


@pytest.mark.parametrize(
    ("rows", "sentence"),
    [
        ("identity,iso_code\nVelmari,VEL", "has no column “region”"),
        ("identity,iso_code,region\nVelmari,vel,North", "row 2: iso_code “vel” is neither"),
        ("identity,iso_code,region\n,VEL,North", "row 2: identity is empty"),
        ("identity,iso_code,region\nVelmari,VEL,N\nVelmari,VEL,N", "row 3: “Velmari” appears twice"),
        ("identity,iso_code,region\nVelmari,VEL", "row 2: 2 cells where the header has 3"),
        ("identity,iso_code,region,map_code\nVelmari,VEL,N,V", "row 2: map_code “V” is not"),
        (f"identity,iso_code,region\nVelmari,VEL,{'n' * 81}", "row 2: region is longer than 80"),
    ],
)
def test_a_malformed_file_is_refused_naming_row_and_column(rows, sentence):
    with pytest.raises(DomainError) as refusal:
        geography(rows)
    assert "places.csv" in refusal.value.message
    assert sentence in refusal.value.message
