"""A study is created completely or not at all; errors are one sentence that names the field."""

import pytest

from catalog.models import IdentityGroup, Resource
from foundation.errors import Conflict, DomainError
from generation.models import GenerationRequest, GenerationRun
from generation.prompts.creation import create_study_with_prompts, set_prompts
from studies.models import AuditEntry, Study, StudyMembership
from studies.protocol.creation import create_study

pytestmark = pytest.mark.django_db


@pytest.fixture
def settings_of_a_study(resource, lead):
    return {"name": "Isles 2", "resource": resource, "groups": list(resource.groups.all()), "by": lead}


def test_a_study_copies_its_groups_and_makes_its_author_lead(settings_of_a_study, lead, resource):
    study = create_study(**settings_of_a_study)
    assert [group.name for group in study.groups.all()] == ["Orsani", "Velmari"]
    assert StudyMembership.objects.get(study=study).user == lead
    resource.groups.all().delete()
    assert study.groups.count() == 2
    assert AuditEntry.objects.get(study=study).action == "study.created"


def test_a_study_draws_a_seed_unless_one_is_given(settings_of_a_study):
    assert 0 <= create_study(**settings_of_a_study).seed < 2**31
    assert create_study(**settings_of_a_study | {"name": "Isles 3"}, seed=11).seed == 11


def test_a_study_with_prompts_has_them_in_order(settings_of_a_study):
    study = create_study_with_prompts(
        **settings_of_a_study,
        templates=["a photo of {a_an} {id} person", "", "{A_an} {id} person"],
        images_per_prompt=4,
    )
    found = [(t.text, t.images_per_prompt) for t in study.prompt_templates.all()]
    assert found == [("a photo of {a_an} {id} person", 4), ("{A_an} {id} person", 4)]


@pytest.mark.parametrize(
    ("change", "field"),
    [
        ({"name": "  "}, "name"),
        ({"name": "x" * 121}, "name"),
        ({"groups": []}, "groups"),
        ({"min_raters": 0}, "min_raters"),
        ({"min_stereotypes": 0}, "min_stereotypes"),
        ({"templates": []}, "templates"),
        ({"templates": ["a photo of {people}"]}, "templates"),
        ({"templates": ["a photo of a person"]}, "templates"),
        ({"templates": ["a photo of {id person"]}, "templates"),
        ({"templates": ["{id} as {attr}"]}, "templates"),
        ({"templates": ["{id}" + "x" * 400]}, "templates"),
        ({"images_per_prompt": 0}, "images_per_prompt"),
    ],
)
def test_a_wrong_value_is_refused_by_its_field_and_nothing_is_written(settings_of_a_study, change, field):
    values = settings_of_a_study | {"templates": ["{id} person"], "images_per_prompt": 2} | change
    with pytest.raises(DomainError) as refused:
        create_study_with_prompts(**values)
    assert field in refused.value.fields
    assert not Study.objects.exists()


def test_two_studies_cannot_share_a_name(settings_of_a_study):
    create_study(**settings_of_a_study)
    with pytest.raises(Conflict, match="already a study named “Isles 2”"):
        create_study(**settings_of_a_study)


def test_a_group_of_another_resource_is_refused_by_name(settings_of_a_study):
    other = Resource.objects.create(name="Other", slug="other")
    stray = IdentityGroup.objects.create(resource=other, name="Tolmek", display_name="Tolmek")
    with pytest.raises(DomainError, match="“Tolmek” does not belong"):
        create_study(**settings_of_a_study | {"groups": [stray]})


@pytest.mark.parametrize(
    ("name", "slug"), [("New", "new-2"), ("Ισλες", "study"), ("Isles: again!", "isles-again")]
)
def test_the_slug_is_readable_and_never_the_address_of_a_page(settings_of_a_study, name, slug):
    assert create_study(**settings_of_a_study | {"name": name}).slug == slug


def test_two_names_with_one_slug_get_two_slugs(settings_of_a_study):
    slugs = [
        create_study(**settings_of_a_study | {"name": name}).slug
        for name in ("Isles-x", "Isles x", "isles_x")
    ]
    assert slugs == ["isles-x", "isles-x-2", "isles_x"]


def test_prompts_cannot_change_after_images_were_requested_with_them(study, lead):
    (template,) = set_prompts(study=study, templates=["{id} person"], images_per_prompt=1, by=lead)
    run = GenerationRun.objects.create(study=study, backend="sketch", model_label="sketch", seed=1)
    GenerationRequest.objects.create(run=run, template=template, prompt="Orsani person", index=0, seed=1)
    with pytest.raises(Conflict, match="no longer change"):
        set_prompts(study=study, templates=["{id} people"], images_per_prompt=1, by=lead)
    assert study.prompt_templates.get().text == "{id} person"
