"""Until it is frozen, a study can change where nothing depends on the change."""

import pytest

from catalog.models import IdentityGroup
from foundation.errors import Conflict, DomainError
from generation.models import Image
from studies.models import AuditEntry, Study
from studies.protocol.changes import change_study
from studies.protocol.freeze import freeze


@pytest.fixture
def tolmek(resource) -> IdentityGroup:
    return IdentityGroup.objects.create(
        resource=resource, name="Tolmek", display_name="Tolmek", region="South"
    )


def test_named_fields_change_and_the_rest_stays(study, lead, tolmek):
    velmari = IdentityGroup.objects.get(name="Velmari")
    changed = change_study(
        study=study,
        by=lead,
        name="  Far   Isles ",
        min_raters=1,
        most_stereotypes=4,
        groups=[velmari, tolmek],
    )
    stored = Study.objects.get()
    assert (stored.name, stored.slug, stored.min_raters, stored.min_stereotypes) == (
        "Far Isles",
        "isles",
        1,
        2,
    )
    assert stored.most_stereotypes == changed.most_stereotypes == 4
    assert sorted(stored.groups.values_list("name", flat=True)) == ["Tolmek", "Velmari"]
    entry = AuditEntry.objects.get(action="study.changed")
    assert entry.details["before"]["name"] == "Isles"
    assert (entry.details["added"], entry.details["removed"]) == (["Tolmek"], ["Orsani"])


def test_unchanged_fields_are_not_recorded(study, lead):
    change_study(study=study, by=lead, name="Isles", groups=study.resource.groups.all())
    assert not AuditEntry.objects.filter(action="study.changed").exists()


@pytest.mark.parametrize("field", ["seed", "slug", "frozen_at", "resource", "nonsense"])
def test_unknown_fields_are_refused_by_name(study, lead, field):
    with pytest.raises(DomainError) as refused:
        change_study(study=study, by=lead, name="Other", **{field: 1})
    assert (refused.value.code, list(refused.value.fields)) == ("field_unknown", [field])
    assert Study.objects.get().name == "Isles"


@pytest.mark.parametrize(
    ("changes", "code"),
    [
        ({"name": " "}, "name_missing"),
        ({"name": "x" * 121}, "name_too_long"),
        ({"min_raters": 0}, "min_raters_too_small"),
        ({"most_stereotypes": 0}, "most_stereotypes_too_small"),
        ({"most_stereotypes": 1}, "most_stereotypes_too_small"),
        ({"rater_pools": "both"}, "rater_pools_unknown"),
        ({"groups": []}, "groups_missing"),
    ],
)
def test_changes_follow_the_rules_for_new_studies(study, lead, changes, code):
    with pytest.raises(DomainError) as refused:
        change_study(study=study, by=lead, **changes)
    assert refused.value.code == code


def test_the_name_of_another_study_is_refused(study, lead):
    Study.objects.create(name="Other", slug="other", seed=1)
    with pytest.raises(Conflict, match="already a study named"):
        change_study(study=study, by=lead, name="Other")


def test_a_group_that_has_images_stays(study, lead):
    Image.objects.create(study=study, group=study.groups.get(name="Orsani"), source_name="a.png")
    with pytest.raises(
        Conflict, match="“Orsani” cannot be removed, because the study has images of this group"
    ):
        change_study(study=study, by=lead, groups=IdentityGroup.objects.filter(name="Velmari"))
    assert study.groups.count() == 2
    change_study(study=study, by=lead, groups=IdentityGroup.objects.filter(name="Orsani"))
    assert study.groups.get().name == "Orsani"


def test_a_frozen_study_changes_its_description_alone(study, lead):
    freeze(study=study, by=lead)
    for changes in (
        {"name": "Other"},
        {"min_raters": 1},
        {"groups": IdentityGroup.objects.filter(name="Orsani")},
    ):
        with pytest.raises(Conflict, match="only its description can change"):
            change_study(study=study, by=lead, **changes)
    change_study(study=study, by=lead, name="Isles", description=" What we want to know. ")
    assert Study.objects.get().description == "What we want to know."
