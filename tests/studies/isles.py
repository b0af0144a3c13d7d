"""The invented study of most tests, and its people, for fixtures of a test and of a module."""

from accounts.models import User
from catalog.models import Attribute, IdentityGroup, Resource, Stereotype
from studies.models import Study, StudyGroup, StudyMembership


def new_lead() -> User:
    return User.objects.create_user("lena", password="a long password", is_lead=True, display_name="Lena")


def new_analyst() -> User:
    return User.objects.create_user(
        "anton", password="a long password", is_analyst=True, display_name="Anton"
    )


def new_resource() -> Resource:
    """Two invented peoples; each lists four attributes, of which the last has too few raters."""
    resource = Resource.objects.create(
        name="Invented peoples", slug="invented-peoples", has_rater_counts=True, invented=True
    )
    listed = {
        "Velmari": ["tall hat", "blue scarf", "lantern", "kite"],
        "Orsani": ["round glasses", "drum", "umbrella", "tall hat"],
    }
    groups = IdentityGroup.objects.bulk_create(
        IdentityGroup(
            resource=resource, name=name, display_name=name, region="North Isles", region_code="X01"
        )
        for name in listed
    )
    texts = dict.fromkeys(text for attributes in listed.values() for text in attributes)
    attributes = Attribute.objects.in_bulk(texts, field_name="text")
    new = Attribute.objects.bulk_create(Attribute(text=text) for text in texts if text not in attributes)
    attributes |= {attribute.text: attribute for attribute in new}
    Stereotype.objects.bulk_create(
        Stereotype(
            group=group,
            attribute=attributes[text],
            in_region_stereotype=2 if index < 3 else 1,
            in_region_not=1,
            in_region_unsure=0,
            out_region_stereotype=1 if index < 3 else 0,
            out_region_not=2,
            out_region_unsure=0,
            rating_1=-1,
            rating_2=0,
            rating_3=1,
            offensiveness_stored=0,
        )
        for group in groups
        for index, text in enumerate(listed[group.name])
    )
    return resource


def new_study(*, lead: User, analyst: User, resource: Resource) -> Study:
    """Make a study of both invented peoples, seen by `lead` and `analyst`."""
    study = Study.objects.create(
        name="Isles", slug="isles", resource=resource, seed=7, created_by=lead, simulated=False
    )
    StudyGroup.objects.bulk_create(
        StudyGroup(
            study=study, group=group, name=group.name, display_name=group.display_name, region=group.region
        )
        for group in resource.groups.all()
    )
    roles = {lead: StudyMembership.Role.LEAD, analyst: StudyMembership.Role.ANALYST}
    StudyMembership.objects.bulk_create(
        StudyMembership(study=study, user=user, role=role) for user, role in roles.items()
    )
    return study
