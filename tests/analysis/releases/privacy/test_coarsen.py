"""Every released combination of profile values belongs to at least k people."""

from collections import Counter

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from accounts.profile_codes import code_tables, codes
from analysis.releases.privacy.coarsen import coarsen, stated_by
from analysis.releases.privacy.levels import FIELDS

pytestmark = pytest.mark.database_free

NOTHING = (None,) * len(FIELDS)
_VALUES = {
    "gender": ["Woman", "woman", "Man", "Non-binary"],
    "region_of_origin": ["North Isles", "South Isles"],
    "nationality": ["Kenya", "Uganda", "Peru", "Chile", "Velmari Islands"],
    "country_of_residence": ["Kenya", "kenya", "Peru"],
    "age_band": ["18-24", "25-34", "35-44", "65+"],
    "languages": ["Velmari", "Orsani; Velmari"],
}
people = st.lists(
    st.tuples(*(st.none() | st.sampled_from(_VALUES[name]) for name in FIELDS)), max_size=60
).map(lambda profiles: dict(enumerate(profiles)))


@settings(max_examples=60, deadline=None)
@given(people, st.integers(2, 8))
def test_every_combination_belongs_to_k_people_or_more(stated, k):
    made = coarsen(stated, k=k, without_profile=0)
    sizes = Counter(made.profiles.values())
    nothing = sizes.pop(NOTHING, 0)
    assert all(number >= k for number in sizes.values())
    # Those without a profile are k or more themselves, unless nobody's profile is released.
    assert not sizes or nothing == 0 or nothing >= k
    assert made.report.smallest == min(sizes.values(), default=None)
    assert made.report.combinations == len(sizes)


@settings(max_examples=60, deadline=None)
@given(people, st.integers(2, 8))
def test_every_part_of_a_combination_belongs_to_k_people_or_more(stated, k):
    released = coarsen(stated, k=k, without_profile=0).profiles.values()
    for first in range(len(FIELDS)):
        for second in range(len(FIELDS)):
            pairs = Counter((profile[first], profile[second]) for profile in released)
            assert all(number >= k for pair, number in pairs.items() if pair != (None, None))


@settings(max_examples=60, deadline=None)
@given(people, st.integers(2, 8))
def test_released_values_are_the_stated_ones_or_coarser(stated, k):
    made = coarsen(stated, k=k, without_profile=0)
    for key, profile in made.profiles.items():
        for name, value in zip(FIELDS, profile, strict=True):
            said = stated[key][FIELDS.index(name)]
            if value is None:
                continue
            assert said is not None
            if value.casefold() != said.casefold():
                coarser = (
                    {"18-34", "35-54", "55+"}
                    if name == "age_band"
                    else {"Eastern Africa", "Sub-Saharan Africa", "Latin America and the Caribbean"}
                )
                assert value in coarser


@settings(max_examples=60, deadline=None)
@given(people, st.integers(2, 8))
def test_the_report_counts_what_is_released(stated, k):
    made = coarsen(stated, k=k, without_profile=3)
    report = made.report
    assert report.people == len(made.profiles) == sum(any(profile) for profile in stated.values())
    assert report.without_profile == 3 + len(stated) - report.people
    for index, field in enumerate(report.fields):
        assert field.released == sum(profile[index] is not None for profile in made.profiles.values())
        assert field.stated == sum(profile[index] is not None for profile in stated.values())
        assert (field.kept == "withheld") == (field.released == 0)
    assert report.kept_share is None or 0 <= report.kept_share <= 1


@settings(max_examples=60, deadline=None)
@given(people, st.integers(2, 8), st.randoms())
def test_the_order_of_people_makes_no_difference(stated, k, random):
    shuffled = list(stated.items())
    random.shuffle(shuffled)
    made, again = (coarsen(one, k=k, without_profile=0) for one in (stated, dict(shuffled)))
    assert made.report == again.report
    assert made.profiles == again.profiles


def profile(**values: str) -> tuple[str | None, ...]:
    return tuple(values.get(name) for name in FIELDS)


def test_values_shared_by_everybody_stay_as_stated():
    made = coarsen(
        dict.fromkeys(range(5), profile(gender="Woman", nationality="Peru")), k=5, without_profile=0
    )
    assert set(made.profiles.values()) == {profile(gender="Woman", nationality="Peru")}
    assert made.report.kept_share == 1


