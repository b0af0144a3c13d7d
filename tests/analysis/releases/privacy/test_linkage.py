"""Releases joined by person: everybody shares their row with enough others, even if people joined or left in
between."""

import random
from collections import Counter
from collections.abc import Iterator
from itertools import combinations

import pytest

from analysis.releases.privacy.check import check
from analysis.releases.privacy.coarsen import Coarsened, coarsen, without_exposed
from analysis.releases.privacy.levels import FIELDS, NOTHING, coarser, names_of
from analysis.releases.privacy.linkage import Earlier
from analysis.releases.privacy.people import People

pytestmark = pytest.mark.database_free

_VALUES = {
    "gender": ["Woman", "Man", "Non-binary"],
    "region_of_origin": ["North Isles", "South Isles"],
    "nationality": ["Kenya", "Uganda", "Peru", "Chile"],
    "country_of_residence": ["Kenya", "Peru"],
    "age_band": ["18-24", "25-34", "35-44", "65+"],
    "languages": ["Velmari", "Orsani"],
}


def stranger(draw: random.Random) -> tuple[str | None, ...]:
    """A profile: most people are alike, some are not, some leave fields empty."""
    return tuple(
        None
        if draw.random() < 0.15
        else draw.choice(_VALUES[name] if draw.random() < 0.3 else _VALUES[name][:2])
        for name in FIELDS
    )


def kept(version: int, k: int, made: Coarsened, people: set[int]) -> Earlier:
    """A release as later ones see it."""
    inside = people - made.left_out
    shown = {key: ("person", made.profiles[key]) for key in inside if key in made.profiles}
    return Earlier(version, k, made.levels, made.floor, shown, frozenset(inside - shown.keys()))


def sequence(seed: int) -> Iterator[tuple[dict[int, tuple[str | None, ...]], int, list[Earlier]]]:
    """Two to four releases of about 40 people, some of whom leave or join; yield each before it is made."""
    draw = random.Random(seed)
    people = {key: stranger(draw) for key in range(40)}
    releases: list[Earlier] = []
    for version in range(1, draw.randint(2, 4) + 1):
        if version > 1:
            for key in draw.sample(sorted(people), draw.choice([0, 0, 1, 2, 6])):
                del people[key]
            new = max(people) + 1
            people |= {key: stranger(draw) for key in range(new, new + draw.choice([0, 1, 2, 8]))}
            if draw.random() < 0.2:
                people[draw.choice(sorted(people))] = stranger(draw)  # somebody changed their profile
        k = draw.choice([3, 5, 5, 5, 7])
        yield people, k, releases
        origins = dict.fromkeys(people, "person")
        made = without_exposed(people, k=k, without_profile=0, origins=origins, earlier=releases)
        releases.append(kept(version, k, made, set(people)))


def told_apart(releases: list[Earlier]) -> list[str]:
    """Join releases as a reader would, every few of them: who is in a class of fewer than k?

    A release that shows no profile at all tells a reader nothing.
    """
    releases = [one for one in releases if any(any(profile) for _, profile in one.profiles.values())]
    rare = []
    for number in range(1, len(releases) + 1):
        for some in combinations(releases, number):
            both = set.intersection(*({*one.profiles, *one.without_profile} for one in some))
            read = {key: tuple(one.profiles.get(key, ("", NOTHING))[1] for one in some) for key in both}
            k = max(one.k for one in some)
            rare += [
                f"{said} of releases {[one.version for one in some]} is shared by {size}, not {k}"
                for said, size in Counter(read.values()).items()
                if size < k and any(map(any, said))
            ]
    return rare


def merged_classes(releases: list[Earlier]) -> Counter[tuple[frozenset[str | None], ...]]:
    """Everybody who is in any release, by all values of each field that any release shows of them."""
    everybody = {key for one in releases for key in one.profiles}
    return Counter(
        tuple(
            frozenset(
                value
                for one in releases
                if key in one.profiles and (value := one.profiles[key][1][index]) is not None
            )
            for index in range(len(FIELDS))
        )
        for key in everybody
    )


