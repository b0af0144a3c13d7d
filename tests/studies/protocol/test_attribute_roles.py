"""A listed pair is a stereotype by raters of one pool; the sum of two pools counts only if a study says so."""

import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from analysis.metrics import assign_roles
from annotation.campaigns.planning.associations import AssociationSets
from catalog.models import Attribute, Stereotype
from catalog.raters import RaterPools
from foundation.errors import DomainError
from studies.models import Study
from studies.protocol.attribute_roles import stereotypes, stereotypes_of
from studies.protocol.creation import create_study
from studies.protocol.freeze import freeze

# (in-region, out-of-region) raters who called it a stereotype; whether one pool has two, and both together two.
COUNTS = {
    "one of each": ((1, 1), False, True),
    "two in the region": ((2, 0), True, True),
    "two outside": ((0, 2), True, True),
    "two outside, region not counted": ((None, 2), True, True),
    "one in the region, outside not counted": ((1, None), False, False),
    "nobody": ((0, 0), False, False),
    "not counted": ((None, None), True, True),
}


@pytest.fixture
def counted(resource):
    """The resource with a pair for each of the counts above."""
    group = resource.groups.get(name="Velmari")
    group.stereotypes.all().delete()
    for text, ((inside, outside), _, _) in COUNTS.items():
        attribute, _ = Attribute.objects.get_or_create(text=text)
        Stereotype.objects.create(
            group=group, attribute=attribute, in_region_stereotype=inside, out_region_stereotype=outside
        )
    return resource


@pytest.mark.parametrize(("pools", "place"), [("separate", 1), ("summed", 2)])
def test_two_raters_of_one_pool_make_a_stereotype(counted, pools, place):
    pairs = Stereotype.objects.filter(group__name="Velmari")
    found = stereotypes(pairs, min_raters=2, rater_pools=pools)
    expected = {text for text, row in COUNTS.items() if row[place]}
    assert set(found.values_list("attribute__text", flat=True)) == expected


def test_a_new_study_counts_pools_apart_and_keeps_that_when_frozen(counted, lead):
    study = create_study(name="Apart", resource=counted, groups=counted.groups.all(), by=lead)
    assert study.rater_pools == RaterPools.SEPARATE
    freeze(study=study, by=lead)
    frozen = stereotypes_of(study, study.associations.filter(group__name="Velmari"))
    expected = {text for text, row in COUNTS.items() if row[1]}
    assert set(frozen.values_list("attribute__text", flat=True)) == expected


def test_a_study_may_sum_the_pools(counted, lead):
    study = create_study(
        name="Together", resource=counted, groups=counted.groups.all(), by=lead, rater_pools="summed"
    )
    freeze(study=study, by=lead)
    frozen = stereotypes_of(study, study.associations.filter(group__name="Velmari"))
    assert "one of each" in set(frozen.values_list("attribute__text", flat=True))


def test_other_pools_are_refused(counted, lead):
    with pytest.raises(DomainError) as refused:
        create_study(name="X", resource=counted, groups=counted.groups.all(), by=lead, rater_pools="mixed")
    assert refused.value.code == "rater_pools_unknown"


count = st.one_of(st.none(), st.integers(0, 4))


@given(st.lists(st.tuples(count, count), max_size=12), st.integers(1, 4), st.sampled_from(RaterPools.values))
def test_the_library_follows_the_definition(counts, min_raters, pools):
    frame = pd.DataFrame(
        {
            "identity_group": "Velmari",
            "attribute": [f"a{number}" for number in range(len(counts))],
            "in_region_stereotype": pd.array([inside for inside, _ in counts], dtype="Float64"),
            "out_region_stereotype": pd.array([outside for _, outside in counts], dtype="Float64"),
        }
    )
    roles = assign_roles(frame, min_raters=min_raters, rater_pools=pools)["role"].tolist()
    for role, (inside, outside) in zip(roles, counts, strict=True):
        known = [number for number in (inside, outside) if number is not None]
        enough = sum(known) >= min_raters if pools == "summed" else any(n >= min_raters for n in known)
        assert role == ("stereotype" if enough or not known else "random")