def test_rare_nationalities_become_their_region():
    countries = ["Kenya", "Uganda", "Ghana", "Mali", "Niger"]
    made = coarsen(
        {index: profile(nationality=country) for index, country in enumerate(countries)},
        k=5,
        without_profile=0,
    )
    assert set(made.profiles.values()) == {profile(nationality="Sub-Saharan Africa")}
    field = made.report.fields[FIELDS.index("nationality")]
    assert (field.kept, field.released) == ("region", 5)
    # One of two steps away from what was stated.
    assert made.report.kept_share == 0.5


def test_ages_become_wider_bands():
    ages = ["18-24"] * 3 + ["25-34"] * 2
    made = coarsen({index: profile(age_band=age) for index, age in enumerate(ages)}, k=5, without_profile=0)
    assert set(made.profiles.values()) == {profile(age_band="18-34")}


def test_withholding_one_rare_person_withholds_the_rarest_others_too():
    """A single person without a profile would be as recognizable as with it."""
    genders = ["Woman"] * 7 + ["Man"] * 6 + ["Non-binary"]
    made = coarsen({index: profile(gender=one) for index, one in enumerate(genders)}, k=5, without_profile=0)
    assert Counter(made.profiles.values()) == {profile(gender="Woman"): 7, NOTHING: 7}
    assert made.report.suppressed == 7


def test_fewer_people_than_k_are_withheld_altogether():
    made = coarsen({1: profile(gender="Woman"), 2: profile(gender="Woman")}, k=5, without_profile=10)
    assert set(made.profiles.values()) == {NOTHING}
    assert all(field.kept == "withheld" for field in made.report.fields)
    assert made.report.smallest is None


@settings(max_examples=60, deadline=None)
@given(people, st.integers(2, 8), st.data())
def test_every_combination_belongs_to_k_people_of_one_origin(stated, k, data):
    origins = {key: data.draw(st.sampled_from(["person", "imported"])) for key in stated}
    made = coarsen(stated, k=k, without_profile=0, origins=origins)
    sizes = Counter((origins[key], profile) for key, profile in made.profiles.items())
    for origin in ("person", "imported"):
        nothing = sizes.pop((origin, NOTHING), 0)
        # A person without a profile is no rarer among those of the same origin.
        shown = [number for (whose, _), number in sizes.items() if whose == origin]
        assert all(number >= k for number in shown)
        assert not shown or nothing == 0 or nothing >= k
    assert (made.report.combinations, made.report.smallest) == (len(sizes), min(sizes.values(), default=None))


def test_the_only_one_of_an_origin_has_no_profile():
    origins = dict.fromkeys(range(5), "person") | {5: "imported"}
    made = coarsen(dict.fromkeys(range(6), profile(gender="Woman")), k=5, without_profile=0, origins=origins)
    assert made.profiles == dict.fromkeys(range(5), profile(gender="Woman")) | {5: NOTHING}
    assert made.report.suppressed == 1


def test_no_profiles_at_all():
    report = coarsen({}, k=5, without_profile=4).report
    assert (report.people, report.without_profile, report.kept_share) == (0, 4, None)
    assert {field.why for field in report.fields} == {"Nobody stated this detail."}


def test_languages_are_one_value_whatever_their_order():
    assert stated_by(["", "", "", "", "", ["velmari", "Orsani"]])[-1] == "Orsani; velmari"
    assert stated_by(["", "", "", "", "", []]) == NOTHING


def test_languages_in_own_words_are_not_released():
    assert stated_by(["", "", "", "", "", [codes.UNCODED, "Orsani"]])[-1] == "Orsani"
    assert stated_by(["", "", "", "", "", [codes.UNCODED]]) == NOTHING


def test_every_country_that_is_offered_has_a_region():
    named = (
        codes.label("nationality", code, language="en") for code in code_tables.field_codes("nationality")
    )
    countries = set(named) - {"Antarctica"}
    stated = {index: profile(nationality=country) for index, country in enumerate(sorted(countries))}
    made = coarsen(stated, k=2, without_profile=0)
    regions = {one[FIELDS.index("nationality")] for one in made.profiles.values()}
    assert regions == {
        codes.label("region_of_origin", one, language="en")
        for one in code_tables.field_codes("region_of_origin")
    }