@pytest.mark.parametrize("seed", range(20))
def test_nobody_is_in_a_joined_class_smaller_than_k(seed):
    releases: list[Earlier] = []
    for _people, _k, so_far in sequence(seed):
        releases = so_far
    assert told_apart(releases) == []
    least = min(one.k for one in releases)
    assert [size for said, size in merged_classes(releases).items() if any(said) and size < least] == []


@pytest.mark.parametrize("seed", range(20, 32))
def test_an_accepted_release_identifies_nobody(seed):
    """The same without leaving anybody out: accepted releases keep k, and levels are never finer than before."""
    for people, k, releases in sequence(seed):
        made = coarsen(
            people, k=k, without_profile=0, origins=dict.fromkeys(people, "person"), earlier=releases
        )
        if not made.exposed:
            assert told_apart([*releases, kept(99, k, made, set(people))]) == []
        for one in releases:
            assert all(now >= then for now, then in zip(made.levels, one.floor, strict=True))


def test_the_remedy_named_by_a_refusal_helps():
    refused = 0
    for people, k, releases in (step for seed in range(8) for step in sequence(seed)):
        everybody = People(dict.fromkeys(people, "person"), people)
        checked = check(everybody, k=k, earlier=releases, leave_out_people=False)
        if not checked.refusal:
            continue
        refused += 1
        assert "refused" in checked.refusal
        for remedy in checked.remedies:
            if remedy.startswith("Choose k = "):
                other = int(remedy.removeprefix("Choose k = ").rstrip("."))
                assert not check(everybody, k=other, earlier=releases, leave_out_people=False).refusal
            elif remedy.startswith("If nobody ever received release "):
                version = int(remedy.split()[5].rstrip(","))
                rest = [one for one in releases if one.version != version]
                assert not check(everybody, k=k, earlier=rest, leave_out_people=False).refusal
            elif remedy.startswith("Leave out"):
                without = check(everybody, k=k, earlier=releases, leave_out_people=True)
                assert f"{without.coarsened.report.left_out:,} p" in remedy
    assert refused > 2


def profile(**values: str) -> tuple[str | None, ...]:
    return tuple(values.get(name) for name in FIELDS)


def release_of(people: dict[int, tuple[str | None, ...]], *earlier: Earlier, k: int = 5) -> Coarsened:
    origins = dict.fromkeys(people, "person")
    return coarsen(people, k=k, without_profile=0, origins=origins, earlier=earlier)


def test_levels_do_not_become_finer_because_people_joined():
    """With five from each country, nationality could be shown, but with the first release it would identify people."""
    first = {n: profile(nationality=["Kenya", "Uganda", "Ghana", "Mali", "Niger"][n % 5]) for n in range(10)}
    made = release_of(first)
    assert made.report.fields[FIELDS.index("nationality")].kept == "region"
    more = first | {n: profile(nationality="Kenya") for n in range(10, 40)}
    alone = release_of(more)
    assert {value[FIELDS.index("nationality")] for value in alone.profiles.values()} >= {"Kenya"}
    beside = release_of(more, kept(1, 5, made, set(first)))
    assert beside.report.fields[FIELDS.index("nationality")].kept == "region"
    assert not beside.exposed


def test_a_person_leaving_a_class_of_exactly_k_causes_a_refusal():
    """The four who stay are known from the first release, and nobody in the second has their profile."""
    people = {n: profile(gender="Woman") for n in range(5)} | {n: profile(gender="Man") for n in range(5, 15)}
    first = kept(1, 5, release_of(people), set(people))
    del people[0]
    checked = check(
        People(dict.fromkeys(people, "person"), people), k=5, earlier=[first], leave_out_people=False
    )
    assert checked.coarsened.exposed == {1, 2, 3, 4}
    assert "4 people" in checked.refusal
    assert checked.remedies[0].startswith("Leave out 4 people")
    assert any("set it aside" in remedy for remedy in checked.remedies)
    without = check(
        People(dict.fromkeys(people, "person"), people), k=5, earlier=[first], leave_out_people=True
    )
    assert (without.refusal, without.coarsened.left_out) == ("", {1, 2, 3, 4})