def test_the_database_and_the_library_agree(counted):
    columns = ["in_region_stereotype", "out_region_stereotype"]
    rows = Stereotype.objects.values_list("group__name", "attribute__text", *columns)
    frame = pd.DataFrame(list(rows), columns=["identity_group", "attribute", *columns])
    for pools in RaterPools.values:
        for min_raters in (1, 2, 3):
            found = stereotypes(Stereotype.objects.all(), min_raters=min_raters, rater_pools=pools)
            roles = assign_roles(frame, min_raters=min_raters, rater_pools=pools)
            ours = roles.loc[roles["role"] == "stereotype", ["identity_group", "attribute"]]
            assert set(found.values_list("group__name", "attribute__text")) == set(
                ours.itertuples(index=False, name=None)
            )


def test_the_library_refuses_invalid_counts():
    frame = pd.DataFrame(
        {
            "identity_group": ["Velmari"],
            "attribute": ["kite"],
            "in_region_stereotype": [-1],
            "out_region_stereotype": [0],
        }
    )
    with pytest.raises(ValueError, match="'in_region_stereotype' must not be negative"):
        assign_roles(frame)
    with pytest.raises(ValueError, match="rater_pools: 'both' is not one of 'separate', 'summed'"):
        assign_roles(frame, rater_pools="both")


class TestLimit:
    """A study may limit the number of stereotypes asked about for each group."""

    @pytest.fixture
    def ranked(self, resource, lead):
        """Velmari have stereotypes of 5, 4, 3, 3, 3 and 3 raters; one of them by raters outside the region."""
        group = resource.groups.get(name="Velmari")
        group.stereotypes.all().delete()
        for text, inside, outside in (
            ("five", 2, 3), ("four", 4, 0), ("a", 3, 0), ("b", 3, 0), ("c", 3, 0), ("d", None, 3), ("unsure", 1, 1),
        ):  # fmt: skip
            attribute, _ = Attribute.objects.get_or_create(text=text)
            Stereotype.objects.create(
                group=group, attribute=attribute, in_region_stereotype=inside, out_region_stereotype=outside
            )
        return resource

    def first(self, ranked, lead, most, seed):
        study = create_study(
            name=f"{most} of {seed}", resource=ranked, groups=ranked.groups.all(), by=lead, seed=seed,
            most_stereotypes=most,
        )  # fmt: skip
        before = set(
            stereotypes_of(study, Stereotype.objects.filter(group__study_groups__study=study))
            .filter(group__name="Velmari")
            .values_list("attribute__text", flat=True)
        )
        freeze(study=study, by=lead)
        frozen = stereotypes_of(Study.objects.get(pk=study.pk), study.associations.all())
        assert set(frozen.filter(group__name="Velmari").values_list("attribute__text", flat=True)) == before
        assert frozen.filter(group__name="Orsani").count() == min(most or 3, 3)
        # All pairs are copied: a stereotype that is not asked about never becomes a random attribute of its group.
        assert study.associations.filter(group__name="Velmari").count() == 7
        return before

    def test_pairs_with_the_most_raters_come_first(self, ranked, lead):
        assert self.first(ranked, lead, 2, seed=1) == {"five", "four"}
        assert self.first(ranked, lead, None, seed=1) == {"five", "four", "a", "b", "c", "d"}
        assert self.first(ranked, lead, 9, seed=1) == {"five", "four", "a", "b", "c", "d"}

    def test_the_seed_decides_among_equals(self, ranked, lead):
        drawn = {seed: self.first(ranked, lead, 3, seed=seed) - {"five", "four"} for seed in range(12)}
        assert all(len(one) == 1 and one < {"a", "b", "c", "d"} for one in drawn.values())
        assert len(set().union(*drawn.values())) > 1

    def test_campaigns_respect_the_limit(self, ranked, lead):
        study = create_study(
            name="Two", resource=ranked, groups=ranked.groups.all(), by=lead, most_stereotypes=2
        )
        sets = AssociationSets.of(study)
        assert {len(attributes) for attributes in sets.stereotypes.values()} == {2}
        assert max(len(attributes) for attributes in sets.listed.values()) == 7