def test_withheld_people_stay_withheld_where_showing_would_single_them_out():
    people = {n: profile(gender="Woman") for n in range(10)} | {
        n: profile(gender="Man") for n in range(10, 12)
    }
    people |= {n: profile(gender="Non-binary") for n in range(12, 15)}
    first = kept(1, 5, release_of(people), set(people))
    assert first.profiles[10][1] == NOTHING
    people |= {n: profile(gender="Man") for n in range(20, 25)}  # with them, seven men
    made = release_of(people, first)
    assert {made.profiles[n] for n in (10, 11)} == {NOTHING}
    assert {made.profiles[n] for n in range(20, 25)} == {profile(gender="Man")}
    assert not made.exposed


def test_a_larger_k_fails_beside_a_release_with_smaller_groups():
    people = {n: profile(gender="Woman") for n in range(3)} | {n: profile(gender="Man") for n in range(3, 9)}
    first = kept(1, 3, release_of(people, k=3), set(people))
    checked = check(
        People(dict.fromkeys(people, "person"), people), k=5, earlier=[first], leave_out_people=False
    )
    assert checked.coarsened.exposed == {0, 1, 2}
    assert "Choose k = 3." in checked.remedies


def test_people_who_left_stay_hidden_in_the_release_that_holds_them():
    """Six are withheld; one leaves. If the five who stay were shown, the one who left would be identified."""
    people = {n: profile(gender="Woman") for n in range(10)}
    people |= {10: profile(gender="Man"), 11: profile(gender="Man"), 12: profile(gender="Man")}
    people |= {
        13: profile(gender="Non-binary"),
        14: profile(gender="Agender"),
        15: profile(gender="Bigender"),
    }
    first = kept(1, 5, release_of(people), set(people))
    assert [key for key in people if first.profiles[key][1] == NOTHING] == list(range(10, 16))
    del people[15]
    people |= {key: profile(gender="Man") for key in (10, 11, 12, 13, 14)}
    made = release_of(people, first)
    assert {made.profiles[n] for n in range(10, 15)} == {NOTHING}


def test_people_who_left_stay_hidden_by_the_k_of_the_release_that_holds_them():
    """Eight people are withheld with k = 5, and three leave. The five who stay still hide them, even if k is 3."""
    people = {n: profile(gender="Woman") for n in range(10)}
    people |= {n: profile(gender=f"in own words {n}") for n in range(10, 18)}
    first = kept(1, 5, release_of(people), set(people))
    assert [key for key in people if first.profiles[key][1] == NOTHING] == list(range(10, 18))
    people = {n: people[n] for n in range(10)} | {n: profile(gender="Man") for n in range(10, 15)}
    made = release_of(people, first, k=3)
    assert {made.profiles[n] for n in range(10, 15)} == {NOTHING}


def test_somebody_who_gave_details_later_than_others_is_exposed():
    """Readers see who had no details in the first release."""
    people = {n: profile(gender="Woman") for n in range(10)}
    first = kept(1, 5, release_of(people), {*people, 10})
    assert first.without_profile == {10}
    assert release_of(people | {10: profile(gender="Woman")}, first).exposed == {10}


def test_a_release_without_profiles_does_not_restrict_later_ones():
    pilot = {n: profile(gender="Woman", nationality="Peru") for n in range(3)}
    made = release_of(pilot)
    assert set(made.profiles.values()) == {NOTHING}
    more = pilot | {n: profile(gender="Woman", nationality="Peru") for n in range(3, 30)}
    later = release_of(more, kept(1, 5, made, set(pilot)))
    assert not later.exposed
    assert later.profiles[20] == profile(gender="Woman", nationality="Peru")


def test_the_order_of_people_makes_no_difference():
    for people, k, releases in sequence(5):
        shuffled = list(people.items())
        random.Random(1).shuffle(shuffled)
        made, again = (
            coarsen(one, k=k, without_profile=0, origins=dict.fromkeys(one, "person"), earlier=releases)
            for one in (people, dict(shuffled))
        )
        assert made.report == again.report
        assert made.profiles == again.profiles


def test_a_coarser_value_follows_from_a_finer_one():
    at = FIELDS.index("nationality")
    assert names_of("nationality") == ("as_stated", "region", "withheld")
    assert coarser(at, "Kenya", level=1) == "Sub-Saharan Africa"
    assert coarser(at, "Sub-Saharan Africa", level=1, since=1) == "Sub-Saharan Africa"
    assert coarser(at, "Kenya", level=2) is None
